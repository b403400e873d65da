/**
 * Sentences and paragraphs of a text, as groups of its tokens. The text is split on the page, in
 * code points, as token offsets are; a group is identified by the index of its first token.
 */

import { isAdded } from "../../core/wire/tokens.js";

/** @import { Token } from "../../core/wire/wire.js" */
/** @typedef {"sentences" | "paragraphs"} Grouping */

/**
 * The start of each segment of a text, in Unicode code points; the first is 0.
 * @param {string} text
 * @param {Grouping} by
 * @param {string} [lang]  of the text, BCP 47; absent or "": unknown
 * @returns {number[]}
 */
export function starts(text, by, lang = "") {
  const units = by === "paragraphs" ? paragraphs(text) : sentences(text, lang);
  /** @type {number[]} */
  const found = [];
  let [unit, point] = [0, 0];
  for (const start of units) {
    // A surrogate pair of two UTF-16 units is one code point.
    for (; unit < start; unit++, point++) if (isPair(text, unit)) unit++;
    found.push(point);
  }
  return found;
}

/** @param {string} text @param {number} at */
const isPair = (text, at) => (text.codePointAt(at) ?? 0) > 0xffff;

/** White space alone is none, and belongs to the one before. @param {string} text @param {string} lang @returns {number[]}  in UTF-16 units */
function sentences(text, lang) {
  const segmenter = new Intl.Segmenter(lang || undefined, { granularity: "sentence" });
  const found = Array.from(segmenter.segment(text)).filter(({ index, segment }) => index === 0 || /\S/.test(segment));
  return found.map(({ index }) => index);
}

/**
 * A blank line begins a paragraph; in a text without blank lines, every line does.
 * @param {string} text
 * @returns {number[]}
 */
function paragraphs(text) {
  const blank = /\n[^\S\n]*\n\s*/g;
  const breaks = [...text.matchAll(blank)].length ? blank : /\n\s*/g;
  const ends = Array.from(text.matchAll(breaks), ({ index, 0: { length } }) => index + length);
  return [0, ...ends.filter((end) => end < text.length)];
}

/**
 * The groups of a text's tokens: a token belongs to the segment that contains its middle; a token
 * that is not of the text, such as a special one, is its own group.
 * @param {Pick<Token, "start" | "end" | "special" | "template">[]} tokens
 * @param {number[]} starts  of the segments, ascending, in code points
 * @returns {number[]}  edges: the first token of each group, and the number of tokens
 */
export function edgesOf(tokens, starts) {
  /** @type {number[]} */
  const edges = [];
  let segment = 0;
  let before = NaN;
  tokens.forEach((token, i) => {
    const [{ start, end }, added] = [token, isAdded(token)];
    const middle = (start + Math.max(start, end - 1)) / 2;
    while (!added && segment + 1 < starts.length && starts[segment + 1] <= middle) segment++;
    const group = added ? -1 - i : segment;
    if (group !== before) edges.push(i);
    before = group;
  });
  return [...edges, tokens.length];
}

/** The group that a token is in. @param {number[]} edges @param {number} token */
export function groupAt(edges, token) {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= token) low = middle;
    else high = middle;
  }
  return low;
}
