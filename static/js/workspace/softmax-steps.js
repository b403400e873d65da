/**
 * Animate a row of attention from scores to weights: each step has one bar per key, and between two
 * steps the bars are interpolated.
 */

/** @typedef {{from: number, to: number}} Bar  of a track from 0 to 1 */
/** @typedef {{values: number[], bars: Bar[]}} Step */

/** The steps, in order: the scores, minus the largest, e to that power, divided by the sum. */
export const STEPS = /** @type {const} */ (["score", "less", "exp", "weight"]);
export const LAST = STEPS.length - 1;

/**
 * @param {{scores: ArrayLike<number>, shifted: ArrayLike<number>, powers: ArrayLike<number>}} row
 * @param {ArrayLike<number>} weights  the model's own weights, as shown
 * @param {number[]} keys  the keys shown
 * @returns {Step[]}  one for each of STEPS
 */
export function stepsOf({ scores, shifted, powers }, weights, keys) {
  return [scores, shifted, powers, weights].map((all, n) => {
    const values = keys.map((key) => all[key]);
    // Weights have the same track, 0 to 1, in every row; the track of scores includes them and zero.
    const [low, high] = n < 2 ? [Math.min(0, ...values), Math.max(0, ...values)] : [0, 1];
    const at = (/** @type {number} */ value) => (value - low) / (high - low || 1);
    return { values, bars: values.map((value) => ({ from: at(Math.min(0, value)), to: at(Math.max(0, value)) })) };
  });
}

/**
 * A key's bar at a point of the animation.
 * @param {Step[]} steps
 * @param {number} key  index among those shown
 * @param {number} at  from 0 (first step) to LAST
 * @returns {Bar}
 */
export function barAt(steps, key, at) {
  const before = Math.min(Math.floor(at), steps.length - 1);
  const after = Math.min(before + 1, steps.length - 1);
  const [a, b] = [steps[before].bars[key], steps[after].bars[key]];
  const between = (/** @type {"from" | "to"} */ end) => a[end] + (b[end] - a[end]) * (at - before);
  return { from: between("from"), to: between("to") };
}
