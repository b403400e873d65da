import assert from "node:assert/strict";
import { test } from "node:test";

import { rotatedVector, rotatedRows } from "../../static/js/core/compute/positions.js";
import { column, learned, scorer, scoringOf, termMatrix } from "../../static/js/core/compute/scoring.js";
import { workedCell } from "../../static/js/core/compute/attention-row.js";
import { tensor } from "../js/trace.js";

const PLACE = { place: "encoder.0.self", stack: "encoder" };
/** @param {string} scoring */
const of = (scoring) => scoringOf({ ...PLACE, scoring });
/** @type {Record<string, import("../../static/js/core/wire/safetensors.js").Tensor>} */
const LEARNED = {
  "encoder.0.self.scoring.w": tensor(["head", "channel"], [2, 2], [9, 9, 1, -2]),
  "encoder.0.self.scoring.b": tensor(["head", "channel"], [2, 2], [9, 9, -1, 0.5]),
  "encoder.positions.pi": tensor(["head", "offset"], [2, 5], [9, 9, 9, 9, 9, -2, -1, 0.5, 1, 2]),
};
/** @param {string} scoring @param {number} query @param {number} key */
const score = (scoring, query, key) => {
  const found = of(scoring);
  assert.ok(found);
  return scorer(found, (name) => LEARNED[name], 1)([0.5, 1], [0.5, -0.5], query, key);
};
/** @param {number} found @param {number} wanted */
const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-6, `${found} is not ${wanted}`);

test("which parameters a scoring takes, and which scorings are known", () => {
  assert.deepEqual(learned(of("scaled-dot")), []);
  assert.deepEqual(learned(of("additive")), ["encoder.0.self.scoring.w"]);
  assert.deepEqual(learned(of("additive-bias & relative")), Object.keys(LEARNED));
  assert.deepEqual(learned(of("dot & relative-product")), ["encoder.positions.pi"]);
  assert.deepEqual([of("cosine"), of("dot & alibi"), scoringOf(undefined)], [null, null, null]);
});

test("each scoring by hand", () => {
  near(score("dot", 0, 0).score, -0.25);
  near(score("scaled-dot", 0, 0).score, -0.25 / Math.SQRT2);
  near(score("additive", 0, 0).score, Math.tanh(1) - 2 * Math.tanh(0.5));
  near(score("additive-bias", 0, 0).score, Math.tanh(0) - 2 * Math.tanh(1));
  assert.deepEqual([...score("dot", 0, 0).terms], [0.25, -0.5]);
});

test("π of the offset is added or multiplied, and clipped", () => {
  near(score("dot & relative", 1, 2).score, -0.25 + 1);
  near(score("dot & relative", 9, 2).score, -0.25 - 2);
  near(score("dot & relative-product", 2, 1).score, -0.25 * -1);
  near(score("scaled-dot & relative-product", 0, 7).score, (-0.25 / Math.SQRT2) * 2);
  assert.deepEqual([-9, -2, -1, 0, 1, 2, 9].map((offset) => column(5, offset)), [0, 0, 1, 2, 3, 4, 4]);
  const matrix = termMatrix(LEARNED["encoder.positions.pi"], 1, 2, 4);
  assert.deepEqual([...matrix.values], [0.5, 1, 2, 2, -1, 0.5, 1, 2]);
});

test("a cell's weight follows from its row's scores, whatever they are", () => {
  const scoring = of("additive & relative");
  assert.ok(scoring);
  const plane = (/** @type {number[]} */ values) => ({ rows: values.length / 2, cols: 2, values: Float32Array.from(values) });
  const [q, k] = [plane([0.5, 1]), plane([0.5, -0.5, 0, 0])];
  const found = workedCell(q, k, 0, 0, () => true, scorer(scoring, (name) => LEARNED[name], 1));
  const [first, second] = [Math.tanh(1) - 2 * Math.tanh(0.5) + 0.5, Math.tanh(0.5) - 2 * Math.tanh(1) + 1];
  near(found.score, first);
  near(found.weight, Math.exp(first) / (Math.exp(first) + Math.exp(second)));
});

test("rotary positions turn pairs of channels, and back", () => {
  near(rotatedVector([1, 0, 0, 1], 1)[1], Math.sin(1));
  near(rotatedVector([1, 0, 0, 1], 3)[2], -Math.sin(0.03));
  const matrix = { rows: 3, cols: 4, values: Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4]) };
  const there = rotatedRows(matrix, 1);
  assert.deepEqual([...there.values.subarray(0, 4)], [1, 2, 3, 4]);
  rotatedRows(there, -1).values.forEach((value, i) => near(Math.round(value * 1e5) / 1e5, matrix.values[i]));
});
