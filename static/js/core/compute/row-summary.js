/**
 * Summarise one row of weights as a finding that claims no more than its numbers. Two weights that
 * are equal as printed (2 decimals) count as equal.
 */

import { two } from "../../lib/numbers.js";

/** @import { Numbers, Matrix } from "../wire/wire.js" */
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
export function finding(row) {
  let weight = 0;
  let open = 0;
  for (const value of row) {
    if (!Number.isNaN(value)) open++;
    if (value > weight) weight = value;
  }
  if (weight === 0) return { kind: "nothing" };
  const said = two(weight);
  /** @type {number[]} */
  const keys = [];
  for (let key = 0; key < row.length; key++) {
    // Format only weights close to the largest, because formatting is slow.
    if (weight - row[key] < 0.011 && two(row[key]) === said) keys.push(key);
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
export function explained({ rows, cols, values }, query, key) {
  if (query >= rows || !cols) return null;
  if (key !== null && key < cols) return { row: query, col: key };
  const found = finding(values.subarray(query * cols, (query + 1) * cols));
  return { row: query, col: "keys" in found ? found.keys[0] : 0 };
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
function worth(weight) {
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
export const salient = (matrix, rows, cols, self) => best(matrix, rows, cols, self, ["most"], (weight) => weight);

/**
 * The row whose calculation to show first: a word that looks at another one, or equally at two,
 * with moderate numbers.
 * @param {Matrix} matrix
 * @param {boolean[]} rows  whether each is a word
 * @param {boolean[]} cols
 * @param {boolean} self  rows and columns are the same tokens
 * @returns {number}
 */
export const followable = (matrix, rows, cols, self) => best(matrix, rows, cols, self, ["most", "both"], worth);


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
    const found = finding(values.subarray(query * width, (query + 1) * width));
    if (!kinds.includes(found.kind) || !("keys" in found) || score(found.weight) <= first.score) continue;
    const says = rows[query] && found.keys.every((key) => cols[key] && !(self && query === key));
    if (says) first = { query, score: score(found.weight) };
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
export function telling({ values, cols: width }, rows, cols, self = false) {
  const [looked, distances] = [new Set(), new Set()];
  let [sum, looks] = [0, 0];
  rows.forEach(({ special }, query) => {
    const found = finding(values.subarray(query * width, (query + 1) * width));
    if (special || found.kind !== "most" || cols[found.keys[0]].special || (self && found.keys[0] === query)) return;
    looked.add(found.keys[0]);
    distances.add(found.keys[0] - query);
    sum += found.weight;
    looks++;
  });
  const varied = self && looks > 1 ? (distances.size - 1) / (looks - 1) : 1;
  return (sum / rows.length) * (looked.size / rows.length) * (FIXED + (1 - FIXED) * varied);
}

/** What a head still tells that looks at a fixed distance. */
const FIXED = 0.1;
