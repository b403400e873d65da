import assert from "node:assert/strict";
import { test } from "node:test";

import { apart, featureAt } from "../../static/js/views/positions/encodings.js";

test("sines come first, then cosines, each feature once", () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((col) => featureAt(col, 4)),
    [0, 2, 1, 3],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((col) => featureAt(col, 5)),
    [0, 2, 4, 1, 3],
  );
});

test("every row is drawn in that order", () => {
  const drawn = apart({ rows: 2, cols: 4, values: Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7) });
  assert.deepEqual([...drawn.values], [0, 2, 1, 3, 4, 6, 5, 7]);
});
