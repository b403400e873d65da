/**
 * Compare two runs: align their tokens and subtract their weights.
 *
 * Tokens are aligned as `diff` aligns lines: by a longest common subsequence (Hunt & McIlroy 1976).
 * A token without a partner gets its own row or column, with a gap in the other run.
 */

import { COVER } from "./aggregate-attention.js";

/** @import { Matrix } from "../wire/safetensors.js" */

/**
 * One position of the axis shared by both runs: null if a run has no such token.
 * @typedef {{a: number | null, b: number | null}} Pair
 */
/** @typedef {{matrix: Matrix, cover: Uint8Array}} Covered */
/** @typedef {{row: number, col: number, a: number, b: number, change: number}} Change */

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Pair[]}  in the order of both; where they differ, a's tokens come first
 */
export function align(a, b) {
  const lengths = common(a, b);
  /** @type {Pair[]} */
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push({ a: i++, b: j++ });
    else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1]))
      pairs.push({ a: i++, b: null });
    else pairs.push({ a: null, b: j++ });
  }
  return pairs;
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Uint16Array[]}  at [i][j], the length of the longest common subsequence of a from i and
 *   b from j
 */
function common(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] =
        a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  return lengths;
}

/**
 * Spread a run's matrix over the shared axes.
 * @param {Matrix} matrix  NaN where masked
 * @param {Pair[]} rows
 * @param {Pair[]} cols
 * @param {"a" | "b"} run
 * @returns {Covered}
 */
export function spread({ values, cols: width, error = 0 }, rows, cols, run) {
  const missing = run === "a" ? COVER.onlyB : COVER.onlyA;
  const size = rows.length * cols.length;
  const spread = { values: new Float32Array(size).fill(NaN), cover: new Uint8Array(size) };
  for (let cell = 0; cell < size; cell++) {
    const row = rows[Math.floor(cell / cols.length)][run];
    const col = cols[cell % cols.length][run];
    const value = row === null || col === null ? NaN : values[row * width + col];
    spread.values[cell] = value;
    if (row === null || col === null) spread.cover[cell] = missing;
    else if (Number.isNaN(value)) spread.cover[cell] = COVER.masked;
  }
  const matrix = { rows: rows.length, cols: cols.length, values: spread.values, error };
  return { matrix, cover: spread.cover };
}

/**
 * B − A where both have a number. Other cells say which run has them, or that they are masked.
 * @param {Covered} a
 * @param {Covered} b
 * @returns {Covered}
 */
export function difference(a, b) {
  const values = Float32Array.from(b.matrix.values, (value, i) => value - a.matrix.values[i]);
  const cover = Uint8Array.from(a.cover, (why, i) => {
    const gaps = [why, b.cover[i]].filter((code) => code > COVER.masked);
    return gaps[0] ?? Math.max(why, b.cover[i]);
  });
  return { matrix: { ...a.matrix, values, error: (a.matrix.error ?? 0) + (b.matrix.error ?? 0) }, cover };
}

/**
 * Transpose a matrix.
 * @param {Matrix} matrix
 * @returns {Matrix}
 */
export function transpose({ rows, cols, values, error = 0 }) {
  const turned = Float32Array.from(values, (_, i) => values[(i % rows) * cols + Math.floor(i / rows)]);
  return { rows: cols, cols: rows, values: turned, error };
}

/**
 * The cells that changed most. Cells equal to four decimals count as unchanged.
 * @param {Covered} a
 * @param {Covered} b
 * @param {number} count
 * @returns {Change[]}  largest first
 */
export function changes(a, b, count) {
  const { cols } = a.matrix;
  /** @type {Change[]} */
  const changed = [];
  a.matrix.values.forEach((before, i) => {
    const after = b.matrix.values[i];
    const change = after - before;
    if (Math.abs(change) < 5e-5 || Number.isNaN(change)) return;
    changed.push({ row: Math.floor(i / cols), col: i % cols, a: before, b: after, change });
  });
  return changed.sort((x, y) => Math.abs(y.change) - Math.abs(x.change)).slice(0, count);
}

/**
 * The limit of the symmetric scale of a difference.
 * @param {Matrix} matrix
 */
export function reach({ values }) {
  let limit = 0;
  for (const value of values) if (Math.abs(value) > limit) limit = Math.abs(value);
  return limit;
}

// Change one word of a sentence, to start a comparison: the first word that has a counterpart here
// is replaced; if none has, the word in the middle is removed, since in a decoder only the rows after
// a change can differ.

/** Pairs of the same kind and length, so that the rest of the sentence can stay the same. */
const PAIRS = [
  "mother father", "sister brother", "woman man", "girl boy", "aunt uncle", "daughter son",
  "dog cat", "he she", "him her", "yesterday today", "tomorrow tonight", "morning evening",
  "new old", "big small", "good bad", "hot cold", "tired wide", "happy sad", "long short",
  "hungry thirsty", "rains snows", "black white", "red blue", "book letter", "house school",
  "Monday Friday", "France Italy", "Paris Rome", "three four", "water milk", "妈妈 爸爸", "姐姐 哥哥", "女人 男人", "女孩 男孩", "她 他", "狗 猫", "昨天 今天", "明天 今晚",
  "早上 晚上", "新 旧", "大 小", "好 坏", "冷 热", "累 饿", "长 短", "红 蓝", "书 信", "房子 学校",
];
const WORD = /\p{Script=Han}+|[\p{L}\p{M}'’]+/gu;

const COUNTERPART = new Map(
  PAIRS.flatMap((pair) => {
    const [a, b] = pair.split(" ");
    return [[a, b], [b, a]];
  }),
);

/** @param {string} text @returns {string} */
export function swapped(text) {
  for (const { 0: run, index } of text.matchAll(WORD)) {
    const replacement = /\p{Script=Han}/u.test(run) ? within(run) : counterpart(run);
    if (replacement !== null) return text.slice(0, index) + replacement + text.slice(index + run.length);
  }
  return withoutMiddle(text);
}

/** @param {string} text  Of a text without spaces, a character in the middle is removed. */
function withoutMiddle(text) {
  const words = [...text.matchAll(/\s+[\p{L}\p{M}'’]+/gu)];
  const characters = [...text.matchAll(/\p{Script=Han}/gu)];
  const candidates = words.length ? words : characters.slice(1);
  if (!candidates.length) return text;
  const { 0: word, index } = candidates[Math.floor((candidates.length - 1) / 2)];
  return text.slice(0, index) + text.slice(index + word.length);
}

/** @param {string} word @returns {string | null}  with the case of the word */
function counterpart(word) {
  const replacement = COUNTERPART.get(word) ?? COUNTERPART.get(word.toLowerCase());
  if (!replacement) return null;
  const capital = word[0] !== word[0].toLowerCase();
  return capital ? replacement[0].toUpperCase() + replacement.slice(1) : replacement;
}

/** @param {string} run  of Chinese characters, with no space between its words */
function within(run) {
  for (let start = 0; start < run.length; start++) {
    for (const length of [2, 1]) {
      const replacement = COUNTERPART.get(run.slice(start, start + length));
      if (replacement) return run.slice(0, start) + replacement + run.slice(start + length);
    }
  }
  return null;
}
