import assert from "node:assert/strict";
import { test } from "node:test";

import { cosines, norms, reach, stations } from "../../static/js/views/flow/flow-data.js";
import { tensor } from "../js/trace.js";

const x = tensor(["query", "feature"], [2, 2], [3, 4, 1, 0]);
const y = tensor(["query", "feature"], [2, 2], [4, 3, 0, 2]);

test("lengths and directions, token by token", () => {
  assert.deepEqual(norms(x), [5, 1]);
  assert.deepEqual(cosines(x, y), [24 / 25, 0]);
});

test("a vector of nothing has no direction", () => {
  assert.ok(Number.isNaN(cosines(x, tensor(["query", "feature"], [2, 2], [0, 0, 1, 1]))[0]));
});

test("a stream is read at its input and behind every sublayer", () => {
  assert.deepEqual(
    stations(["self", "cross"], 1).map(({ layer, part }) => `${layer} ${part}`),
    ["-1 input", "0 self", "0 cross", "0 ffn"],
  );
  assert.equal(stations(["self"], 3).length, 7);
});

test("a scale of lengths goes to the largest, but not to one far beyond all others", () => {
  assert.equal(reach([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]), 10);
  assert.equal(reach([[10, 11, 12], [10, 11, 12], [10, 11, 12], [500]]), 18);
  assert.deepEqual([reach([[0, 0]]), reach([])], [1, 1]);
});
