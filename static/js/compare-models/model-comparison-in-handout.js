/** Replaces `model-comparison.js` in a handout with one model: there is no second one to be B. */

/** @type {typeof import("./model-comparison.js").otherModels} */
export const otherModels = () => [];

/** @type {typeof import("./model-comparison.js").runB} */
export const runB = () => null;

/** @type {typeof import("./model-comparison.js").placed} */
export const placed = ({ link }) => link;
