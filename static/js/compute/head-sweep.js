/**
 * Which heads matter: every head of every attention is changed separately, with its effect on each
 * written token.
 */

import { blocks } from "../data/attentions.js";
import { tensor } from "../data/computed-tensors.js";

/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {{delta: number[], divergence: number[]}} Effect  of one head, for each row: nats */
/**
 * @typedef {object} Sweep
 * @property {number} total  heads
 * @property {number} done
 * @property {number[]} logprobs  of each row's token in the original run
 * @property {Record<string, Effect>} heads  by `nameOf`
 */
/** @typedef {{block: string, at: string, layer: number, heads: number}} Line  a layer's heads */

/** @param {string} at  an attention, such as "encoder.1.self" @param {number} head */
export const nameOf = (at, head) => `${at} ${head}`;

/** @param {any} start  the stream's first line @returns {Sweep} */
export const begun = ({ heads, logprobs }) => ({ total: heads, done: 0, logprobs, heads: {} });

/**
 * @param {Sweep} sweep
 * @param {{heads: (Effect & {at: string, head: number})[], done: number}} line  a later line of the
 *   stream
 * @returns {Sweep}
 */
export function more(sweep, { heads, done }) {
  const news = heads.map(({ at, head, delta, divergence }) => [nameOf(at, head), { delta, divergence }]);
  return { ...sweep, done, heads: { ...sweep.heads, ...Object.fromEntries(news) } };
}

/**
 * @param {number[]} values  of each row
 * @param {number | null} row  null: all rows
 */
export const of = (values, row) => (row === null ? values.reduce((a, b) => a + b, 0) : (values[row] ?? 0));

/**
 * @param {Sweep} sweep
 * @param {number | null} row
 * @returns {number}  the largest absolute effect
 */
export function reach({ heads }, row) {
  return Math.max(0, ...Object.values(heads).map(({ delta }) => Math.abs(of(delta, row))));
}

/**
 * @param {Sweep} sweep
 * @param {number | null} row
 * @param {number} [most]
 * @returns {{at: string, head: number, delta: number}[]}  those that matter most, first the one
 *   without which the token is least likely
 */
export function strongest({ heads }, row, most = 3) {
  const all = Object.entries(heads).map(([name, { delta }]) => {
    const [at, head] = name.split(" ");
    return { at, head: Number(head), delta: of(delta, row) };
  });
  return all.sort((a, b) => a.delta - b.delta).slice(0, most);
}

/** @param {ModelInfo} model @returns {Line[]}  as the map shows them: a row a layer */
export function lines(model) {
  return blocks(model).flatMap(({ id, rows }) =>
    rows.map(({ place, heads }, layer) => ({ block: id, at: place, layer, heads })),
  );
}

/**
 * @param {Sweep} sweep
 * @param {ModelInfo} model
 * @returns {Record<string, import("../data/computed-tensors.js").Tensor>}  such as
 *   "encoder.0.self.delta" (head, query); a query is a written token; NaN for a head not tried yet
 */
export function tensors({ heads, logprobs }, model) {
  const untried = logprobs.map(() => NaN);
  const found = lines(model).flatMap(({ at, heads: count }) =>
    /** @type {const} */ (["delta", "divergence"]).map((which) => {
      const values = Array.from({ length: count }, (_, head) => heads[nameOf(at, head)]?.[which] ?? untried);
      return [`${at}.${which}`, tensor({ head: null, query: "written" }, [count, logprobs.length], values.flat())];
    }),
  );
  return { logprobs: tensor({ query: "written" }, [logprobs.length], logprobs), ...Object.fromEntries(found) };
}

/**
 * @param {Sweep} sweep
 * @param {number} elapsed  milliseconds
 * @returns {number}  estimated milliseconds left
 */
export function left({ done, total }, elapsed) {
  return done ? (elapsed / done) * (total - done) : Infinity;
}
