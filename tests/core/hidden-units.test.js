import assert from "node:assert/strict";
import { test } from "node:test";

import { outstanding, unitAt } from "../../static/js/core/store/model-part-names.js";

const UNITS = { rows: 3, cols: 3, values: Float32Array.of(1, 0, 5, 3, 0, 5, 0, 2, 6), error: 0 };

test("the units that stand out at a token exceed their values at all others", () => {
  assert.deepEqual(outstanding(UNITS, 1, 2), [
    { unit: 0, value: 3, elsewhere: 1 },
    { unit: 2, value: 5, elsewhere: 6 },
  ]);
  assert.deepEqual(outstanding(UNITS, 2, 1), [{ unit: 1, value: 2, elsewhere: 0 }]);
});

test("of a single token, a unit is compared with 0", () => {
  assert.deepEqual(outstanding({ rows: 1, cols: 2, values: Float32Array.of(-1, 4) }, 0, 1), [{ unit: 1, value: 4, elsewhere: 0 }]);
});

test("a unit has a value at each token", () => {
  assert.deepEqual(unitAt(UNITS, 2), [5, 5, 6]);
});
