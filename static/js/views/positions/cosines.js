/** Cosine similarity of the rows of a matrix. */

import { sum, times } from "../../lib/vectors.js";

/**
 * @param {import("../../core/wire/wire.js").Matrix} matrix  [row, feature]
 * @returns {Float32Array}  the cosine of every two rows, [row, row]; 0 if one is zero
 */
export function cosines({ rows, cols, values }) {
  const row = (/** @type {number} */ i) => values.subarray(i * cols, (i + 1) * cols);
  const dot = (/** @type {number} */ a, /** @type {number} */ b) => sum(times(row(a), row(b)));
  const lengths = Array.from({ length: rows }, (_, i) => Math.sqrt(dot(i, i)));
  const cosine = (/** @type {number} */ a, /** @type {number} */ b) => dot(a, b) / (lengths[a] * lengths[b] || 1);
  return Float32Array.from({ length: rows * rows }, (_, cell) => cosine(Math.floor(cell / rows), cell % rows));
}
