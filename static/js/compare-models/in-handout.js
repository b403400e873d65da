/** Replaces `model-comparison.js` and `comparison-view.js` in a handout with one model: there is no second one to be B. */

/** @type {typeof import("./model-comparison.js").otherModels} */
export const otherModels = () => [];

/** @type {typeof import("./model-comparison.js").runB} */
export const runB = () => null;

/** @type {typeof import("./model-comparison.js").placed} */
export const placed = ({ link }) => link;

/** @type {typeof import("./comparison-view.js").mountModels} */
export function mountModels() {
  throw new Error("a handout with one model cannot compare two");
}
