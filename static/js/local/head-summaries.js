/**
 * What each head does in a sentence, by the exported graphs of model/explain/patterns.py. The page
 * only compares the tokens.
 */

/** @import { TokenReply } from "../core/wire/schemas.d.ts" */
/** @import { Summary } from "../core/wire/wire.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { Ort, OrtSession, OrtTensor } from "./graph-passes.js" */
/** @typedef {{names: string[], outputs: Record<string, string[]>}} PatternDescription  names: of patterns; outputs: of each graph */
/** @typedef {{weights: OrtTensor, mask: OrtTensor, queries: TokenReply[], keys: TokenReply[], twoTexts: boolean}} RecordedHeads  with the batch axis; queries: in cross-attention what rows write */
/** @typedef {{values: Record<string, OrtTensor>, outputs: Map<string, GraphOutput>, texts: Record<string, TokenReply[]>, written: TokenReply[]}} RecordedRun */

const PATTERN = "pattern";

/**
 * @param {Ort} ort
 * @param {PatternDescription} description
 * @param {(graph: string) => Promise<OrtSession>} open
 */
export function createSummaries(ort, description, open) {
  /** @type {Record<string, Promise<OrtSession>>} */
  const sessions = {};

  /** @param {RecordedHeads} heads @returns {Promise<Summary>} */
  async function summary({ weights, mask, queries, keys, twoTexts }) {
    const graph = twoTexts ? "cross-patterns" : "self-patterns";
    const session = await (sessions[graph] ??= open(graph));
    const flags = (/** @type {boolean[]} */ list, /** @type {number[]} */ shape) => new ort.Tensor("bool", Uint8Array.from(list, Number), shape);
    const shape = [queries.length, keys.length];
    const feeds = {
      weights: new ort.Tensor("float32", weights.data, weights.dims.slice(1)),
      mask: new ort.Tensor("bool", mask.data, shape),
      "queries.special": flags(queries.map(({ special }) => special), [queries.length]),
      "keys.special": flags(keys.map(({ special }) => special), [keys.length]),
      "pairs.same": flags(samePairs(queries, keys, twoTexts), shape),
    };
    const outputs = await session.run(feeds);
    const measured = description.outputs[graph].filter((name) => name !== PATTERN).map((name) => [name, [...outputs[name].data].map((value) => (Number.isNaN(value) ? null : value))]);
    return { ...Object.fromEntries(measured), pattern: [...outputs[PATTERN].data].map((place) => description.names[Number(place)]) };
  }

  /**
   * @param {string[]} places  of attentions
   * @param {RecordedRun} run
   */
  return async (places, { values, outputs, texts, written }) => {
    /** @type {Record<string, Summary>} */
    const summaries = {};
    for (const place of places) {
      const [weights, mask] = ["weights", "mask"].map((name) => `${place}.${name}`);
      const { query, key } = /** @type {GraphOutput} */ (outputs.get(weights)).over;
      const twoTexts = query !== key;
      summaries[place] = await summary({ weights: values[weights], mask: values[mask], queries: twoTexts ? written : texts[query], keys: texts[key], twoTexts });
    }
    return summaries;
  };
}

/**
 * Whether a key is the query's word elsewhere, row by row.
 * @param {TokenReply[]} queries
 * @param {TokenReply[]} keys
 * @param {boolean} twoTexts
 */
function samePairs(queries, keys, twoTexts) {
  const [rows, columns] = [queries, keys].map((tokens) => tokens.map(({ text }) => text.trim().toLowerCase()));
  return rows.flatMap((word, i) => columns.map((column, j) => word === column && !queries[i].special && !keys[j].special && (twoTexts || i !== j)));
}
