import assert from "node:assert/strict";
import { test } from "node:test";

import { begun, left, lines, more, nameOf, of, reach, strongest } from "../../static/js/compute/head-sweep.js";
import { placeOf } from "../../static/js/data/attentions.js";
import { MODEL } from "./trace.js";

const start = { heads: 3, tokens: {}, logprobs: [-1, -2] };
/** @param {string} at @param {number} head @param {number[]} delta */
const effect = (at, head, delta) => ({ at, head, delta, divergence: delta.map(Math.abs) });
const some = more(begun(start), { heads: [effect("encoder.0.self", 0, [-0.5, 0.1])], done: 1 });
const whole = more(some, {
  heads: [effect("encoder.0.self", 1, [0.2, 0.2]), effect("decoder.0.cross", 0, [0, -0.7])],
  done: 3,
});

test("a sweep grows as its lines come, and no earlier one is written into", () => {
  assert.equal(some.done, 1);
  assert.deepEqual(Object.keys(some.heads), [nameOf("encoder.0.self", 0)]);
  assert.equal(whole.done, whole.total);
  assert.equal(Object.keys(whole.heads).length, 3);
});

test("the effect on a row is its own, that on the translation the sum of all rows", () => {
  const { delta } = whole.heads[nameOf("encoder.0.self", 0)];
  assert.equal(of(delta, 1), 0.1);
  assert.equal(of(delta, null), -0.4);
  assert.equal(of(delta, 7), 0, "a row that is not there");
  assert.equal(reach(whole, 1), 0.7);
  assert.equal(reach(begun(start), null), 0);
});

test("what is needed most comes first, whatever is in the way comes last", () => {
  assert.deepEqual(strongest(whole, null, 1).map(({ at, head }) => [at, head]), [["decoder.0.cross", 0]]);
  assert.deepEqual(strongest(whole, 0, 3).map(({ delta }) => delta), [-0.5, 0, 0.2]);
});

test("the map has a line for each layer of each attention", () => {
  assert.deepEqual(lines(MODEL).map(({ at, heads }) => [at, heads]), [
    ["encoder.0.self", 2],
    ["decoder.0.self", 2],
    ["decoder.0.cross", 2],
  ]);
  for (const { at, block, layer } of lines(MODEL)) assert.deepEqual(placeOf(MODEL, at), { block, layer });
});

test("the time left follows from the time taken", () => {
  assert.equal(left(some, 500), 1000);
  assert.equal(left(begun(start), 500), Infinity);
  assert.equal(left(whole, 500), 0);
});
