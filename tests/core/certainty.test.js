import assert from "node:assert/strict";
import { test } from "node:test";

import { doubts, meanProbability, mostCut, wordCuts } from "../../static/js/core/store/certainty.js";

/** @param {string[]} texts  a leading space is of the token; "<…>" is special */
function tokens(texts) {
  let end = 0;
  return texts.map((text, id) => {
    const special = text.startsWith("<");
    const start = special ? 0 : end;
    if (!special) end += [...text].length;
    return /** @type {any} */ ({ id, text, special, start, end: special ? 0 : end });
  });
}

/** @param {string[]} texts @param {number[]} probabilities */
const output = (texts, probabilities) => /** @type {any} */ ({ text: "", tokens: tokens(texts), logprobs: probabilities.map(Math.log) });

const CERTAINTY = { word: 0.3, text: 0.5, precision: 0.6, recall: 0.7, temperature: 1, source: 0.1, passed_over: ["the", "了"] };

/** @param {number[][]} rows */
const matrix = (rows) => ({ rows: rows.length, cols: rows[0].length, values: Float32Array.from(rows.flat()) });

test("the mean probability is the geometric mean over all tokens", () => {
  assert.ok(Math.abs(meanProbability(output(["a", "<eos>"], [0.25, 1])) - 0.5) < 1e-12);
  assert.equal(meanProbability(output([], [])), 1);
});

test("a word is doubtful by its lowest piece, as a whole, and by the text around it", () => {
  const marks = doubts(output(["I", " tro", "phy", ".", "<eos>"], [1, 0.9, 0.2, 0.2, 1]), [], CERTAINTY, null);
  assert.deepEqual(marks.words.map((word) => word.tokens), [[1, 2]], "punctuation is never doubtful");
  assert.ok(Math.abs(marks.words[0].probability - 0.2) < 1e-12);
  assert.ok(marks.limit > 0.3, "less probable around it, a word needs more");
  assert.equal(marks.improbable, false);
  const probable = doubts(output(["I", " am", "<eos>"], [1, 0.45, 1]), [], CERTAINTY, null);
  assert.deepEqual(probable.words, []);
});

test("a text is improbable by its mean", () => {
  assert.equal(doubts(output(["I", "<eos>"], [0.3, 0.8]), [], CERTAINTY, null).improbable, true);
  assert.equal(doubts(output(["I", "<eos>"], [0.4, 0.8]), [], CERTAINTY, null).improbable, false);
  assert.equal(doubts(output(["<eos>"], [0.01]), [], CERTAINTY, null).improbable, false, "nothing was written");
});

test("source words that no written token looks at are passed over, but not those that are usually", () => {
  const source = tokens(["<2zh>", "The", " par", "ty", " is", " over", ".", "<eos>"]);
  const written = output(["完", "<eos>"], [1, 1]);
  const weights = matrix([[0, 0, 0.06, 0.06, 0, 0.05, 0, 0.8], [0, 0, 0, 0, 0, 0.9, 0, 0.1]]);
  assert.deepEqual(doubts(written, source, CERTAINTY, weights).passedOver, [[5]], "the row of <eos> is not one that writes a word");
  assert.deepEqual(doubts(written, source, CERTAINTY, null).passedOver, []);
});

test("of Chinese, only neighbours that are passed over together, two of them unusual", () => {
  const source = tokens(["<2en>", "顾", "客", "在", "看", "了", "灯", "塔", "的", "<eos>"]);
  const written = output(["Look", "<eos>"], [1, 1]);
  const weights = matrix([[0, 0, 0, 0.4, 0, 0, 0, 0, 0, 0.6], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]);
  assert.deepEqual(doubts(written, source, { ...CERTAINTY, passed_over: ["客", "了", "的"] }, weights).passedOver, [[4, 5, 6, 7, 8]]);
  assert.deepEqual(doubts(written, source, CERTAINTY, weights).passedOver, [[1, 2], [4, 5, 6, 7, 8]]);
});

test("the rows that read a word are those after the ones that write it", () => {
  const source = tokens(["<2zh>", "party", "<eos>"]);
  const written = output(["完", "<eos>"], [1, 1]);
  const weights = matrix([[0, 0.9, 0.1], [0, 0.05, 0.9]]);
  assert.deepEqual(doubts(written, source, CERTAINTY, weights, { rows: "writes" }).passedOver, []);
  assert.deepEqual(doubts(written, source, CERTAINTY, weights, { rows: "reads" }).passedOver, [[1]]);
  assert.deepEqual(doubts(written, source, { ...CERTAINTY, source: null }, weights, { rows: "reads" }).passedOver, [], "not measured");
});

test("a text whose words are cut more finely than those of training is unlike it", () => {
  const nonsense = tokens(["<2zh>", "as", "d", "f", " q", "wer", "!", "<eos>"]);
  assert.deepEqual(wordCuts(nonsense), { words: 2, pieces: 5, share: 3 / 6 });
  assert.deepEqual(wordCuts(tokens(["<2zh>", "!", "<eos>"])), { words: 0, pieces: 0, share: 0 });
  assert.equal(wordCuts(tokens(["H", "i", " Tom"])).share, 1 / 3);
  assert.equal(wordCuts(tokens(["我", "爱"])).share, 0);
  const written = output(["a", "<eos>"], [1, 1]);
  const certainty = { ...CERTAINTY, unlike: { "en-zh": 0.45 } };
  assert.equal(doubts(written, nonsense, certainty, null, { direction: "en-zh" }).unlike?.pieces, 5);
  assert.equal(doubts(written, nonsense, certainty, null, { direction: "zh-en" }).unlike, null);
  assert.equal(doubts(written, nonsense, CERTAINTY, null, { direction: "en-zh" }).unlike, null, "not measured");
});

test("the word in most pieces", () => {
  assert.deepEqual(mostCut(tokens(["<2zh>", "a", " q", "wer", " x", "y", "z", "."])), [4, 5, 6]);
  assert.equal(mostCut(tokens(["<2zh>", "I", " am", "!"])), null);
});

test("the bytes of a character are cuts, and an emoji is no word", () => {
  const bytes = ["<0xE9>", "<0xBE>", "<0x98>"].map((text, id) => /** @type {any} */ ({ id, text, special: false, start: 0, end: 1 }));
  assert.deepEqual(wordCuts(bytes), { words: 1, pieces: 3, share: 1 });
  const emoji = ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"].map((text, id) => /** @type {any} */ ({ id, text, special: false, start: 0, end: 1 }));
  assert.equal(wordCuts(emoji).words, 0);
});
