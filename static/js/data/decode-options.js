/** How a translation is to be written: `decode` of the API, as a link says it and as controls show it. */

/**
 * @typedef {object} Plan  `decode` as the API takes it, filled in
 * @property {"greedy" | "beam" | "sample"} method
 * @property {number} beam
 * @property {number} length_penalty  α
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} seed
 * @property {number[]} prefix
 */

/**
 * What a link says of decoding, filled in as the server does.
 * @param {unknown} decode
 * @returns {Plan}
 */
export function plan(decode) {
  const filled = { ...PLAN, .../** @type {object} */ (decode ?? {}) };
  const prefix = Array.isArray(filled.prefix) ? filled.prefix : [];
  return METHODS.includes(filled.method) ? { ...filled, prefix } : { ...PLAN, prefix };
}

/** @type {Plan["method"][]} */
export const METHODS = ["greedy", "beam", "sample"];
/** @type {Plan} */
const PLAN = {
  method: "greedy",
  beam: 4,
  length_penalty: 0.6,
  temperature: 1,
  top_k: null,
  top_p: 1,
  seed: 0,
  prefix: [],
};
const OF = /** @type {const} */ ({
  greedy: [],
  beam: ["beam", "length_penalty"],
  sample: ["temperature", "top_k", "top_p", "seed"],
});

/**
 * As a link says it: what the method takes and is not as it is at first; null is greedy.
 * @param {Plan & {max_tokens?: number}} plan
 * @returns {Record<string, unknown> | null}
 */
export function said(plan) {
  const { method, prefix, max_tokens } = plan;
  const own = OF[method].filter((key) => plan[key] !== PLAN[key]).map((key) => [key, plan[key]]);
  const more = {
    ...Object.fromEntries(own),
    ...(max_tokens ? { max_tokens } : {}),
    ...(prefix.length ? { prefix } : {}),
  };
  return method === "greedy" && !Object.keys(more).length ? null : { method, ...more };
}

/**
 * The same without anything forced: the model's own.
 * @param {unknown} decode
 * @returns {unknown}  the very same where nothing is
 */
export const own = (decode) => (plan(decode).prefix.length ? said({ ...plan(decode), prefix: [] }) : decode);
