/** Pointing, clicking and arrow keys for the tokens at the ends of the lines. */

import { onArrows, within } from "../../core/figure/pointing.js";

/** @import { At, End } from "./diagram.js" */
/** @typedef {{rows: unknown[], cols: unknown[], at: At}} Lit  what is shown, and what of it is lit */
/**
 * @typedef {object} Gestures
 * @property {(at: {side: End, index: number} | null) => void} onHover
 * @property {(at: {side: End, index: number}, how: "click" | "key") => void} onPick
 */

/**
 * @param {HTMLElement} element  the container of the drawing
 * @param {() => Lit | null} shown
 * @param {Gestures} gestures
 */
export function bindDiagram(element, shown, { onHover, onPick }) {
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onHover(under(event));
  });
  element.addEventListener("pointerleave", () => onHover(null));
  element.addEventListener("click", (event) => {
    const end = under(event);
    if (end) onPick(end, "click");
  });
  onArrows(element, (down, right) => {
    const lit = shown();
    if (!lit) return false;
    onPick(moved(lit, down, right), "key");
    return true;
  });
}

/** @param {Event} event @returns {{side: End, index: number} | null} */
function under(event) {
  const end = /** @type {Element} */ (event.target).closest("[data-end]");
  if (!end) return null;
  const [side, index] = (end.getAttribute("data-end") ?? "").split(" ");
  return { side: /** @type {End} */ (side), index: Number(index) };
}

/**
 * Up and down move along a side, left goes to the queries, right to the keys.
 * @param {Lit} lit
 * @param {number} down
 * @param {number} right
 * @returns {{side: End, index: number}}
 */
function moved({ at, rows, cols }, down, right) {
  const side = at.key !== null ? "key" : "query";
  const index = at[side];
  const inside = (/** @type {End} */ end, /** @type {number} */ i) => within(i, (end === "query" ? rows : cols).length);
  if (down) return { side, index: index === null ? 0 : inside(side, index + down) };
  if (right > 0) return { side: "key", index: inside("key", index ?? 0) };
  return { side: "query", index: inside("query", at.query ?? index ?? 0) };
}
