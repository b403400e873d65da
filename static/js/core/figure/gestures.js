/** Pointer and key handling on a matrix. */

import { hit } from "../draw/geometry.js";
import { onArrows, within } from "./arrow-keys.js";

/** @import { Geometry, Place } from "../draw/geometry.js" */
/** @typedef {{row: number, col: number}} Cell */
/**
 * @typedef {object} Gestures
 * @property {() => Geometry | null} geometry  null until something is drawn
 * @property {(place: Place | null) => void} onPoint
 * @property {(place: Place, how: "click" | "key") => void} onPick
 * @property {() => Cell | null} picked  where the arrow keys start
 */

/**
 * @param {HTMLElement} element
 * @param {Gestures} gestures
 */
export function bindGestures(element, { geometry, onPoint, onPick, picked }) {
  /** @param {MouseEvent} event */
  function under(event) {
    const frame = element.getBoundingClientRect();
    const drawn = geometry();
    const place = drawn && hit(drawn, event.clientX - frame.left, event.clientY - frame.top);
    // The labels of rows stay in place while the cells are scrolled.
    const names = /** @type {Element} */ (event.target).closest?.(".labels.rows");
    return place && names ? { ...place, col: null } : place;
  }

  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onPoint(under(event));
  });
  element.addEventListener("pointerleave", () => onPoint(null));
  element.addEventListener("click", (event) => {
    const place = under(event);
    if (place) onPick(place, "click");
  });
  onArrows(element, (down, right) => {
    const drawn = geometry();
    if (!drawn) return false;
    const { row, col } = picked() ?? { row: 0, col: 0 };
    onPick({ row: within(row + down, drawn.rows), col: within(col + right, drawn.cols) }, "key");
    return true;
  });
}
