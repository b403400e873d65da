import assert from "node:assert/strict";
import { test } from "node:test";

import { advice, gain, isRight, shareRight, spreadOf } from "../../static/js/room/vote-results.js";

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

test("answers are right as the server counts them", () => {
  assert.deepEqual(["0", "2", "3"].map((id) => isRight("choice", [id], { right: ["2", "3"] })), [false, true, true]);
  assert.deepEqual(["0.5", "0.504", "0.506"].map((text) => isRight("numbers", [text], { numbers: [0.5] })), [true, true, false]);
  assert.equal(isRight("numbers", ["7.5"], { numbers: [8], within: 0.5 }), true);
  assert.equal(isRight("numbers", ["1", "2"], { numbers: [1] }), false);
  assert.deepEqual([["1", "0"], ["0", "1"]].map((order) => isRight("order", order, { right: ["1", "0"] })), [true, false]);
  assert.deepEqual([["1", "3", "0"], ["3", "3", "0"], ["3", "1", "0"]].map((row) => isRight("shares", row, { numbers: [0.1, 0.8, 0.1] })), [true, true, false]);
});

test("the votes are counted apart, the most frequent answer first", () => {
  const answers = [["first", "0"], ["first", "1"], ["first", "1"], ["second", "1"]].map(([vote, id]) => ({ vote, answer: [id] }));
  assert.deepEqual(spreadOf("choice", answers, "first", { right: ["1"] }), { count: 3, right: 2, answerCounts: [["1", 2], ["0", 1]] });
  assert.deepEqual(spreadOf("choice", answers, "second", { right: ["1"] }), { count: 1, right: 1, answerCounts: [["1", 1]] });
  assert.equal(spreadOf("choice", answers, "first", null).right, null);
  assert.equal(spreadOf("choice", answers, "first", { right: [] }).right, null, "an opinion is not wrong");
});
