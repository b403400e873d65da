import assert from "node:assert/strict";
import { test } from "node:test";

import { selection, coarseAddress, withTensors, missingAddresses, size, summaryAddress, tensorAt, valueAt, wholeTensorName } from "../../static/js/core/wire/tensor-cache.js";
import { trace } from "../js/trace.js";

/** @param {number} bytes @returns {any} */
const tensor = (bytes) => ({ dims: [], over: {}, shape: [bytes], dtype: "uint8", data: new Uint8Array(bytes) });

/** @param {Record<string, number>} sizes @param {object} [more] @returns {any} */
const run = (sizes, more = {}) => ({
  ...trace(),
  tensors: Object.fromEntries(Object.entries(sizes).map(([key, bytes]) => [key, tensor(bytes)])),
  ...more,
});

test("an address is a tensor's name, or says what of it", () => {
  assert.equal(wholeTensorName("a.weights"), "a.weights");
  assert.equal(wholeTensorName(coarseAddress("a.weights")), "a.weights");
  assert.equal(wholeTensorName(summaryAddress("a")), null);
});

test("what is asked for whole is not asked for in 8 bits too, and everything once", () => {
  const all = [coarseAddress("a"), "a", coarseAddress("b"), coarseAddress("b"), "a", summaryAddress("p"), summaryAddress("p")];
  assert.deepEqual(selection(all), { select: ["a", "b:uint8"], summarise: ["p"] });
  assert.deepEqual(selection(["a"]), { select: ["a"] });
});

test("the whole stands for its 8 bits, and never the other way round", () => {
  const here = run({ "a": 1, "b:uint8": 1 });
  assert.equal(valueAt(here, "a:uint8"), here.tensors.a);
  assert.equal(valueAt(here, "b"), undefined);
  assert.equal(tensorAt(here, "b"), here.tensors["b:uint8"]);
  assert.equal(tensorAt(here, "c"), undefined);
  assert.equal(valueAt(null, "a"), undefined);
  const both = run({ "a:uint8": 1, "a": 1 });
  assert.equal(tensorAt(both, "a"), both.tensors.a);
});

test("what is lacking is what neither stands there nor has something to stand for it", () => {
  const here = run({ "a": 1, "b:uint8": 1 }, { summaries: { p: { pattern: [] } } });
  const needed = ["a", "a:uint8", "b", "b", "b:uint8", summaryAddress("p"), summaryAddress("q"), "c:uint8"];
  assert.deepEqual(missingAddresses(here, needed), ["b", summaryAddress("q"), "c:uint8"]);
  assert.deepEqual(missingAddresses(null, ["a"]), ["a"]);
});

test("a run keeps what it had, its words and its id, and what has come", () => {
  const [had, more] = [run({ a: 1 }, { id: "1", summaries: { p: 1 }, pieces: { 1: "x" } }), run({ b: 2 }, { id: "2", summaries: { q: 2 }, pieces: { 2: "y" } })];
  const now = withTensors(had, more, []);
  assert.deepEqual(Object.keys(now.tensors), ["a", "b"]);
  assert.deepEqual([now.id, now.summaries, now.pieces], ["1", { p: 1, q: 2 }, { 1: "x", 2: "y" }]);
  assert.deepEqual(Object.keys(had.tensors), ["a"], "what others hold of it is as it was");
});

test("where there is too much, the oldest goes that nobody needs", () => {
  const had = run({ a: 40, b: 40, "c:uint8": 40 });
  const kept = (/** @type {string[]} */ needed, /** @type {number} */ most) =>
    Object.keys(withTensors(had, run({ d: 40 }), needed, most).tensors);
  assert.deepEqual(kept(["d"], 160), ["a", "b", "c:uint8", "d"], "as much as there may be");
  assert.deepEqual(kept(["d"], 159), ["b", "c:uint8", "d"]);
  assert.deepEqual(kept(["a", "d"], 120), ["a", "c:uint8", "d"]);
  assert.deepEqual(kept(["a:uint8", "c:uint8", "d"], 80), ["a", "c:uint8", "d"], "the whole that stands for 8 bits, too");
  assert.equal(size(withTensors(had, run({ d: 40 }), ["a", "b", "c:uint8", "d"], 1).tensors), 160, "what is shown stays");
});
