import assert from "node:assert/strict";
import { test } from "node:test";

import { bounded } from "../../static/js/state/view-answers.js";

const MIB = 2 ** 20;

/** @param {number} size  in MiB */
const answer = (size) => /** @type {any} */ ({ tensors: { a: { data: { byteLength: size * MIB } } } });

test("the newest answers stay while they are small, and what is asked for stays anyway", () => {
  const answers = { a: answer(30), b: answer(30), c: answer(20), d: answer(10) };
  assert.deepEqual(Object.keys(bounded(answers, new Set(), 0)), ["b", "c", "d"]);
  assert.deepEqual(Object.keys(bounded(answers, new Set(), 30 * MIB)), ["c", "d"]);
  assert.deepEqual(Object.keys(bounded(answers, new Set(["a"]), 30 * MIB)), ["a"]);
});

test("no more than 32 with the one that comes", () => {
  const answers = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}`, answer(0)]));
  assert.equal(Object.keys(bounded(answers, new Set(["0"]), 0)).length, 31);
  assert.ok("0" in bounded(answers, new Set(["0"]), 0));
});
