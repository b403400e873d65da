import assert from "node:assert/strict";
import { test } from "node:test";

import { fraction, secondsLeft } from "../../static/js/long/long-text.js";

/** @param {"queue" | "pass" | "pictures"} phase @param {number} done @param {number} of @param {number} seconds */
const at = (phase, done, of, seconds) => ({ phase, done, of, seconds });

test("the pass is two thirds of a run, its pictures are the rest", () => {
  const first = at("pass", 0, 0, 1);
  const found = [at("queue", 0, 0, 0), at("pass", 0, 0, 1), at("pass", 15, 30, 2), at("pictures", 0, 30, 3), at("pictures", 15, 30, 4)].map((now) => fraction(first, now));
  assert.deepEqual(found.map((one) => one.toFixed(3)), ["0.000", "0.000", "0.333", "0.667", "0.833"]);
  assert.equal(fraction(at("pictures", 0, 4, 1), at("pictures", 1, 4, 2)), 0.25, "the pass was cached");
});

test("what is left is what it takes at the speed so far, without the time in the queue", () => {
  const first = at("pass", 0, 30, 10);
  assert.equal(Math.round(secondsLeft(first, at("pass", 15, 30, 20))), 20, "a third took 10 s");
  const joined = at("pass", 15, 30, 0.5);
  assert.equal(Math.round(secondsLeft(joined, at("pass", 30, 30, 10.5))), 10, "another reader had begun it");
  assert.equal(secondsLeft(joined, joined), Infinity);
});
