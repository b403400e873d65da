/** A share of 1 as a bar in its track. */

import { el } from "../../lib/render.js";

/** @param {number} share */
export const shareBar = (share) =>
  el("span", { className: "track" }, el("span", { className: "bar", style: { width: `${share * 100}%` } }));
