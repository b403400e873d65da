import assert from "node:assert/strict";
import { test } from "node:test";

import { withMaskedToken, predictionAt, isPredictor, withCandidate, isWritable } from "../../static/js/core/compute/predictions.js";

const attention = { place: "x.0.self", stack: "decoder", layer: 0, kind: "self", query: "text", key: "text", heads: 1, kv_heads: 1, mask: "causal", scoring: "dot" };
const model = (/** @type {object} */ more = {}) => /** @type {any} */ ({ texts: ["text"], capabilities: ["candidates"], attentions: [attention], ...more });
const token = (/** @type {string} */ text, /** @type {number} */ id, start = 0, end = 0, special = false) => ({ text, id, start, end, special });
const tokens = [token("A", 1, 0, 1), token(" 😀", 2, 2, 3), token(" b", 3, 4, 5)];
const trace = (/** @type {any[]} */ text = tokens) => /** @type {any} */ ({
  tokens: { text },
  pieces: { 7: { text: " c", special: false }, 8: { text: "<0xE7>", special: false }, 2: { text: " 😀", special: false } },
  tensors: {
    "decoder.probabilities": { shape: [3, 2], data: [0.5, 0.1, 0.6, 0.2, 0.7, 0.3] },
    "decoder.candidates": { shape: [3, 2], data: [2, 7, 7, 8, 8, 7] },
  },
});

test("a model of one text predicts where it says so", () => {
  assert.equal(isPredictor(model()), true);
  assert.equal(isPredictor(model({ capabilities: [] })), false);
  assert.equal(isPredictor(model({ texts: ["source", "target"] })), false);
  assert.equal(isPredictor(null), false);
});

test("a decoder predicts after its last token, or after the one that is asked about", () => {
  const last = /** @type {any} */ (predictionAt(trace(), model(), null));
  assert.deepEqual([last.row, last.kind, last.present], [2, "next", null]);
  assert.deepEqual(last.candidates.map((/** @type {any} */ one) => [one.id, one.probability]), [[8, 0.7], [7, 0.3]]);
  const first = /** @type {any} */ (predictionAt(trace(), model(), 0));
  assert.deepEqual([first.row, first.present, first.candidates[0].text], [0, 2, " 😀"]);
});

test("padding is not the end of a text", () => {
  const padded = [...tokens.slice(0, 2), token("<pad>", 0, 0, 0, true)];
  assert.equal(predictionAt(trace(padded), model(), null)?.row, 1);
  assert.equal(predictionAt(trace(padded), model(), 2), null);
});

test("a mask is filled in, and a word can be replaced", () => {
  const filling = model({ mask: "[MASK]" });
  assert.equal(predictionAt(trace(), filling, null), null, "nothing to fill in");
  const masked = [tokens[0], token("[MASK]", 9, 2, 8, true), tokens[2]];
  const place = /** @type {any} */ (predictionAt(trace(masked), filling, null));
  assert.deepEqual([place.row, place.kind, place.present], [1, "fill", null]);
  assert.equal(withCandidate("A [MASK] b", masked, place, place.candidates[0]), "A c b");
  assert.equal(predictionAt(trace(masked), filling, 0)?.present, 1);
});

test("a candidate follows the row's token, in code points; what came after is gone", () => {
  const place = /** @type {any} */ (predictionAt(trace(), model(), 1));
  assert.equal(withCandidate("A 😀 b", tokens, place, place.candidates[0]), "A 😀 c");
  assert.equal(withMaskedToken("A 😀 b", tokens[1], "[MASK]"), "A [MASK] b");
});

test("pieces of a character and special tokens cannot be written", () => {
  const one = (/** @type {string} */ text, special = false) => isWritable({ id: 0, text, special, probability: 0 });
  assert.deepEqual([one(" c"), one("<0xE7>"), one("<0xE7><0x8C>"), one("</s>", true)], [true, false, false, false]);
});
