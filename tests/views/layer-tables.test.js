import assert from "node:assert/strict";
import { test } from "node:test";

import { isDeep, keptLayers, runs } from "../../static/js/views/inside/layer-tables.js";

test("a deep model is folded around the layers that matter", () => {
  assert.deepEqual([12, 13].map(isDeep), [false, true]);
  const values = Array.from({ length: 30 }, (_, layer) => [layer === 7 ? -3 : 0.1, 0]);
  const keep = keptLayers(30, /** @type {any} */ ({ heads: [{ block: "decoder", values }] }), [20, null]);
  for (const layer of [0, 7, 20, 25, 29]) assert.ok(keep.has(layer), String(layer));
  assert.ok(!keep.has(15));
});

test("runs cover every layer once, and one hidden layer is not folded", () => {
  const found = runs(10, new Set([0, 2, 9]));
  assert.deepEqual(found.flatMap(({ layers }) => layers), Array.from({ length: 10 }, (_, i) => i));
  assert.deepEqual(found.map(({ isShown: shown, layers }) => [shown, layers.length]), [[true, 3], [false, 6], [true, 1]]);
  assert.deepEqual(runs(3, null), [{ layers: [0, 1, 2], isShown: true }]);
});
