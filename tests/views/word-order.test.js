import assert from "node:assert/strict";
import { test } from "node:test";

import { difference, follow, restored, shuffle } from "../../static/js/views/positions/reordering.js";

/**
 * Cut as the server cuts: words with their space, marks and Chinese characters alone. The id is
 * the text, a word at the start being the same as elsewhere.
 * @param {string} text
 */
function tokens(text) {
  const special = (/** @type {string} */ name) => ({ text: name, id: 0, start: 0, end: 0, special: true });
  const found = [...text.matchAll(/ ?(?:\p{Script=Han}|[^\s\p{P}\p{Script=Han}]+|\p{P})/gu)].map((match) => {
    const start = [...text.slice(0, match.index)].length;
    const word = match[0].trim();
    return { text: match[0], id: hash(word), start, end: start + [...match[0]].length, special: false };
  });
  return [special("<2zh>"), ...found, special("<eos>")];
}

/** @param {string} word */
const hash = (word) => [...word].reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7);

for (const text of ["The dog is tired, so it sleeps.", "我不知道她是谁。", "A 🐱 sat on 3 mats!", "Is “he” here?"]) {
  test(`"${text}" in another order has the same words`, () => {
    for (let seed = 0; seed < 20; seed++) {
      const moved = shuffle(text, seed);
      assert.notEqual(moved.text, text);
      assert.deepEqual([...moved.text].sort(), [...text].sort());
      const [before, after] = [tokens(text), tokens(moved.text)];
      const places = follow(before, after, moved);
      assert.ok(places);
      assert.deepEqual(places.map((place) => after[place].text.trim()), before.map(({ text }) => text.trim()));
    }
  });
}

test("marks and spaces stay where they are", () => {
  assert.match(shuffle("The dog is tired, so it sleeps.", 3).text, /^\w+ \w+ \w+ \w+, \w+ \w+ \w+\.$/);
});

test("the same seed is the same order, another one another", () => {
  const text = "one two three four five six seven";
  assert.equal(shuffle(text, 4).text, shuffle(text, 4).text);
  assert.ok(new Set([1, 2, 3, 4, 5, 6].map((seed) => shuffle(text, seed).text)).size > 4);
});

test("what cannot change stays", () => {
  for (const text of ["", "word", "…", "the the the"]) assert.equal(shuffle(text, 1).text, text);
});

test("two words always change places, two alike that are one apart never matter", () => {
  assert.equal(shuffle("big dog", 1).text, "dog big");
});

test("tokens that are cut in another way are not followed", () => {
  const moved = shuffle("big dog", 1);
  const other = tokens(moved.text).map((token, i) => ({ ...token, id: i === 1 ? -1 : token.id }));
  assert.equal(follow(tokens("big dog"), other, moved), null);
  assert.equal(follow(tokens("big dog"), tokens(moved.text).slice(1), moved), null);
});

test("a shuffled matrix goes back into order", () => {
  const matrix = { rows: 3, cols: 3, values: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9) };
  const back = restored(matrix, [2, 0, 1]);
  assert.deepEqual([...back.values], [9, 7, 8, 3, 1, 2, 6, 4, 5]);
  assert.equal(difference(back, back).largest, 0);
  assert.equal(difference(back, matrix).largest, 8);
});
