/**
 * Pointing at the cells of a Plotly heatmap with our own pointer events, because Plotly reports
 * hovers and clicks with delays and loses a click that comes before its hover.
 */

/** @typedef {{row: number, col: number}} Cell */
/** @typedef {{x: number, y: number, time: number}} Press */
/**
 * @typedef {object} Pointing
 * @property {(x: number, y: number) => Cell | null} cellAt  at a point of the window; null outside
 *   the cells
 * @property {(cell: Cell | null) => void} onHover
 * @property {(cell: Cell) => void} onPick
 */

/** How far a pressed pointer may move in a click, in pixels; more is a drag. */
const STILL = 5;
/**
 * Milliseconds between the presses of a double click, which resets the zoom and picks only once.
 */
const DOUBLE = 300;

/**
 * @param {HTMLElement} element  the element that Plotly draws into
 * @param {Pointing} pointing
 */
export function bindZoomPointing(element, { cellAt, onHover, onPick }) {
  const { ownerDocument } = element;
  /** @type {Press | null} */
  let pressed = null;
  /** @type {Press | null} */
  let picked = null;

  /**
   * From the press on, Plotly covers the page, so later events go to the document.
   * @param {PointerEvent} event
   */
  function press(event) {
    if (!event.isPrimary || event.button !== 0 || !cellAt(event.clientX, event.clientY)) return;
    pressed = pressOf(event);
    for (const name of ["pointerup", "pointercancel"]) ownerDocument.addEventListener(name, release, { capture: true });
  }

  /** @param {Event} event */
  function release(event) {
    for (const name of ["pointerup", "pointercancel"]) ownerDocument.removeEventListener(name, release, { capture: true });
    const up = /** @type {PointerEvent} */ (event);
    const clicked = up.type === "pointerup" && pressed && near(pressed, pressOf(up)) ? pressed : null;
    pressed = null;
    if (!clicked || (picked && near(picked, clicked) && clicked.time - picked.time < DOUBLE)) return;
    picked = clicked;
    const cell = cellAt(clicked.x, clicked.y);
    if (cell) onPick(cell);
  }

  element.addEventListener("pointerdown", press);
  element.addEventListener("pointermove", ({ pointerType, clientX, clientY }) => {
    if (pointerType !== "touch" && !pressed) onHover(cellAt(clientX, clientY));
  });
  element.addEventListener("pointerleave", () => {
    if (!pressed) onHover(null);
  });
}

/** @param {PointerEvent} event @returns {Press} */
const pressOf = ({ clientX: x, clientY: y, timeStamp: time }) => ({ x, y, time });

/** @param {Press} one @param {Press} other */
const near = (one, other) => Math.hypot(other.x - one.x, other.y - one.y) < STILL;
