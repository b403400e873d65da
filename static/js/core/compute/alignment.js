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
import { joined, words } from "./word-groups.js";

/** @import { Matrix, Token } from "../wire/wire.js" */
/** @typedef {{tokens: Token[], groups: number[][]}} Line  words, and the trace's tokens in each */
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
 * @param {{read: Token[], written: Token[]}} tokens
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
 * The word that a token belongs to.
 * @param {Line} line
 * @param {number | null} token
 * @returns {number}  −1 if it belongs to none
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
