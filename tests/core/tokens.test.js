import assert from "node:assert/strict";
import { test } from "node:test";

import { labels, plainLabel, plainStep, traceLabels, isWord } from "../../static/js/core/wire/tokens.js";
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
