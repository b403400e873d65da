/**
 * Which source word each written word is aligned with, read off cross attention.
 *
 * Soft: the weights themselves, word by word. Hard: the source word with the largest weight, one
 * for each written word, as Garg et al. 2019 read it off the heads of a layer ("Jointly Learning to
 * Align and Translate with Transformer Models"). A decoder row has read one token and writes the
 * next: its weights belong to the *written* token, or, read off the other way, to the one that it
 * has *read*: by then the decoder knows which it is (Chen et al. 2020, "Accurate Word Alignment
 * Induction from Neural Machine Translation").
 *
 * That a word is looked at does not prove that it was translated: Jain & Wallace 2019, "Attention
 * is not Explanation".
 */

import { fold } from "./aggregate-attention.js";
import { joined, words } from "../data/word-groups.js";

/** @typedef {import("../data/wire.js").Matrix} Matrix */
/** @typedef {import("../data/wire.js").Token} Token */
/** @typedef {{tokens: Token[], groups: number[][]}} Line  words, and the trace's tokens in each */
/**
 * @typedef {object} Alignment
 * @property {Line} source  without special tokens
 * @property {Line} target  the written words, without <eos>
 * @property {Matrix} soft  [written word, source word]; a row adds up to 1 less what is left out
 * @property {number[]} hard  the source word of each written word; −1 where it looks at none
 * @property {number[]} special  what each written word gives to special tokens; NaN where it has no row
 */
/** @typedef {"writes" | "reads"} Rows  the rows that write a word, or those that read it, one later */
/** @typedef {{from: number, to: number, weight: number, hard: boolean}} Link  source word, written word */

/**
 * @param {{read: Token[], written: Token[]}} tokens
 * @param {Matrix} weights  [written token, token that is read], NaN where masked
 * @param {Rows} [by]
 * @returns {Alignment}
 */
export function alignment({ read, written }, weights, by = "writes") {
  const source = line(read);
  const target = line(written.slice(0, weights.rows));
  // Nothing has read what was written last.
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
 * The lines worth drawing, the strongest last: each hard one, and every soft one that is not faint.
 * @param {Pick<Alignment, "soft" | "hard">} alignment
 * @param {number} threshold
 * @returns {{links: Link[], faint: number}}  faint: how many pairs are not drawn
 */
export function links({ soft, hard }, threshold) {
  /** @type {Link[]} */
  const found = [];
  let faint = 0;
  soft.values.forEach((weight, i) => {
    const [to, from] = [Math.floor(i / soft.cols), i % soft.cols];
    const best = hard[to] === from;
    if (best || weight >= threshold) found.push({ from, to, weight, hard: best });
    else if (weight > 0) faint++;
  });
  return { links: found.sort((a, b) => a.weight - b.weight), faint };
}

/**
 * The word that a token is a piece of.
 * @param {Line} line
 * @param {number | null} token
 * @returns {number}  −1 where it is none of these
 */
export function wordOf({ groups }, token) {
  return token === null ? -1 : groups.findIndex((group) => group.includes(token));
}

/** @param {Token[]} tokens @returns {Line} */
function line(tokens) {
  const groups = words(tokens).filter(([first]) => !tokens[first].special);
  return { tokens: joined(tokens, groups), groups };
}

/** @param {Matrix} matrix @param {number} row */
function largest({ cols, values }, row) {
  let best = -1;
  let most = 0;
  values.subarray(row * cols, (row + 1) * cols).forEach((weight, col) => {
    if (weight > most) [best, most] = [col, weight];
  });
  return best;
}
