/**
 * Summarise one row of weights as a finding that claims no more than its numbers. Two weights that
 * are equal as printed (2 decimals) count as equal.
 */

import { two } from "../../lib/numbers.js";
import { sum } from "../../lib/vectors.js";
import { scaledDot } from "./scoring.js";

/** @import { Matrix, Numbers } from "../wire/safetensors.js" */

/**
 * @typedef {{kind: "nothing"}
 *   | {kind: "only", keys: [number], weight: number}
 *   | {kind: "most", keys: [number], weight: number}
 *   | {kind: "both", keys: [number, number], weight: number}
 *   | {kind: "spread", keys: number[], weight: number, of: number}} Finding
 */

/**
 * @param {Numbers} row  weights of one query, NaN where masked
 * @returns {Finding}
 */
export function findingOf(row) {
  let weight = 0;
  let open = 0;
  for (const value of row) {
    if (!Number.isNaN(value)) open++;
    if (value > weight) weight = value;
  }
  if (weight === 0) return { kind: "nothing" };
  const weightText = two(weight);
  /** @type {number[]} */
  const keys = [];
  for (let key = 0; key < row.length; key++) {
    // Format only weights close to the largest, because formatting is slow.
    if (weight - row[key] < 0.011 && two(row[key]) === weightText) keys.push(key);
  }
  if (open === 1) return { kind: "only", keys: [keys[0]], weight };
  if (keys.length === 1) return { kind: "most", keys: [keys[0]], weight };
  if (keys.length === 2) return { kind: "both", keys: [keys[0], keys[1]], weight };
  return { kind: "spread", keys, weight, of: open };
}

/**
 * The cell to explain: the highlighted one or, if no column is highlighted, the largest of the row.
 * @param {Matrix} matrix
 * @param {number} query
 * @param {number | null} key
 * @returns {{row: number, col: number} | null}  null if there is no such row
 */
export function explainedCell({ rows, cols, values }, query, key) {
  if (query >= rows || !cols) return null;
  if (key !== null && key < cols) return { row: query, col: key };
  const rowFinding = findingOf(values.subarray(query * cols, (query + 1) * cols));
  return { row: query, col: "keys" in rowFinding ? rowFinding.keys[0] : 0 };
}

/**
 * Weights whose arithmetic is easy to follow: no exponential is nearly all or nearly none of the
 * sum.
 */
const MODERATE = { least: 0.2, most: 0.8 };

/**
 * How suitable a row is as a first example, by its largest weight: best is a clear one that leaves
 * something to other keys (1.2 to 1.8), then a larger one (the less it leaves, the worse; under 1),
 * then small ones by size.
 * @param {number} weight
 */
function rowScore(weight) {
  if (weight > MODERATE.most) return 1 + MODERATE.most - weight;
  return weight < MODERATE.least ? weight : 1 + weight;
}

/**
 * The row to show first: the word that looks most strongly at another word. Rows of special tokens
 * and punctuation, and tokens that look at themselves, are less instructive for a newcomer.
 * @param {Matrix} matrix
 * @param {boolean[]} rows  whether each is a word
 * @param {boolean[]} cols
 * @param {boolean} self  rows and columns are the same tokens
 * @returns {number}
 */
export const mostSalientRow = (matrix, rows, cols, self) => best(matrix, rows, cols, self, ["most"], (weight) => weight);

/**
 * The row whose calculation to show first: a word that looks at another one, or equally at two,
 * with moderate numbers.
 * @param {Matrix} matrix
 * @param {boolean[]} rows  whether each is a word
 * @param {boolean[]} cols
 * @param {boolean} self  rows and columns are the same tokens
 * @returns {number}
 */
export const mostFollowableRow = (matrix, rows, cols, self) => best(matrix, rows, cols, self, ["most", "both"], rowScore);

/**
 * @param {Matrix} matrix
 * @param {boolean[]} rows
 * @param {boolean[]} cols
 * @param {boolean} self
 * @param {Finding["kind"][]} kinds
 * @param {(weight: number) => number} score
 */
function best({ values, cols: width }, rows, cols, self, kinds, score) {
  let first = { query: 0, score: -1 };
  for (let query = 0; query < rows.length; query++) {
    const rowFinding = findingOf(values.subarray(query * width, (query + 1) * width));
    if (!kinds.includes(rowFinding.kind) || !("keys" in rowFinding) || score(rowFinding.weight) <= first.score) continue;
    const isWordToWord = rows[query] && rowFinding.keys.every((key) => cols[key] && !(self && query === key));
    if (isWordToWord) first = { query, score: score(rowFinding.weight) };
  }
  return first.query;
}

/**
 * How informative a head is: the mean weight with which words look at other words, times the share of
 * different words looked at. A head whose rows all look at one token is not informative. In
 * self-attention, neither is one whose rows all look at the same distance.
 * @param {Matrix} matrix
 * @param {{special: boolean}[]} rows
 * @param {{special: boolean}[]} cols
 * @param {boolean} [self]  rows and columns are the same tokens
 * @returns {number}  from 0 to 1
 */
export function informativeness({ values, cols: width }, rows, cols, self = false) {
  const [looked, distances] = [new Set(), new Set()];
  let [sum, lookingRows] = [0, 0];
  rows.forEach(({ special }, query) => {
    const rowFinding = findingOf(values.subarray(query * width, (query + 1) * width));
    if (special || rowFinding.kind !== "most" || cols[rowFinding.keys[0]].special || (self && rowFinding.keys[0] === query)) return;
    looked.add(rowFinding.keys[0]);
    distances.add(rowFinding.keys[0] - query);
    sum += rowFinding.weight;
    lookingRows++;
  });
  const varied = self && lookingRows > 1 ? (distances.size - 1) / (lookingRows - 1) : 1;
  return (sum / rows.length) * (looked.size / rows.length) * (FIXED + (1 - FIXED) * varied);
}

/** What a head still tells that looks at a fixed distance. */
const FIXED = 0.1;

// One row of attention, from its scores to its weights, as it is computed in practice:
//
//     weight_j = exp(score_j − max) / Σ exp(score_m − max)     over unmasked keys
//
// Subtracting the row's largest score changes no weight, because it cancels, and keeps every
// exponential between 0 and 1.

/**
 * @typedef {object} Softmax
 * @property {number} highest  the largest score of the row; −∞ if all are masked
 * @property {number} highestKey  the key that has it; −1 if all are masked
 * @property {Float64Array} shifted  score − highest
 * @property {Float64Array} powers  exp(shifted); 0 where masked
 * @property {number} total  Σ powers: at least 1, at most the number of keys
 * @property {Float64Array} weights  0 where masked
 */
/**
 * @typedef {object} Working  the calculation of one cell
 * @property {number} width  d_k
 * @property {ArrayLike<number>} q
 * @property {ArrayLike<number>} k
 * @property {import("./scoring.js").Scored} scored
 * @property {number} score
 * @property {number} highest
 * @property {number} highestKey  the key with the highest score
 * @property {number} shifted
 * @property {number} power
 * @property {number} total
 * @property {number} weight
 * @property {boolean} masked
 * @property {Softmax & {scores: Float64Array}} row  the row of the cell
 */

/**
 * @param {ArrayLike<number>} scores
 * @param {(key: number) => boolean} may  whether the key is unmasked
 * @returns {Softmax}
 */
export function softmaxRow(scores, may) {
  const all = Array.from(scores);
  const open = all.flatMap((_, key) => (may(key) ? [key] : []));
  const highestKey = open.reduce((best, key) => (best < 0 || all[key] > all[best] ? key : best), -1);
  const highest = highestKey < 0 ? -Infinity : all[highestKey];
  const shifted = Float64Array.from(all, (score) => score - highest);
  const powers = shifted.map((less, key) => (may(key) ? Math.exp(less) : 0));
  const total = sum(powers);
  return { highest, highestKey, shifted, powers, total, weights: powers.map((power) => (total ? power / total : 0)) };
}

/**
 * Compute one cell from q and k: the scores of its row, then their softmax.
 * @param {Matrix} q  [query, channel]
 * @param {Matrix} k  [key, channel]
 * @param {number} query
 * @param {number} key
 * @param {(key: number) => boolean} may  whether the query may attend to it
 * @param {ReturnType<typeof import("./scoring.js").scorer>} [of]  the model's scoring
 * @returns {Working}
 */
export function workedCell(q, k, query, key, may, of = scaledDot) {
  const queryRow = rowOf(q, query);
  const scored = of(queryRow, rowOf(k, key), query, key);
  const scores = Float64Array.from({ length: k.rows }, (_, otherKey) => of(queryRow, rowOf(k, otherKey), query, otherKey).score);
  const row = softmaxRow(scores, may);
  const { highest, highestKey, shifted, powers, total, weights } = row;
  return {
    width: q.cols,
    q: queryRow,
    k: rowOf(k, key),
    scored,
    score: scores[key],
    highest,
    highestKey,
    shifted: shifted[key],
    power: powers[key],
    total,
    weight: weights[key],
    masked: !may(key),
    row: { ...row, scores },
  };
}

/** @param {Matrix} matrix @param {number} index */
const rowOf = ({ cols, values }, index) => values.subarray(index * cols, (index + 1) * cols);
