import assert from "node:assert/strict";
import { test } from "node:test";

import { advice, gain, shareRight } from "../../static/js/room/vote-spread.js";

const vote = (/** @type {number | null} */ right, /** @type {number} */ count) => ({ right, count });

test("below 30 % explain, to 70 % discuss and vote again, above go on", () => {
  const advised = [0, 29, 30, 50, 70, 71, 100].map((right) => advice(vote(right, 100)));
  assert.deepEqual(advised, ["explain", "explain", "discuss", "discuss", "discuss", "go-on", "go-on"]);
});

test("without an answer, and without a right one, nothing is advised", () => {
  assert.deepEqual([vote(0, 0), vote(null, 9)].map(advice), [null, null]);
  assert.equal(shareRight(vote(null, 9)), null);
});

test("the gain is the part of what could still become right that did", () => {
  assert.equal(gain(vote(4, 10), vote(7, 10)), (0.7 - 0.4) / (1 - 0.4));
  assert.equal(gain(vote(5, 10), vote(5, 20)), -0.5, "it may be negative");
  assert.equal(gain(vote(10, 10), vote(10, 10)), null);
  assert.equal(gain(vote(4, 10), vote(0, 0)), null);
});
