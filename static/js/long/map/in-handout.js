/** Replaces `view.js` in a handout: a trace there has all its weights, and no server for tiles. */

/** @type {typeof import("./view.js").mountLong} */
export function mountLong() {
  throw new Error("a handout has no tiles of a long text");
}
