import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "../../static/js/long/long-text.js";
import { edgesOf, groupAt, starts } from "../../static/js/long/map/axes.js";
import { matches } from "../../static/js/long/map/text-panel.js";

/** Tokens as a tokenizer gives them: words with their space, by code points. @param {string} text */
function tokensOf(text) {
  const points = Array.from(text);
  const tokens = [{ text: "[CLS]", id: 0, start: 0, end: 0, special: true }];
  for (let start = 0; start < points.length; ) {
    let end = start + 1;
    while (end < points.length && !/[\s.。]/.test(points[end]) && !/[.。\n]/.test(points[end - 1])) end++;
    tokens.push({ text: points.slice(start, end).join(""), id: 1, start, end, special: false });
    start = end;
  }
  return [...tokens, { text: "[SEP]", id: 2, start: points.length, end: points.length, special: true }];
}
/** @param {string} text @param {"sentences" | "paragraphs"} by  What each group reads as. */
function groups(text, by) {
  const tokens = tokensOf(text);
  const edges = edgesOf(tokens, starts(text, by));
  return edges.slice(1).map((end, i) => tokens.slice(edges[i], end).map((token) => token.text).join("").trim());
}

test("sentences are groups of tokens, special tokens stand for themselves", () => {
  assert.deepEqual(groups("The cat sat. It slept.", "sentences"), ["[CLS]", "The cat sat.", "It slept.", "[SEP]"]);
  assert.deepEqual(groups("The cat sat.\n\nIt slept.", "sentences"), ["[CLS]", "The cat sat.", "It slept.", "[SEP]"]);
  assert.deepEqual(groups("猫坐着。它睡了。", "sentences"), ["[CLS]", "猫坐着。", "它睡了。", "[SEP]"]);
});

test("places are counted in code points, as tokens count them", () => {
  assert.deepEqual(starts("🐱🐱. A b.", "sentences"), [0, 4]);
  assert.deepEqual(groups("🐱🐱🐱. It slept. It sat 🐱.", "sentences"), ["[CLS]", "🐱🐱🐱.", "It slept.", "It sat 🐱.", "[SEP]"]);
});

test("a blank line begins a paragraph; without one every line does", () => {
  assert.deepEqual(starts("a\nb\n\nc", "paragraphs"), [0, 5]);
  assert.deepEqual(starts("a\nb\nc\n", "paragraphs"), [0, 2, 4]);
  assert.deepEqual(starts("a", "paragraphs"), [0]);
});

test("a token's group is found by its index", () => {
  const edges = [0, 1, 5, 9];
  assert.deepEqual([0, 1, 4, 5, 8].map((token) => groupAt(edges, token)), [0, 1, 1, 2, 2]);
});

test("words are found whatever their case and accents, and the tokens that hold them are named", () => {
  const text = "The café. the 🐱 cafe sat.";
  const tokens = tokensOf(text);
  const said = (/** @type {string} */ wanted) =>
    matches({ tokens, points: Array.from(text) }, wanted).map(({ from, to }) => tokens.slice(from, to).map((token) => token.text.trim()).join("|"));
  assert.deepEqual(said("CAFE"), ["café", "cafe"]);
  assert.deepEqual(said("the 🐱"), ["the|🐱"]);
  assert.deepEqual(said("afe s"), ["cafe|sat"]);
  assert.deepEqual(said("dog"), []);
  assert.deepEqual(said(" "), []);
  assert.deepEqual(matches({ tokens, points: [] }, "cafe").length, 2, "a text that is not known is its tokens'");
});

test("a text is cut where it fits, at the end of a word", () => {
  const text = "one two three four";
  assert.equal(shortened(text, { limit: 3, unit: "tokens", value: 4, fits: 13 }), "one two three");
  assert.equal(shortened(text, { limit: 3, unit: "tokens", value: 4, fits: 11 }), "one two");
  assert.equal(shortened(text, { limit: 7, unit: "characters", value: 18 }), "one two");
  assert.equal(shortened(text, { limit: 2, unit: "tokens", value: 4 }), "one two");
  assert.equal(shortened("🐱".repeat(10), { limit: 4, unit: "characters", value: 10 }), "🐱".repeat(4));
  assert.equal(shortened(text, { limit: 99, unit: "characters", value: 18 }), text);
});
