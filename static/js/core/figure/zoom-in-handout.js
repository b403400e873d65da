/** Replaces `zoom.js` in a handout, which does not contain plotly.js. */

/** @type {typeof import("./zoom.js").createZoom} */
export const createZoom = () => ({
  elements: [],
  draw() {},
  size: () => null,
  mark() {},
  destroy() {},
});
