/** Pointer and keys on a matrix: what they point at, what they pick. */

import { hit } from "../draw/geometry.js";

/** @typedef {import("../draw/geometry.js").Geometry} Geometry */
/** @typedef {import("../draw/geometry.js").Place} Place */
/** @typedef {{row: number, col: number}} Cell */
/**
 * @typedef {object} Gestures
 * @property {() => Geometry | null} geometry  null until something is drawn
 * @property {(place: Place | null) => void} onPoint
 * @property {(place: Place, how: "click" | "key") => void} onPick
 * @property {() => Cell | null} picked  where the arrow keys start
 */

const MOVES = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

/**
 * @param {HTMLElement} element
 * @param {Gestures} gestures
 */
export function bindGestures(element, { geometry, onPoint, onPick, picked }) {
  /** @param {MouseEvent} event */
  function under(event) {
    const frame = element.getBoundingClientRect();
    const drawn = geometry();
    return drawn && hit(drawn, event.clientX - frame.left, event.clientY - frame.top);
  }

  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onPoint(under(event));
  });
  element.addEventListener("pointerleave", () => onPoint(null));
  element.addEventListener("click", (event) => {
    const place = under(event);
    if (place) onPick(place, "click");
  });
  element.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const drawn = geometry();
    if (!move || !drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { row, col } = picked() ?? { row: 0, col: 0 };
    onPick(
      { row: within(row + move[0], drawn.rows), col: within(col + move[1], drawn.cols) },
      "key",
    );
  });
}

/** @param {number} index @param {number} size */
const within = (index, size) => Math.min(Math.max(index, 0), size - 1);
