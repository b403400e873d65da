import assert from "node:assert/strict";
import { test } from "node:test";

import { contributions, farthestCell, lens, lensTensors, relevance, settledLayer, strongestHead, total } from "../../static/js/core/compute/logit-lens.js";
import { MODEL, sized, tensor, token, trace } from "../js/trace.js";

/** Two layers, two heads, three rows: the last is padding. Halves and quarters are exact in float32. */
function seen() {
  const made = trace();
  const by = (/** @type {number[]} */ shape, /** @type {number} */ scale) => {
    const size = shape.reduce((a, b) => a * b, 1);
    const data = Array.from({ length: size }, (_, i) => (i % 3 === 2 ? NaN : scale * i));
    return tensor(shape.length === 3 ? ["layer", "head", "query"] : ["layer", "query"].slice(-shape.length), shape, data);
  };
  made.output.tokens = [{ ...token("这"), id: 7 }, { ...token("<eos>", true), id: 1 }];
  made.pieces = { 7: { text: "这", special: false }, 1: { text: "<eos>", special: true } };
  Object.assign(made.tensors, {
    "inside.lens.probabilities": tensor(["layer", "query", "rank"], [2, 3, 2], [0.5, 0.25, 0.75, 0.125, 0, 0, 0.5, 0.25, 0.5, 0.25, 0, 0]),
    "inside.lens.candidates": tensor(["layer", "query", "rank"], [2, 3, 2], [9, 7, 1, 9, 0, 0, 7, 9, 9, 7, 0, 0]),
    "inside.lens.written": tensor(["layer", "query"], [2, 3], [0.25, 0.75, NaN, 0.5, 0.125, NaN]),
    "inside.lens.rank": tensor(["layer", "query"], [2, 3], [2, 1, 0, 1, 3, 0]),
    "inside.logit.self": by([2, 2, 3], 0.25),
    "inside.logit.cross": by([2, 2, 3], -0.5),
    "inside.logit.ffn": by([2, 3], 1),
    "inside.logit.bias": by([2, 3], 0.5),
    "inside.logit.norm": by([2, 3], 0.25),
    "inside.logit.embedding": by([3], 2),
    "inside.logit.position": by([3], 4),
    "inside.logit.total": by([3], 8),
    "inside.relevance.decoder.0.self": tensor(["head", "query", "key"], [2, 2, 2], [1, 0, -3, 2, 0.5, 0, 0, 0]),
    "decoder.0.self.mask": tensor(["query", "key"], [2, 2], [1, 0, 1, 1]),
  });
  return made;
}

test("the lens names each layer's candidates and marks the one that is written", () => {
  const layers = lens(MODEL, seen(), 0) ?? [];
  assert.deepEqual(layers.map(({ rank, probability }) => [rank, probability]), [[2, 0.25], [1, 0.5]]);
  assert.deepEqual(layers[0].top.map(({ text, probability, written }) => [text, probability, written]), [["#9", 0.5, false], ["这", 0.25, true]]);
  assert.equal(lens(MODEL, seen(), 1)?.[0].top[0].special, true);
});

test("a row that writes nothing has nothing to say", () => {
  assert.equal(lens(MODEL, seen(), 2), null);
  assert.equal(contributions(MODEL, seen(), 2), null);
  assert.equal(lens(MODEL, trace(), 0), null);
  assert.equal(contributions(MODEL, trace(), 0), null);
});

test("it is settled from the layer on after which the written token stays first", () => {
  const at = (/** @type {number[]} */ ranks) => settledLayer(ranks.map((rank) => ({ top: [], probability: 0, rank })));
  assert.deepEqual([at([3, 1, 1]), at([1, 2, 1]), at([1, 1]), at([1, 2])], [1, 2, 0, null]);
});

test("contributions are those of the row, and add up", () => {
  const sum = contributions(MODEL, seen(), 1);
  assert.ok(sum);
  assert.deepEqual(sum.heads, [
    { block: "decoder", kind: "self", values: [[0.25, 1], [1.75, 2.5]] },
    { block: "cross", kind: "cross", values: [[-0.5, -2], [-3.5, -5]] },
  ]);
  assert.deepEqual(sum.parts, { embedding: [2], position: [4], ffn: [1, 4], bias: [0.5, 2], norm: [0.25, 1] });
  assert.equal(sum.sum, 5.5 - 11 + 6 + 5 + 2.5 + 1.25);
  assert.equal(sum.logit, 8);
  assert.deepEqual(sum.most, { head: 5, part: 8.5 });
  assert.deepEqual(strongestHead(sum), { block: "decoder", layer: 1, head: 1, value: 2.5 });
  assert.equal(total([]), 0);
});

test("relevance has no number where the mask forbids one", () => {
  const made = relevance(MODEL, seen(), { block: "decoder", layer: 0, head: 0 });
  assert.ok(made);
  assert.deepEqual([...made.values], [1, NaN, -3, 2]);
  assert.deepEqual(farthestCell(made), { row: 1, col: 0, value: -3 });
  assert.equal(relevance(MODEL, seen(), { block: "decoder", layer: 0, head: 2 }), null);
  assert.equal(relevance(MODEL, seen(), { block: "cross", layer: 0, head: 0 }), null);
});

test("what is needed is of the block at hand", () => {
  const names = lensTensors(sized({ encoder: 1, decoder: 2 }), { block: "cross", layer: 1 });
  assert.ok(names.includes("inside.relevance.decoder.1.cross"));
  assert.ok(names.includes("decoder.1.cross.mask"));
  assert.equal(names.length, new Set(names).size);
});

test("a position adds to a logit only where the model adds one at its input", () => {
  const asked = (/** @type {string} */ positions) => lensTensors({ ...MODEL, positions }, { block: "cross", layer: 0 }).includes("inside.logit.position");
  assert.deepEqual(["sinusoidal", "learned", "rotary", "relative", "learned-on-qk", "none"].map(asked), [true, true, false, false, false, false]);
});
