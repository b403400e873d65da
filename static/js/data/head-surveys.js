/** What heads do over many sentences. */

/** @typedef {{place: string, head: number, divergence: number}} SimilarHead */
/**
 * @typedef {object} SurveyedHead
 * @property {string} place
 * @property {number} head
 * @property {number} rows
 * @property {Record<string, number | null>} measures
 * @property {Record<string, number | null>} patterns  share of rows in which each holds
 * @property {{pattern: string, share: number}[]} described
 * @property {SimilarHead[]} similar
 * @property {{zero: number | null, mean: number | null} | null} cost
 */
/** @typedef {{model: string, title: string, sentences: number, indexed: number, heads: SurveyedHead[]}} HeadSurvey */
/** @typedef {{source: string, direction: string | null, target: string | null}} IndexedSentence */
/** @typedef {{index: number, text: string}} FoundToken */
/** @typedef {{sentence: IndexedSentence, query: FoundToken, key: FoundToken, weight: number}} FoundRow */
/** @typedef {{rows: number, sentences: number, of: number, found: FoundRow[]}} FoundRows */
/** @typedef {{by: string, examples: {sentence: IndexedSentence, value: number}[]}} HeadExamples */
/** @typedef {{model: string, place: string, head: number}} HeadAt */

/** @param {HeadAt} at */
const path = ({ model, place, head }) => `${of(model)}/${place}/${head}`;

/** @param {string} model */
const of = (model) => `/api/models/${encodeURIComponent(model)}/heads`;

/** @param {import("./connection.js").Connection} connection */
export function headSurveys({ read }) {
  return {
    /**
     * All heads of a model.
     * @param {string} model
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadSurvey>}
     */
    headSurvey: (model, signal) => read(of(model), signal),

    /**
     * Sentences at each tenth of a ranking.
     * @param {HeadAt} at
     * @param {string} by
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadExamples>}
     */
    headExamples: (at, by, signal) => read(`${path(at)}/examples?${new URLSearchParams({ by })}`, signal),

    /**
     * Rows of a head that match.
     * @param {HeadAt} at
     * @param {Record<string, string>} wanted
     * @param {AbortSignal} [signal]
     * @returns {Promise<FoundRows>}
     */
    headRows: (at, wanted, signal) => read(`${path(at)}/rows?${new URLSearchParams(wanted)}`, signal),
  };
}
