import assert from "node:assert/strict";
import { test } from "node:test";

import { coveringTokens, equalTokens, trimmed } from "../../static/js/compare-models/model-comparison.js";

/** @import { Piece } from "../../static/js/compare-models/model-comparison.js" */

/** @param {string} text @param {number} start @param {number} end @returns {Piece} */
const piece = (text, start, end, special = false) => ({ text, start, end, special });

/** A generator of numbers below 1 (mulberry32). @param {number} seed */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Cut a text at random into pieces, some of them with several tokens of the same characters. @param {string} text @param {() => number} next @returns {Piece[]} */
function cut(text, next) {
  const pieces = [piece("<s>", 0, 0, true)];
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + 1 + Math.floor(next() * 4));
    const times = next() < 0.2 ? 2 : 1;
    for (let i = 0; i < times; i++) pieces.push(piece(text.slice(start, end), start, end));
    start = end;
  }
  return pieces;
}

test("tokens of the same characters are lit, which brute force over the characters confirms", () => {
  const next = random(1);
  for (let n = 0; n < 200; n++) {
    const text = "abcdefghijklmnopqrst".slice(0, 1 + Math.floor(next() * 20));
    const [a, b] = [cut(text, next), cut(text, next)];
    const characters = (/** @type {Piece} */ { start, end }) => new Set(Array.from({ length: end - start }, (_, i) => start + i));
    const pairs = equalTokens(a, b);
    a.forEach((one, i) => {
      const own = characters(one);
      const touched = b.flatMap((other, j) => ([...characters(other)].some((at) => own.has(at)) ? [j] : []));
      const found = coveringTokens(a, i, b);
      const equal = pairs.find((pair) => pair.a === i);
      if (equal) assert.deepEqual(found, { first: equal.b, last: equal.b });
      else if (!touched.length) assert.equal(found, null);
      else assert.deepEqual(found, { first: touched[0], last: touched.at(-1) });
      // A token is equal to one that covers just its characters, where both have as many of these.
      const alike = (/** @type {Piece[]} */ all) => all.flatMap((other, j) => (!other.special && String([...characters(other)]) === String([...own]) ? [j] : []));
      const [mine, theirs] = [alike(a), alike(b)];
      if (!one.special) assert.equal(equal?.b, mine.length === theirs.length ? theirs[mine.indexOf(i)] : undefined);
    });
    assert.deepEqual(pairs[0], { a: 0, b: 0 }, "special tokens of the same name");
  }
});

test("special tokens have no characters, and are equal by name", () => {
  const a = [piece("[CLS]", 0, 0, true), piece("a", 0, 1), piece("</s>", 0, 0, true)];
  const b = [piece("a", 0, 1), piece("</s>", 0, 0, true)];
  assert.deepEqual(equalTokens(a, b), [{ a: 1, b: 0 }, { a: 2, b: 1 }]);
  assert.equal(coveringTokens(a, 0, b), null);
  assert.equal(coveringTokens(a, 9, b), null, "there is no such token");
  assert.deepEqual(equalTokens([piece(" ", 1, 1)], [piece(" ", 1, 1)]), [], "nor has a space by itself");
});

test("a space at the end of a token does not count; characters are code points", () => {
  const characters = [..."a 😀 b"];
  assert.deepEqual(trimmed(piece(" 😀", 1, 3), characters), piece(" 😀", 2, 3));
  assert.deepEqual(trimmed(piece("b ", 4, 5), characters), piece("b ", 4, 5));
  assert.deepEqual(trimmed(piece(" ", 1, 2), characters), piece(" ", 2, 2));
});
