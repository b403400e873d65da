/**
 * Zooming into a matrix: Plotly's heatmap replaces it, with zoom, pan and a toolbar. Escape or the
 * button returns to the picture.
 */

import { h } from "../../lib/dom.js";
import { NUMBERS, figure, frames, hatching, legible } from "../draw/plotly-figure.js";
import { createPlot } from "../draw/plotly.js";

/** @import { Context } from "./types.js" */
/** @import { Picture } from "../draw/matrix-canvas.js" */
/** @import { Place } from "../draw/matrix-geometry.js" */
/** @import { Size } from "../draw/plotly-figure.js" */

// Pointing at the cells of a Plotly heatmap with our own pointer events, because Plotly reports
// hovers and clicks with delays and loses a click that comes before its hover.

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

/** @param {Press} first @param {Press} second */
const near = (first, second) => Math.hypot(second.x - first.x, second.y - first.y) < STILL;

/** The smallest size of the heatmap, in pixels. */
const LEAST = { width: 260, height: 320 };

/**
 * @param {Context} context
 * @param {object} actions
 * @param {(place: Place | null) => void} actions.onHover
 * @param {(place: Place) => void} actions.onPick
 * @param {() => void} actions.onTurn  called after it was opened or closed
 * @param {boolean} [actions.opens]  whether it opens automatically once Plotly is loaded
 */
export function createZoom({ plotter, t }, { onHover, onPick, onTurn, opens = false }) {
  let byItself = opens;
  const opener = h("button", { type: "button", className: "button quiet zoom", hidden: true }, t("Zoom"));
  const closer = h("button", { type: "button", className: "button quiet close" }, t("Close"));
  const plot = h("div", { className: "plot" });
  const element = h("div", { className: "zoomed", hidden: true }, plot, closer);
  /** @type {{picture: Picture, size: Size} | null} */
  let current = null;
  /** @type {Place} */
  let lit = { row: null, col: null };
  let requested = opens;
  let numbered = false;

  const chart = plotter && createPlot(plot, plotter, {
    plotly_relayout: (_, { _fullLayout }) => number(_fullLayout),
  });
  bindZoomPointing(plot, { cellAt, onHover, onPick });

  /** @param {number} x @param {number} y */
  function cellAt(x, y) {
    const point = chart?.at(x, y);
    if (!current || !point) return null;
    const cell = { row: Math.round(point.y), col: Math.round(point.x) };
    const { rows, cols } = current.picture.matrix;
    return cell.row >= 0 && cell.row < rows && cell.col >= 0 && cell.col < cols ? cell : null;
  }

  /**
   * Show numbers once cells have room for them.
   * @param {any} layout as computed by Plotly
   */
  function number({ xaxis, yaxis }) {
    if (!current || !chart) return;
    const size = (/** @type {any} */ { _length, range: [from, to] }) => _length / Math.abs(to - from);
    const room = legible(current.picture, { width: size(xaxis), height: size(yaxis) });
    if (room === numbered) return;
    numbered = room;
    chart.restyle({ visible: room }, NUMBERS);
  }

  async function show() {
    if (!current || !chart) return;
    const { picture, size } = current;
    const hatched = hatching(element.ownerDocument, picture);
    opener.setAttribute("aria-busy", "true");
    try {
      if (!(await chart.show(figure(picture, size, { hatched, words: words(t), wheel: !byItself })))) return;
      chart.relayout({ shapes: frames(picture, lit) });
      numbered = false;
      number(/** @type {any} */ (plot)._fullLayout);
      turn(true);
    } catch {
      requested = false; // the picture and the button stay
    } finally {
      opener.removeAttribute("aria-busy");
    }
  }

  /** @param {boolean} on */
  function turn(on) {
    if (element.hidden === !on) return;
    element.hidden = !on;
    element.ownerDocument[on ? "addEventListener" : "removeEventListener"]("keydown", escape, true);
    onTurn();
    if (!byItself) (on ? closer : opener).focus();
  }

  /** @param {Event} event */
  function escape(event) {
    if (/** @type {KeyboardEvent} */ (event).key !== "Escape" || byItself) return;
    if (/** @type {Element} */ (event.target).closest?.("dialog")) return;
    event.stopPropagation();
    close();
  }

  function close() {
    requested = byItself = false;
    turn(false);
    chart?.clear();
  }

  opener.addEventListener("click", () => {
    requested = true;
    void show();
  });
  closer.addEventListener("click", close);
  for (const name of ["click", "pointermove", "keydown"]) element.addEventListener(name, (event) => event.stopPropagation());

  return {
    elements: [opener, element],

    /**
     * @param {Picture} picture
     * @param {Size} room
     * @param {boolean} worth  whether it shows more than the picture
     */
    draw(picture, room, worth) {
      const size = { width: Math.max(room.width, LEAST.width), height: Math.max(room.height, LEAST.height) };
      current = { picture, size };
      opener.hidden = !chart || !worth;
      if (requested) void show();
    },

    /** @returns {Size | null}  null while it is closed */
    size: () => (element.hidden || !current ? null : current.size),

    /** @param {Place} place */
    mark(place) {
      const isSamePlace = ["row", "col", "tall", "wide"].every((side) => place[/** @type {"row"} */ (side)] === lit[/** @type {"row"} */ (side)]);
      lit = place;
      if (!isSamePlace && current && !element.hidden) chart?.relayout({ shapes: frames(current.picture, place) });
    },

    destroy: close,
  };
}

/** The texts of Plotly's toolbar. @param {Context["t"]} t @returns {Record<string, string>} */
export const words = (t) => ({
  Zoom: t("Zoom"),
  Pan: t("Pan"),
  "Zoom in": t("Zoom in"),
  "Zoom out": t("Zoom out"),
  "Reset axes": t("Show all"),
  "Orbital rotation": t("Turn"),
  "Reset camera to default": t("Show all"),
  "Download plot as a PNG": t("Download as PNG"),
  "Double-click to zoom back out": t("Double-click to show all"),
});
