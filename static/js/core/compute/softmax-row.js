/**
 * One row of attention, from its scores to its weights, as it is computed in practice:
 *
 *     weight_j = exp(score_j − max) / Σ exp(score_m − max)     over unmasked keys
 *
 * Subtracting the row's largest score changes no weight, because it cancels, and keeps every
 * exponential between 0 and 1.
 */

import { sum } from "../../lib/vectors.js";
import { scaledDot } from "./scoring.js";

/** @import { Matrix } from "../wire/wire.js" */
/**
 * @typedef {object} Softmax
 * @property {number} highest  the largest score of the row; −∞ if all are masked
 * @property {number} at  the key that has it; −1 if all are masked
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
 * @property {number} at  the key with the highest score
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
  const at = open.reduce((best, key) => (best < 0 || all[key] > all[best] ? key : best), -1);
  const highest = at < 0 ? -Infinity : all[at];
  const shifted = Float64Array.from(all, (score) => score - highest);
  const powers = shifted.map((less, key) => (may(key) ? Math.exp(less) : 0));
  const total = sum(powers);
  return { highest, at, shifted, powers, total, weights: powers.map((power) => (total ? power / total : 0)) };
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
export function working(q, k, query, key, may, of = scaledDot) {
  const own = rowOf(q, query);
  const scored = of(own, rowOf(k, key), query, key);
  const scores = Float64Array.from({ length: k.rows }, (_, other) => of(own, rowOf(k, other), query, other).score);
  const row = softmaxRow(scores, may);
  const { highest, at, shifted, powers, total, weights } = row;
  return {
    width: q.cols,
    q: own,
    k: rowOf(k, key),
    scored,
    score: scores[key],
    highest,
    at,
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
