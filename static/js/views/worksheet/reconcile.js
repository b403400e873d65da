/** Compare numbers computed in the page with the model's own. */

/** @import { Vector } from "../../lib/vectors.js" */
/**
 * @typedef {object} Check
 * @property {number} largest  difference between the computed and the model's numbers
 * @property {number} count  how many numbers were compared
 * @property {boolean} agrees
 */

export const TOLERANCE = 1e-5;

/** @param {...{computed: Vector, model: Vector}} pairs @returns {Check} */
export function reconcile(...pairs) {
  let [largest, size, count] = [0, 1, 0];
  for (const { computed, model } of pairs) {
    count += model.length;
    for (let i = 0; i < model.length; i++) {
      const difference = Math.abs(computed[i] - model[i]);
      largest = Math.max(largest, Number.isNaN(difference) ? Infinity : difference);
      size = Math.max(size, Math.abs(model[i]));
    }
  }
  return { largest, count, agrees: largest <= TOLERANCE * size };
}
