/** Replaces `mount.js` in a handout with one model: a second model is not offered there. */

/** @type {typeof import("./mount.js").mountModels} */
export function mountModels() {
  throw new Error("a handout with one model cannot compare two");
}
