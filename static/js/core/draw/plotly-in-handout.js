/** Replaces `plotly.js` in a handout, which does not contain the library. */

/** @type {typeof import("./plotly.js").createPlotter} */
export function createPlotter() {
  throw new Error("a handout has no plotly.js");
}
