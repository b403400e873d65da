import assert from "node:assert/strict";
import { test } from "node:test";

import { joined, singles, words } from "../../static/js/core/compute/alignment.js";

/**
 * Tokens as the server cuts them: [text, start, end].
 * @param {[string, number, number][]} pieces
 */
const cut = (pieces) =>
  pieces.map(([text, start, end]) => ({ text, id: 0, start, end, special: start === end }));
/** @param {ReturnType<typeof cut>} tokens */
const spelled = (tokens) => joined(tokens, words(tokens)).map(({ text }) => text);

test("pieces of a word are one word, marks and special tokens stay apart", () => {
  const tokens = cut([
    ["<2zh>", 0, 0],
    ["She", 0, 3],
    [" didn", 3, 8],
    ["'t", 8, 10],
    [" un", 10, 13],
    ["b", 13, 14],
    ["able", 14, 18],
    [".", 18, 19],
    ["<eos>", 0, 0],
  ]);
  assert.deepEqual(words(tokens), [[0], [1], [2, 3], [4, 5, 6], [7], [8]]);
  assert.deepEqual(spelled(tokens), ["<2zh>", "She", " didn't", " unbable", ".", "<eos>"]);
  const [, , word] = joined(tokens, words(tokens));
  assert.deepEqual([word.start, word.end, word.special], [3, 10, false]);
});

test("a space that is a token of its own belongs to what follows", () => {
  const tokens = cut([["was", 0, 3], [" ", 3, 4], ["re", 4, 6], ["named", 6, 11], [" ", 11, 12], ["你好", 12, 14], [" ", 14, 15], ["(", 15, 16]]);
  assert.deepEqual(words(tokens), [[0], [1, 2, 3], [4, 5], [6, 7]]);
  assert.deepEqual(spelled(tokens), ["was", " renamed", " 你好", " ("]);
  assert.deepEqual(words(cut([["a", 0, 1], ["\n", 1, 2], ["b", 2, 3]])), [[0], [1], [2]]);
});

test("a chat's template is not of one word with the text", () => {
  const template = cut([["user", 0, 0]]).map((one) => ({ ...one, special: false, template: true }));
  const tokens = [...template, ...template, ...cut([["Hel", 0, 3], ["lo", 3, 5]]), ...template];
  assert.deepEqual(words(tokens), [[0, 1], [2, 3], [4]]);
});

test("the bytes of a character keep the space before it", () => {
  const tokens = cut([["a", 0, 1], [" <0xE7>", 2, 3], ["<0x8C><0xAB>", 2, 3]]);
  assert.deepEqual(spelled(tokens), ["a", " 猫"]);
});

test("Chinese characters stand for themselves, Latin pieces beside them join", () => {
  const tokens = cut([
    ["很", 0, 1],
    ["好", 1, 2],
    ["O", 2, 3],
    ["K", 3, 4],
    ["了", 4, 5],
  ]);
  assert.deepEqual(spelled(tokens), ["很", "好", "OK", "了"]);
});

test("the bytes of one character become it, and a letter among them joins its word", () => {
  const tokens = cut([
    [" na", 0, 3],
    ["<0xC3>", 3, 4],
    ["<0xAF>", 3, 4],
    ["ve", 4, 6],
    [" ", 6, 7],
    ["<0xF0>", 7, 8],
    ["<0x9F>", 7, 8],
    ["<0x90>", 7, 8],
    ["<0xB1>", 7, 8],
    ["c", 8, 9],
  ]);
  assert.deepEqual(spelled(tokens), [" naïve", " 🐱", "c"]);
});

test("words cover every token once, in order", () => {
  const tokens = cut([
    ["a", 0, 1],
    ["b", 1, 2],
    [" 3", 2, 4],
    [".", 4, 5],
    ["1", 5, 6],
    ["4", 6, 7],
  ]);
  assert.deepEqual(words(tokens).flat(), singles(tokens).flat());
  assert.deepEqual(spelled(tokens), ["ab", " 3", ".", "14"]);
});

test("a piece may be several bytes of a character", () => {
  const tokens = cut([
    ["<0xE6><0x88>", 0, 1],
    ["<0x91>", 0, 1],
    [" ok", 1, 4],
  ]);
  assert.deepEqual(spelled(tokens), ["我", " ok"]);
});
