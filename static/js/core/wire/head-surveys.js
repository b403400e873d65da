/** What heads do over many sentences. */

import { json } from "./reply.js";

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
/** @typedef {{model: string, place: string, head: number, corpus?: string}} HeadAt  corpus: a reader's text in place of the model's own sentences */
/** @typedef {{id: string, given: number, state: "queued" | "running" | "done" | "failed", done: number, of: number, why: string | null, expires: string}} CorpusInfo */

/** @param {HeadAt} at */
const path = ({ model, place, head }) => `${of(model)}/${place}/${head}`;

/** @param {HeadAt} at @returns {Record<string, string>} */
const over = ({ corpus }) => (corpus ? { corpus } : {});

/** @param {string} model */
const of = (model) => `/api/models/${encodeURIComponent(model)}/heads`;

/** @param {import("./connection.js").Connection} connection */
export function headSurveys({ ask, read, send }) {
  return {
    /**
     * All heads of a model.
     * @param {string} model
     * @param {string} corpus  a reader's text, or ""
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadSurvey>}
     */
    headSurvey: (model, corpus, signal) => read(`${of(model)}${corpus && `?${new URLSearchParams({ corpus })}`}`, signal),

    /**
     * Sentences at each tenth of a ranking.
     * @param {HeadAt} at
     * @param {string} by
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadExamples>}
     */
    headExamples: (at, by, signal) => read(`${path(at)}/examples?${new URLSearchParams({ by, ...over(at) })}`, signal),

    /**
     * Rows of a head that match.
     * @param {HeadAt} at
     * @param {Record<string, string>} wanted
     * @param {AbortSignal} [signal]
     * @returns {Promise<FoundRows>}
     */
    headRows: (at, wanted, signal) => read(`${path(at)}/rows?${new URLSearchParams({ ...wanted, ...over(at) })}`, signal),

    /**
     * Index a text of the reader's.
     * @param {{model: string, text: string, split: string, title: string}} text
     * @returns {Promise<CorpusInfo & {key: string}>}  key: what deletes it
     */
    sendCorpus: async (text) => json(await send("/api/corpora", text, "application/json")),

    /** @param {string} id @returns {Promise<CorpusInfo>} */
    corpus: (id) => read(`/api/corpora/${encodeURIComponent(id)}`),

    /** @param {string} id @param {string} key  as it was told when the text was sent */
    async deleteCorpus(id, key) {
      await ask(`/api/corpora/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Corpus-Key": key } });
    },
  };
}
