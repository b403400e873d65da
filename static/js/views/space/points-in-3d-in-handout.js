/** Replaces `points-in-3d.js` in a handout, which does not contain plotly.js: only the plane is shown. */

import { h } from "../../lib/dom.js";

/** @type {typeof import("./points-in-3d.js").createSolid} */
export const createSolid = () => ({
  element: h("div", { hidden: true }),
  shown: () => false,
  show() {},
  clear() {},
});
