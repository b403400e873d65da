import assert from "node:assert/strict";
import { test } from "node:test";

import { softmaxRow, workedCell } from "../../static/js/core/compute/attention-row.js";

/** @param {ArrayLike<number>} found @param {number[]} wanted */
const near = (found, wanted) =>
  Array.from(found).forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-12, `${value} is not ${wanted[i]}`));

test("the largest score is taken away, and the weights are those of the definition", () => {
  const scores = [1.5, -2, 3, 0.25];
  const { highest, highestKey: at, shifted, powers, total, weights } = softmaxRow(scores, () => true);
  const plain = scores.map(Math.exp);
  const sum = plain.reduce((a, b) => a + b);
  assert.deepEqual([highest, at], [3, 2]);
  near(shifted, [-1.5, -5, 0, -2.75]);
  near(powers, plain.map((power) => power / Math.exp(3)));
  near([total], [sum / Math.exp(3)]);
  near(weights, plain.map((power) => power / sum));
});

test("scores of any size: no exponential overflows, no row is divided by zero", () => {
  for (const shift of [-1e4, 0, 1e4]) {
    const { total, weights } = softmaxRow([shift - 1, shift, shift - 2], () => true);
    near([total], [1 + Math.exp(-1) + Math.exp(-2)]);
    near(weights, [Math.exp(-1), 1, Math.exp(-2)].map((power) => power / total));
  }
});

test("what is masked has no part in the maximum nor in the sum", () => {
  const { highest, highestKey: at, powers, total, weights } = softmaxRow([50, 1, 1], (key) => key > 0);
  assert.deepEqual([highest, at, [...powers], total, [...weights]], [1, 1, [0, 1, 1], 2, [0, 0.5, 0.5]]);
  const none = softmaxRow([1, 2], () => false);
  assert.deepEqual([none.highest, none.highestKey, none.total, [...none.weights]], [-Infinity, -1, 0, [0, 0]]);
});

test("a cell from q and k, step by step", () => {
  const matrix = (/** @type {number[][]} */ rows) => ({ rows: rows.length, cols: rows[0].length, values: Float32Array.from(rows.flat()) });
  const found = workedCell(matrix([[2, 0, 0, 0]]), matrix([[3, 1, 1, 1], [5, 0, 0, 0]]), 0, 0, () => true);
  assert.deepEqual([found.scored.sum, found.width, found.score, found.highest, found.highestKey, found.shifted], [6, 4, 3, 5, 1, -2]);
  near([found.power, found.total, found.weight], [Math.exp(-2), 1 + Math.exp(-2), Math.exp(-2) / (1 + Math.exp(-2))]);
});
