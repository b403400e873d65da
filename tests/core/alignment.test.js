import assert from "node:assert/strict";
import { test } from "node:test";

import { alignment, links, wordOf } from "../../static/js/core/compute/alignment.js";

/** @param {string} text @param {number} start @param {boolean} [special] */
const token = (text, start, special = false) => ({
  text,
  id: 0,
  start,
  end: start + (special ? 0 : text.length),
  special,
});

/** "The unhappy cat" -> 猫难过, the middle word in two pieces. */
const TRACE = {
  read: [token("<2zh>", 0, true), token("The", 0), token(" un", 3), token("happy", 6), token("<eos>", 0, true)],
  written: [token("猫", 0), token("难", 1), token("<eos>", 0, true)],
};
const WEIGHTS = {
  rows: 3,
  cols: 5,
  values: Float32Array.of(0.5, 0.25, 0.125, 0, 0.125, 0, 0.25, 0.25, 0.5, 0, 1, 0, 0, 0, 0),
};

test("words are joined, special tokens left out, what they had is said", () => {
  const found = alignment(TRACE, WEIGHTS);
  assert.deepEqual(found.source.tokens.map(({ text }) => text), ["The", " unhappy"]);
  assert.deepEqual(found.target.tokens.map(({ text }) => text), ["猫", "难"]);
  assert.deepEqual([...found.soft.values], [0.25, 0.125, 0.25, 0.75]);
  assert.deepEqual(found.special, [0.625, 0]);
  assert.deepEqual(found.hard, [0, 1]);
});

test("rows and what was left out add up to one", () => {
  const { soft, special } = alignment(TRACE, WEIGHTS);
  special.forEach((mass, row) => {
    const sum = [...soft.values].slice(row * soft.cols, (row + 1) * soft.cols).reduce((a, b) => a + b);
    assert.equal(sum + mass, 1);
  });
});

test("a written word of several pieces is the mean of its rows", () => {
  const trace = { ...TRACE, written: [token("un", 0), token("happy", 2)] };
  const { soft, target } = alignment(trace, { ...WEIGHTS, rows: 2, values: WEIGHTS.values.subarray(0, 10) });
  assert.deepEqual(target.groups, [[0, 1]]);
  assert.deepEqual([...soft.values], [0.25, 0.4375]);
});

test("a word that looks at special tokens alone is aligned with none", () => {
  const nothing = { rows: 3, cols: 5, values: Float32Array.from(WEIGHTS.values, (_, i) => (i % 5 ? 0 : 1)) };
  const found = alignment(TRACE, nothing);
  assert.deepEqual(found.hard, [-1, -1]);
  assert.deepEqual(links(found, 0.1), { links: [], faint: 0 });
});

test("faint lines are counted, the hard one is drawn however faint", () => {
  const found = alignment(TRACE, WEIGHTS);
  const { links: shown, faint } = links(found, 0.3);
  assert.deepEqual(shown, [
    { from: 0, to: 0, weight: 0.25, hard: true },
    { from: 1, to: 1, weight: 0.75, hard: true },
  ]);
  assert.equal(faint, 2);
});

test("a token is found in its word", () => {
  const { source } = alignment(TRACE, WEIGHTS);
  assert.deepEqual([0, 1, 2, 3, null].map((at) => wordOf(source, at)), [-1, 0, 1, 1, -1]);
});

test("by the rows that read, a word's row is the one after it", () => {
  const found = alignment(TRACE, WEIGHTS, "reads");
  assert.deepEqual([...found.soft.values], [0.25, 0.75, 0, 0]);
  assert.deepEqual(found.hard, [1, -1]);
  assert.deepEqual(found.special, [0, 1]);
});

test("what was written last has been read by nothing", () => {
  const trace = { ...TRACE, written: TRACE.written.slice(0, 2) };
  const found = alignment(trace, { ...WEIGHTS, rows: 2, values: WEIGHTS.values.subarray(0, 10) }, "reads");
  assert.deepEqual([...found.soft.values], [0.25, 0.75, NaN, NaN]);
  assert.deepEqual(found.hard, [1, -1]);
  assert.deepEqual(found.special, [0, NaN]);
  assert.deepEqual(links(found, 0.1).links.map(({ to }) => to), [0, 0]);
});

test("a word whose last piece nothing has read goes by those that were", () => {
  const trace = { ...TRACE, written: [token("un", 0), token("happy", 2)] };
  const { soft, special } = alignment(trace, { ...WEIGHTS, rows: 2, values: WEIGHTS.values.subarray(0, 10) }, "reads");
  assert.deepEqual([...soft.values], [0.25, 0.75]);
  assert.deepEqual(special, [0]);
});
