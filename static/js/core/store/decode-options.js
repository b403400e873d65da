/** Decoding options: `decode` of the API, as written in a link and as shown by controls. */

/**
 * @typedef {object} Plan  `decode` of the API with all defaults
 * @property {"greedy" | "beam" | "sample"} method
 * @property {number} beam
 * @property {number} length_penalty  α
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} seed
 * @property {number[]} prefix
 * @property {number} [max_tokens]  absent: the server's
 */

/**
 * The decoding options of a link, with the server's defaults.
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
 * For a link: only the method's options that differ from the defaults; null is greedy.
 * @param {Plan} plan
 * @returns {Record<string, unknown> | null}
 */
export function planInLink(plan) {
  const { method, prefix, max_tokens } = plan;
  const changedOptions = OF[method].filter((key) => plan[key] !== PLAN[key]).map((key) => [key, plan[key]]);
  const options = {
    ...Object.fromEntries(changedOptions),
    ...(max_tokens ? { max_tokens } : {}),
    ...(prefix.length ? { prefix } : {}),
  };
  return method === "greedy" && !Object.keys(options).length ? null : { method, ...options };
}

/**
 * The same options without a prefix: the model's own translation.
 * @param {unknown} decode
 * @returns {unknown}  the same object if there is no prefix
 */
export const withoutPrefix = (decode) => (plan(decode).prefix.length ? planInLink({ ...plan(decode), prefix: [] }) : decode);
