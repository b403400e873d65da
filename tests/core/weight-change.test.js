import assert from "node:assert/strict";
import { test } from "node:test";

import { largestChange, weightChange } from "../../static/js/core/store/heatmap-data.js";
import { flush, ready, SELF } from "../js/bound-session.js";

const OFF = [{ at: "encoder.0.self", head: 0, do: "zero" }];
const NAME = "encoder.0.self.weights";

/** The run with all weights scaled. @param {number} factor @param {any} [fields] */
function scaled(factor, fields = {}) {
  const tensor = /** @type {any} */ (SELF.tensors[NAME]);
  return { ...SELF, id: "changed", ...fields, tensors: { ...SELF.tensors, [NAME]: { ...tensor, data: tensor.data.map((/** @type {number} */ value) => value * factor) } } };
}

/** @param {any} changedRun */
async function changedPage(changedRun) {
  const { store, traces } = await ready();
  store.go({ interventions: OFF });
  await flush();
  await traces[1].reply(changedRun);
  return store;
}

test("the weight of a cell in both runs, whichever is shown", async () => {
  const store = await changedPage(scaled(0.5));
  const values = /** @type {any} */ (SELF.tensors[NAME]).data;
  const change = weightChange(store.get(), { row: 0, col: 1 });
  assert.deepEqual([change?.trained, change?.changed].map((value) => value?.toFixed(4)), [values[1], values[1] / 2].map((value) => value.toFixed(4)));
  store.choose({ as: "trained" });
  assert.deepEqual(weightChange(store.get(), { row: 0, col: 1 }), change);
});

test("nothing is said of a weight that stays, of another token, and without changes", async () => {
  assert.equal(weightChange((await changedPage(scaled(1))).get(), { row: 0, col: 1 }), null);
  const source = SELF.tokens.source.map((token) => ({ ...token, text: `${token.text}x` }));
  assert.equal(weightChange((await changedPage(scaled(0.5, { tokens: { ...SELF.tokens, source } }))).get(), { row: 1, col: 1 }), null);
  assert.equal(weightChange((await ready()).store.get(), { row: 0, col: 1 }), null);
});

test("of a head that is off, the weight that was largest is named, not the first of a row of zeros", async () => {
  const store = await changedPage(scaled(0));
  const row = Array.from(/** @type {any} */ (SELF.tensors[NAME]).data.slice(0, 3));
  const largest = largestChange(store.get(), 0, 3);
  assert.equal(largest?.col, row.indexOf(Math.max(...row)));
  assert.notEqual(largest?.col, 0);
  assert.equal(largest?.change.changed, 0);
  assert.equal(largestChange((await changedPage(scaled(1))).get(), 0, 3), null);
});
