/**
 * Zooming into a matrix: Plotly's heatmap replaces it, with zoom, pan and a toolbar. Escape or the
 * button returns to the picture.
 */

import { figure, frames, hatching, legible, NUMBERS } from "../draw/plotly-figure.js";
import { createPlot } from "../draw/plotly.js";
import { h } from "../../lib/dom.js";
import { bindZoomPointing } from "./zoom-pointing.js";

/** @import { Context } from "./types.js" */
/** @import { Picture } from "../draw/chart.js" */
/** @import { Place } from "../draw/geometry.js" */
/** @import { Size } from "../draw/plotly-figure.js" */

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
  let shown = null;
  /** @type {Place} */
  let lit = { row: null, col: null };
  let asked = opens;
  let numbered = false;

  const chart = plotter && createPlot(plot, plotter, {
    plotly_relayout: (_, { _fullLayout }) => number(_fullLayout),
  });
  bindZoomPointing(plot, { cellAt, onHover, onPick });

  /** @param {number} x @param {number} y */
  function cellAt(x, y) {
    const point = chart?.at(x, y);
    if (!shown || !point) return null;
    const cell = { row: Math.round(point.y), col: Math.round(point.x) };
    const { rows, cols } = shown.picture.matrix;
    return cell.row >= 0 && cell.row < rows && cell.col >= 0 && cell.col < cols ? cell : null;
  }

  /**
   * Show numbers once cells have room for them.
   * @param {any} layout as computed by Plotly
   */
  function number({ xaxis, yaxis }) {
    if (!shown || !chart) return;
    const size = (/** @type {any} */ { _length, range: [from, to] }) => _length / Math.abs(to - from);
    const room = legible(shown.picture, { width: size(xaxis), height: size(yaxis) });
    if (room === numbered) return;
    numbered = room;
    chart.restyle({ visible: room }, NUMBERS);
  }

  async function show() {
    if (!shown || !chart) return;
    const { picture, size } = shown;
    const hatched = hatching(element.ownerDocument, picture);
    opener.setAttribute("aria-busy", "true");
    try {
      if (!(await chart.show(figure(picture, size, { hatched, words: words(t), wheel: !byItself })))) return;
      chart.relayout({ shapes: frames(picture, lit) });
      numbered = false;
      number(/** @type {any} */ (plot)._fullLayout);
      turn(true);
    } catch {
      asked = false; // the picture and the button stay
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
    asked = byItself = false;
    turn(false);
    chart?.clear();
  }

  opener.addEventListener("click", () => {
    asked = true;
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
      shown = { picture, size };
      opener.hidden = !chart || !worth;
      if (asked) void show();
    },

    /** @returns {Size | null}  null while it is closed */
    size: () => (element.hidden || !shown ? null : shown.size),

    /** @param {Place} place */
    mark(place) {
      const same = ["row", "col", "tall", "wide"].every((side) => place[/** @type {"row"} */ (side)] === lit[/** @type {"row"} */ (side)]);
      lit = place;
      if (!same && shown && !element.hidden) chart?.relayout({ shapes: frames(shown.picture, place) });
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
