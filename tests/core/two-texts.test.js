import assert from "node:assert/strict";
import { test } from "node:test";
import { croppedMatrix, directions, placeIn, shownTexts } from "../../static/js/core/store/heatmap-data.js";
import { asOneText } from "../../static/js/core/wire/tokens.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";

/** @param {string} between @param {boolean[]} pairs  of the tokens */
function page(between, pairs = [false, false, false, true, true]) {
  const tokens = pairs.map((pair, id) => ({ text: "a", id, start: 0, end: 1, special: false, pair }));
  return /** @type {any} */ ({ trace: { tokens: { text: tokens } }, model: { texts: ["text"] }, link: { ...DEFAULTS, options: { between } } });
}

test("a filter shows the rows of one text and the columns of one", () => {
  const values = Float32Array.from({ length: 25 }, (_, i) => i);
  const expected = { aa: [0, 1, 2, 5, 6, 7, 10, 11, 12], ab: [3, 4, 8, 9, 13, 14], ba: [15, 16, 17, 20, 21, 22], bb: [18, 19, 23, 24] };
  for (const [between, cells] of Object.entries(expected)) {
    const shown = croppedMatrix({ rows: 5, cols: 5, values }, shownTexts(page(between)));
    assert.deepEqual([...shown.values], cells, between);
    assert.equal(shown.rows * shown.cols, cells.length);
  }
  const whole = { rows: 5, cols: 5, values };
  assert.equal(croppedMatrix(whole, shownTexts(page("all"))), whole);
});

test("a text by itself is not filtered, and is offered no filter", () => {
  const alone = page("ab", [false, false]);
  assert.equal(shownTexts(alone), null);
  assert.deepEqual(directions((text) => text, alone), {});
  assert.deepEqual(Object.values(directions((text) => text, page("all"))), ["both", "A → A", "A → B", "B → A", "B → B"]);
});

test("a token that is left out has no place", () => {
  const texts = shownTexts(page("ba"));
  assert.deepEqual([2, 3, 4, null].map((token) => placeIn(texts?.rows, token)), [null, 0, 1, null]);
  assert.deepEqual([2, 3].map((token) => placeIn(texts?.cols, token)), [2, null]);
  assert.equal(placeIn(undefined, 3), 3);
});

test("the spans of two texts are those of one text of two lines", () => {
  const tokens = [{ start: 0, end: 2, pair: false }, { start: 0, end: 0, pair: false }, { start: 0, end: 3, pair: true }, { start: 0, end: 0, pair: true }];
  const { text, tokens: moved } = asOneText(tokens, "\u{1f600}b", "dog");
  assert.equal(text, "\u{1f600}b\ndog");
  assert.deepEqual(moved.map(({ start, end }) => [...text].slice(start, end).join("")), ["\u{1f600}b", "", "dog", ""]);
  assert.deepEqual(asOneText(tokens, "hi", null), { tokens, text: "hi" });
});
