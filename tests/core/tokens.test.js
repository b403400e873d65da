import assert from "node:assert/strict";
import { test } from "node:test";

import { labels, numberedWord, plainLabel, plainStep, traceLabels, isWord } from "../../static/js/core/wire/tokens.js";
import { token, trace } from "../js/trace.js";

const say = (/** @type {string[]} */ ...texts) =>
  labels(
    texts.map((text) => token(text)),
    "en",
  ).map(plainLabel);

test("a leading space is a dot, duplicates carry their index", () => {
  assert.deepEqual(say("the", " cat", " the", "."), ["the₁", "·cat", "·the₂", "."]);
});

test("what cannot be seen is spelt out", () => {
  assert.deepEqual(say("\n", "\t", "\u200b", " "), ["⏎", "⇥", "U+200B", "·"]);
});

test("joined emoji and words with joiners stay whole, a joiner by itself is spelt out", () => {
  const family = "👨\u200d👩\u200d👧";
  const word = "می\u200cخواهم";
  assert.deepEqual(labels([token(family), token(word)], "en").map(({ word }) => word), [family, word]);
  assert.deepEqual(say("\u200d", "\u200c", "a\u202e"), ["U+200D", "U+200C", "aU+202E"]);
});

test("a newline or tab at the beginning of a token is a sign, not a space", () => {
  assert.deepEqual(say("\nHello", "\tx", "  y", "\n\n"), ["⏎Hello", "⇥x", "·y", "⏎⏎"]);
});

test("a token from right to left is isolated in a sentence", () => {
  const [arabic, latin, again] = labels([token(" ات"), token("cat"), token(" ات")], "en");
  assert.equal(numberedWord(arabic), "\u2068ات₁\u2069");
  assert.equal(plainLabel(again), "·\u2068ات₂\u2069");
  assert.equal(numberedWord(latin), "cat");
});

test("languages follow the direction, special tokens are nobody's words", () => {
  const { texts: { source, target }, written } = traceLabels(trace());
  assert.deepEqual(
    source.map(({ lang }) => lang),
    ["en", "en", "en"],
  );
  assert.deepEqual(
    target.map(({ lang }) => lang),
    ["en", "zh-Hans"],
  );
  assert.equal(plainStep({ reads: target[0], writes: written[0] }), "<bos> → 这");
});

test("a mark is no word, a digit is", () => {
  const step = (/** @type {string} */ word, special = false) =>
    ({ reads: null, writes: { space: "", word, nth: null, lang: "en", special } });
  assert.deepEqual(["cat", "猫", "7", "'t", "。", "?", "🎉"].map((word) => isWord(step(word))), [true, true, true, true, false, false, false]);
  assert.ok(!isWord(step("<eos>", true)));
});
