/**
 * Numbers that a view computes itself, as tensors, for exports of values that are in no tensor of
 * the run.
 */

import { plainStep } from "../wire/tokens.js";

/** @import { Tensor, Matrix, Numbers } from "../wire/wire.js" */
/**
 * @typedef {object} Shown
 * @property {Record<string, {text: string}[]>} tokens  that an axis may follow, by name
 * @property {Record<string, Tensor>} tensors
 */

/**
 * @param {Record<string, string | null>} axes  its dims in order, and the tokens that each follows
 * @param {number[]} shape
 * @param {Numbers | number[]} values
 * @returns {Tensor}
 */
export function tensor(axes, shape, values) {
  const over = Object.fromEntries(Object.entries(axes).flatMap(([dim, of]) => (of ? [[dim, of]] : [])));
  return { dims: Object.keys(axes), over, shape, dtype: "float32", data: Float32Array.from(values) };
}

/**
 * @param {Matrix} matrix
 * @param {string} [rows]  the name of the tokens of its rows
 * @param {string} [cols]
 */
export function matrix({ rows: height, cols: width, values }, rows = "query", cols = "key") {
  return tensor({ query: rows, key: cols }, [height, width], values);
}

/** @param {import("../wire/tokens.js").Step[]} steps  As a label says them. */
export const named = (steps) => steps.map((step) => ({ text: plainStep(step) }));

/**
 * A comparison, over the tokens of both runs.
 * @param {import("../store/comparison.js").Comparison} found
 * @returns {Shown}  NaN where masked, and where only the other run has a number
 */
export function trio({ a, b, delta, rows, cols }) {
  return {
    tokens: { query: named(rows.steps), key: named(cols.steps) },
    tensors: { a: matrix(a.matrix), b: matrix(b.matrix), delta: matrix(delta.matrix) },
  };
}

/**
 * In the JSON format of the API.
 * @param {Shown} shown
 * @param {object} about  what the tensors describe
 */
export function json({ tokens, tensors }, about) {
  const written = Object.entries(tensors).map(([name, one]) => [name, { ...one, data: nested(plain(one), one.shape) }]);
  return JSON.stringify({ ...about, tokens, tensors: Object.fromEntries(written) });
}

/** @param {Tensor} tensor @returns {(number | boolean)[]} */
const plain = ({ dtype, data }) => (dtype === "bool" ? Array.from(data, Boolean) : [...data]);

/** @param {any[]} values @param {number[]} shape @returns {any[]} */
function nested(values, [size, ...inner]) {
  if (!inner.length) return values;
  const step = values.length / size;
  return Array.from({ length: size }, (_, i) => nested(values.slice(i * step, (i + 1) * step), inner));
}
