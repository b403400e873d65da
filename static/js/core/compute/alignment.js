/**
 * Align each written word with a source word, by cross-attention.
 *
 * Soft alignment: the weights themselves, word by word. Hard alignment: for each written word the
 * source word with the largest weight, as in Garg et al. 2019 ("Jointly Learning to Align and
 * Translate with Transformer Models"). A decoder row has read one token and writes the next: its
 * weights are assigned to the *written* token or, alternatively, to the one that it has *read*,
 * which the decoder knows by then (Chen et al. 2020, "Accurate Word Alignment Induction from Neural
 * Machine Translation").
 *
 * Attention to a word does not prove that this word is being translated: Jain & Wallace 2019,
 * "Attention is not Explanation".
 */

import { fold } from "./aggregate-attention.js";

/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Matrix } from "../wire/safetensors.js" */

// Which tokens form a word, from the pieces of a subword encoding.
//
// Adjacent letters, digits and apostrophes form a word, and so do the bytes of one character. A
// Chinese character is a word by itself, because the text does not mark word boundaries; so are
// punctuation and special tokens. A space that is a token of its own (sentencepiece) belongs to what
// follows.

const BYTES = /^\s?(?:<0x[0-9A-F]{2}>)+$/;
const BYTE = /<0x([0-9A-F]{2})>/g;
const ENDS = /[\p{L}\p{M}\p{N}'’]$/u;
const BEGINS = /^[\p{L}\p{M}\p{N}'’]/u;
const SPACE = " ";
const HAN = /\p{Script=Han}/u;

/**
 * @param {TokenReply[]} tokens
 * @returns {number[][]}  the tokens of each word, in order
 */
export function words(tokens) {
  const characters = spans(tokens);
  /** @type {number[][]} */
  const groups = [];
  let before = "";
  let end = -1;
  /** @type {boolean | undefined} */
  let around;
  for (const group of characters) {
    const { special, template, start } = tokens[group[0]];
    const text = spelled(tokens, group);
    const adjacent = !special && start === end && template === around;
    const goes = ENDS.test(before) && BEGINS.test(text) && !HAN.test(before.slice(-1)) && !HAN.test(text[0]);
    if (adjacent && (before === SPACE || goes)) groups[groups.length - 1].push(...group);
    else groups.push(group);
    around = template;
    before = special ? "" : text;
    end = special ? -1 : tokens[group[group.length - 1]].end;
  }
  return groups;
}

/**
 * Each token as its own group.
 * @param {TokenReply[]} tokens
 */
export const singles = (tokens) => tokens.map((_, i) => [i]);

/**
 * Words as tokens, for labelling.
 * @param {TokenReply[]} tokens
 * @param {number[][]} groups
 * @returns {TokenReply[]}
 */
export function joined(tokens, groups) {
  return groups.map((group) => {
    if (group.length === 1) return tokens[group[0]];
    const [first, last] = [tokens[group[0]], tokens[group[group.length - 1]]];
    return { ...first, text: spelled(tokens, group), end: last.end };
  });
}

/**
 * Bytes that share the span of one character.
 * @param {TokenReply[]} tokens
 * @returns {number[][]}
 */
function spans(tokens) {
  /** @type {number[][]} */
  const groups = [];
  tokens.forEach((token, i) => {
    const before = tokens[i - 1];
    const isSameCharacter =
      before && BYTES.test(token.text) && BYTES.test(before.text) &&
      token.end > token.start && token.start === before.start && token.end === before.end;
    if (isSameCharacter) groups[groups.length - 1].push(i);
    else groups.push([i]);
  });
  return groups;
}

/** The text of adjacent tokens; bytes are decoded. @param {TokenReply[]} tokens @param {number[]} group */
export function spelled(tokens, group) {
  let text = "";
  /** @type {number[]} */
  let bytes = [];
  const flush = () => {
    if (bytes.length) text += new TextDecoder().decode(Uint8Array.from(bytes));
    bytes = [];
  };
  for (const i of group) {
    const piece = tokens[i].text;
    if (group.length > 1 && BYTES.test(piece)) {
      if (/^\s/.test(piece)) text += " ";
      bytes.push(...[...piece.matchAll(BYTE)].map(([, byte]) => Number.parseInt(byte, 16)));
    } else {
      flush();
      text += piece;
    }
  }
  flush();
  return text;
}

/** @typedef {{tokens: TokenReply[], groups: number[][]}} Line  words, and the trace's tokens in each */
/**
 * @typedef {object} Alignment
 * @property {Line} source  without special tokens
 * @property {Line} target  the written words, without <eos>
 * @property {Matrix} soft  [written word, source word]; a row sums to 1 minus what is left out
 * @property {number[]} hard  the source word of each written word; −1 if it looks at none
 * @property {number[]} special  the weight of each written word on special tokens; NaN if it has no
 *   row
 */
/** @typedef {"writes" | "reads"} Rows  the rows that write a word, or those that read it, one later */
/** @typedef {{from: number, to: number, weight: number, hard: boolean}} Link  source word, written word */

/**
 * @param {{read: TokenReply[], written: TokenReply[]}} tokens
 * @param {Matrix} weights  [written token, source token], NaN where masked
 * @param {Rows} [by]
 * @returns {Alignment}
 */
export function alignment({ read, written }, weights, by = "writes") {
  const source = line(read);
  const target = line(written.slice(0, weights.rows));
  // No row has read the last written token.
  const rows = target.groups.map((group) =>
    by === "writes" ? group : group.map((token) => token + 1).filter((row) => row < weights.rows),
  );
  const soft = fold(weights, rows, source.groups);
  const specials = read.flatMap(({ special }, i) => (special ? [i] : []));
  const mass = fold(weights, rows, [specials]);
  return {
    source,
    target,
    soft,
    hard: target.groups.map((_, row) => largest(soft, row)),
    special: [...mass.values].map((value, word) => (rows[word].length ? value || 0 : NaN)),
  };
}

/**
 * The lines to draw, strongest last: all hard ones, and the soft ones above the threshold.
 * @param {Pick<Alignment, "soft" | "hard">} alignment
 * @param {number} threshold
 * @returns {{links: Link[], faint: number}}  faint: number of pairs not drawn
 */
export function links({ soft, hard }, threshold) {
  /** @type {Link[]} */
  const drawn = [];
  let faint = 0;
  soft.values.forEach((weight, i) => {
    const [to, from] = [Math.floor(i / soft.cols), i % soft.cols];
    const best = hard[to] === from;
    if (best || weight >= threshold) drawn.push({ from, to, weight, hard: best });
    else if (weight > 0) faint++;
  });
  return { links: drawn.sort((a, b) => a.weight - b.weight), faint };
}

/**
 * The word that a token belongs to.
 * @param {Line} line
 * @param {number | null} token
 * @returns {number}  −1 if it belongs to none
 */
export function wordOf({ groups }, token) {
  return token === null ? -1 : groups.findIndex((group) => group.includes(token));
}

/** @param {TokenReply[]} tokens @returns {Line} */
function line(tokens) {
  const groups = words(tokens).filter(([first]) => !tokens[first].special);
  return { tokens: joined(tokens, groups), groups };
}

/** @param {Matrix} matrix @param {number} row */
function largest({ cols, values }, row) {
  let best = -1;
  let largestWeight = 0;
  values.subarray(row * cols, (row + 1) * cols).forEach((weight, col) => {
    if (weight > largestWeight) [best, largestWeight] = [col, weight];
  });
  return best;
}
