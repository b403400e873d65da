/**
 * Shuffle the words of a sentence, and find its tokens in the shuffled one. Punctuation and spaces
 * stay in place; a Chinese character is a word by itself.
 */

/** @import { TokenReply } from "../../core/wire/schemas.d.ts" */
/** @import { Matrix } from "../../core/wire/wire.js" */
/** @typedef {{start: number, end: number}} Span  in code points, half open */

const WORD = /\p{Script=Han}|[\p{L}\p{M}\p{N}](?:[^\s\p{Script=Han}]*[\p{L}\p{M}\p{N}])?/gu;

/**
 * @param {string} text
 * @param {number} seed  selects the order
 * @returns {{text: string, from: Span[], to: Span[]}}  the words in their original order, and where
 *   each of them now is
 */
export function shuffle(text, seed) {
  const found = [...text.matchAll(WORD)].map((match) => ({ word: match[0], at: match.index }));
  const order = permutation(found.map(({ word }) => word), seed);
  const from = found.map(({ word, at }) => span(length(text.slice(0, at)), word));
  /** @type {Span[]} */
  const to = [];
  let out = "";
  let read = 0;
  found.forEach(({ word, at }, place) => {
    out += text.slice(read, at);
    const moved = found[order[place]].word;
    to[order[place]] = span(length(out), moved);
    out += moved;
    read = at + word.length;
  });
  return { text: out + text.slice(read), from, to };
}

/**
 * The index of each token of the sentence in the shuffled one.
 * @param {TokenReply[]} tokens  of the sentence
 * @param {TokenReply[]} shuffled
 * @param {{from: Span[], to: Span[]}} moves
 * @returns {number[] | null}  null if the tokenizer splits the words differently
 */
export function follow(tokens, shuffled, { from, to }) {
  if (tokens.length !== shuffled.length) return null;
  const places = new Array(tokens.length).fill(-1);
  const taken = new Set();
  from.forEach((span, word) => {
    const before = inside(tokens, span);
    const after = inside(shuffled, to[word]);
    before.forEach((i, piece) => {
      places[i] = after[piece] ?? -1;
      taken.add(after[piece]);
    });
  });
  const rest = shuffled.map((_, i) => i).filter((i) => !taken.has(i));
  const still = places.map((_, i) => i).filter((i) => places[i] < 0);
  still.forEach((i, n) => (places[i] = rest[n] ?? -1));
  const same = places.every((place, i) => shuffled[place]?.id === tokens[i].id);
  return same && new Set(places).size === places.length ? places : null;
}

/**
 * Put rows and columns of a shuffled sentence's matrix back into the order of the sentence.
 * @param {Matrix} matrix
 * @param {number[]} places  the index of each token of the sentence
 * @returns {Matrix}
 */
export function restored({ rows, cols, values }, places) {
  const out = values.map((_, i) => values[places[Math.floor(i / cols)] * cols + places[i % cols]]);
  return { rows, cols, values: out };
}

/**
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {{matrix: Matrix, largest: number}}  a − b, and the largest absolute difference
 */
export function difference(a, b) {
  const values = Float32Array.from(a.values, (value, i) => value - b.values[i]);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
  return { matrix: { ...a, values }, largest };
}

/**
 * A permutation that changes the sequence of words, if there is one.
 * @param {string[]} words
 * @param {number} seed
 * @returns {number[]}  for each place, the word that is now there
 */
function permutation(words, seed) {
  const order = words.map((_, i) => i);
  const random = generator(seed);
  for (let i = order.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [order[i], order[other]] = [order[other], order[i]];
  }
  const reads = order.every((word, place) => words[word] === words[place]);
  return reads && order.length > 1 ? [...order.slice(1), order[0]] : order;
}

/**
 * A seeded generator that gives the same numbers everywhere ("mulberry32", after Steele & Vigna).
 * @param {number} seed
 */
function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {string} text  in code points */
const length = (text) => [...text].length;
/** @param {number} start @param {string} word @returns {Span} */
const span = (start, word) => ({ start, end: start + length(word) });
/** @param {TokenReply[]} tokens @param {Span} span */
const inside = (tokens, { start, end }) =>
  tokens.flatMap((token, i) => (!token.special && token.end > start && token.start < end ? [i] : []));
