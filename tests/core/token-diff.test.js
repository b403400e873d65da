import assert from "node:assert/strict";
import { test } from "node:test";

import { align, changes, difference, reach, spread, transpose } from "../../static/js/core/compute/token-diff.js";
import { attention } from "../../static/js/core/wire/model-description.js";
import { COVER } from "../../static/js/core/compute/aggregate-attention.js";
import { MODEL, trace } from "../js/trace.js";

/** @param {string} text */
const letters = (text) => [...text];

test("one word changed: the rest keeps its partner, both words keep a place", () => {
  assert.deepEqual(align(letters("the dog ran"), letters("the dog ran")).length, 11);
  assert.deepEqual(align(["it", "was", "tired", "."], ["it", "was", "very", "wide", "."]), [
    { a: 0, b: 0 },
    { a: 1, b: 1 },
    { a: 2, b: null },
    { a: null, b: 2 },
    { a: null, b: 3 },
    { a: 3, b: 4 },
  ]);
  assert.deepEqual(align([], ["a"]), [{ a: null, b: 0 }]);
});

/** @param {string[]} a @param {string[]} b @returns {number}  by trying everything */
function longest(a, b) {
  if (!a.length || !b.length) return 0;
  if (a[0] === b[0]) return 1 + longest(a.slice(1), b.slice(1));
  return Math.max(longest(a.slice(1), b), longest(a, b.slice(1)));
}

test("an alignment has every token once, in order, and as many partners as there can be", () => {
  for (let round = 0; round < 300; round++) {
    const word = (/** @type {number} */ salt) =>
      Array.from({ length: (round * salt) % 8 }, (_, i) => "abc"[(round * salt + i * i) % 3]);
    const [a, b] = [word(5), word(7)];
    const pairs = align(a, b);
    const kept = (/** @type {"a" | "b"} */ run) =>
      pairs.map((pair) => pair[run]).filter((i) => i !== null);
    assert.deepEqual([kept("a"), kept("b")], [[...a.keys()], [...b.keys()]]);
    const partners = pairs.filter((pair) => pair.a !== null && pair.b !== null);
    for (const pair of partners) assert.equal(a[Number(pair.a)], b[Number(pair.b)]);
    assert.equal(partners.length, longest(a, b));
  }
});

test("a difference has a number where both have one, and says why it has none", () => {
  const matrix = attention(MODEL, trace(), { block: "decoder", layer: 0, head: 0 });
  const other = attention(MODEL, trace(), { block: "decoder", layer: 0, head: 1 });
  assert.ok(matrix && other);
  const rows = [
    { a: 0, b: 0 },
    { a: 1, b: null },
    { a: null, b: 1 },
  ];
  const cols = [
    { a: 0, b: 0 },
    { a: 1, b: 1 },
  ];
  const [a, b] = [spread(matrix, rows, cols, "a"), spread(other, rows, cols, "b")];
  assert.deepEqual([...a.matrix.values], [1, NaN, 0.25, 0.75, NaN, NaN]);
  const { open, masked, onlyA, onlyB } = COVER;
  assert.deepEqual([...a.cover], [open, masked, open, open, onlyB, onlyB]);
  assert.deepEqual([...b.cover], [open, masked, onlyA, onlyA, open, open]);
  const delta = difference(a, b);
  assert.deepEqual([...delta.matrix.values], [0, NaN, NaN, NaN, NaN, NaN]);
  assert.deepEqual([...delta.cover], [open, masked, onlyA, onlyA, onlyB, onlyB]);
});

test("the largest changes come first, with both numbers", () => {
  const matrices = [0, 1].map((head) => attention(MODEL, trace(), { block: "cross", layer: 0, head }));
  const [one, two] = /** @type {import("../../static/js/core/wire/safetensors.js").Matrix[]} */ (matrices);
  const same = (/** @type {number} */ length) =>
    Array.from({ length }, (_, i) => ({ a: i, b: i }));
  const a = spread(one, same(2), same(3), "a");
  const b = spread(two, same(2), same(3), "b");
  const found = changes(a, b, 2);
  assert.deepEqual(
    found.map(({ row, col, change }) => [row, col, Number(change.toFixed(4))]),
    [
      [0, 0, 0.9],
      [0, 2, -0.7],
    ],
  );
  assert.equal(reach(difference(a, b).matrix).toFixed(4), "0.9000");
  assert.deepEqual(changes(a, a, 5), [], "nothing changed");
});

test("turned over, rows are columns", () => {
  const turned = transpose({ rows: 2, cols: 3, values: Float32Array.of(1, 2, 3, 4, 5, 6) });
  assert.deepEqual([turned.rows, turned.cols, ...turned.values], [3, 2, 1, 4, 2, 5, 3, 6]);
});
