import assert from "node:assert/strict";
import { test } from "node:test";

import { softmaxRow } from "../../static/js/core/compute/attention-row.js";
import { LAST, STEPS, barAt, stepsOf } from "../../static/js/workspace/calculation.js";

const SCORES = [2, -1, 1];
const ROW = { scores: SCORES, ...softmaxRow(SCORES, () => true) };

test("a row goes through its steps: scores, less the largest, powers, weights", () => {
  const steps = stepsOf(ROW, ROW.weights, [0, 2, 1]);
  assert.equal(steps.length, STEPS.length);
  assert.deepEqual(steps[0].values, [2, 1, -1], "in the order of the list");
  assert.deepEqual(steps[1].values, [0, -1, -3]);
  assert.equal(steps[2].values[0], 1);
  assert.ok(Math.abs(steps[3].values.reduce((a, b) => a + b) - 1) < 1e-12);
});

test("bars lie on either side of zero, shares of one fill their track alike in every row", () => {
  const steps = stepsOf(ROW, ROW.weights, [0, 1, 2]);
  assert.deepEqual(steps[0].bars[0], { from: 1 / 3, to: 1 });
  assert.deepEqual(steps[0].bars[1], { from: 0, to: 1 / 3 });
  assert.deepEqual(steps[1].bars.map(({ to }) => to), [1, 1, 1], "none is above zero any more");
  assert.deepEqual(steps[2].bars[0], { from: 0, to: 1 });
  steps[3].bars.forEach(({ from, to }, i) => assert.deepEqual([from, to], [0, ROW.weights[i]]));
});

test("between two steps a bar is as far as the reader has come, and at the end it is the weight", () => {
  const steps = stepsOf(ROW, ROW.weights, [0, 1, 2]);
  const [a, b, half] = [steps[1].bars[2], steps[2].bars[2], barAt(steps, 2, 1.5)];
  assert.ok(Math.abs(half.from - (a.from + b.from) / 2) < 1e-12 && Math.abs(half.to - (a.to + b.to) / 2) < 1e-12);
  assert.deepEqual(barAt(steps, 0, LAST), steps[LAST].bars[0]);
  assert.deepEqual(barAt(steps, 0, 0), steps[0].bars[0]);
});

test("a row of equal scores, and one of a single key", () => {
  const flat = { scores: [0, 0], ...softmaxRow([0, 0], () => true) };
  for (const step of stepsOf(flat, flat.weights, [0, 1])) for (const { from, to } of step.bars) assert.ok(Number.isFinite(from) && Number.isFinite(to));
});
