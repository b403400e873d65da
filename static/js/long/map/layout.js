/**
 * The layout of a long text's attention: options above, the map, and beside it the text and a small
 * map.
 */

import { controls } from "../../core/figure/controls.js";
import { legend } from "../../core/figure/figure-frame.js";
import { problemLine } from "../../core/figure/figure-status.js";
import { h, heightOf } from "../../lib/dom.js";
import { offers } from "./axes.js";
import { hatching } from "./map-picture.js";
import { extentOf, thumbnail, tileImage } from "./tiles.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Window } from "./map-window.js" */

/** The width of the text beside the map in pixels, and its share of the space. */
const TEXT = { least: 260, most: 400, share: 0.3 };
const GAP = 24;
/** The smallest height of the map in pixels. */
const LEAST = 320;

/**
 * @param {Context} context
 * @param {{map: import("./map.js").LongMap, minimap: HTMLElement, reader: HTMLElement, retry: () => void}} parts
 */
export function layoutOf(context, { map, minimap, reader, retry }) {
  const { t, store } = context;
  const level = controls(context, [{ option: "level", label: t("A cell is"), values: () => levels(t, store.get()) }]);
  const bar = controls(context, [
    { option: "scale", label: t("Scale"), values: { linear: t("linear"), log: t("log") } },
  ]);
  const key = legend(context);
  const below = h("p", { className: "notes" });
  const problem = problemLine(context, retry);
  const button = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => void} */ act) => {
    const control = h("button", { type: "button", className: "button quiet", "aria-label": label, title: label }, sign);
    control.addEventListener("click", act);
    return control;
  };
  const [closer, farther, all] = [
    button(t("Zoom in"), "+", () => map.zoom(2)),
    button(t("Zoom out"), "−", () => map.zoom(0.5)),
    button(t("Show all"), t("All"), map.showAll),
  ];
  const zooms = h("div", { className: "zooms", role: "group", "aria-label": t("Zoom") }, closer, farther, all);
  const side = h("div", { className: "beside" }, h("div", { className: "whole" }, minimap, h("div", { className: "ranges" }, level, zooms)), reader);
  const main = h("div", { className: "long-main" }, problem.element, map.element, key.element, below);
  const element = h("div", { className: "long" }, main, side);
  const around = heightOf(key.element);

  return {
    bar,
    refresh() {
      bar.refresh();
      level.refresh();
    },
    element,
    key,
    below,
    problem,

    /** @param {boolean} whole  whether all is in sight */
    zoomed(whole) {
      farther.disabled = all.disabled = whole;
    },

    /**
     * The size of the map in pixels; the text takes the rest.
     * @param {import("../../core/figure/types.js").Room} room
     */
    sizes({ width, height, wide }) {
      const beside = wide && width >= 640;
      element.classList.toggle("side-by-side", beside);
      const text = beside ? Math.round(Math.min(Math.max(TEXT.least, TEXT.share * width), TEXT.most)) : width;
      const high = wide ? Math.max(height - around.now() - 56, LEAST) : Math.max(LEAST, Math.min(height, width * 1.05));
      side.style.width = `${text}px`;
      side.style.height = beside ? `${high}px` : "";
      return { width: beside ? width - text - GAP : width, height: high };
    },

    stop: around.stop,
  };
}

/** @param {Context["t"]} t @param {Page} page  Those that have something to show. */
function levels(t, page) {
  const names = /** @type {Record<import("./axes.js").Level, string>} */ ({ tokens: t("a token"), sentences: t("a sentence"), paragraphs: t("a paragraph") });
  const offered = Object.entries(names).filter(([level]) => page.trace && offers(page, /** @type {import("./axes.js").Level} */ (level)));
  return Object.fromEntries(offered);
}

// A small map of the whole matrix with the visible window; dragging the window moves the map.

/** The length of its longer side in pixels. */
const SIDE = 132;
/** The height in pixels below which controls beside it would leave it alone in its row. */
const FLAT = 60;

/**
 * @param {import("../../core/figure/types.js").Context} context
 * @param {(place: {row: number, col: number}) => void} onCentre  the new middle
 */
export function createMinimap(context, onCentre) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const frame = h("div", { className: "window" });
  const element = h("div", { className: "minimap", "aria-hidden": "true" }, canvas, frame);
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let extent = { rows: 1, cols: 1 };
  let size = { width: SIDE, height: SIDE };
  let drawn = "";

  /** @param {PointerEvent} event */
  function put({ clientX, clientY }) {
    const box = canvas.getBoundingClientRect();
    onCentre({ row: ((clientY - box.top) / box.height) * extent.rows, col: ((clientX - box.left) / box.width) * extent.cols });
  }
  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    put(event);
  });
  element.addEventListener("pointermove", (event) => element.hasPointerCapture(event.pointerId) && put(event));

  return {
    element,

    /** @param {import("./tiles.js").Head} head */
    draw(head) {
      const { page, shade } = head;
      const small = thumbnail(page);
      const theme = context.theme();
      extent = extentOf(head);
      const longer = Math.max(extent.rows, extent.cols);
      size = { width: Math.max(24, Math.round((SIDE * extent.cols) / longer)), height: Math.max(24, Math.round((SIDE * extent.rows) / longer)) };
      element.classList.toggle("flat", size.height < FLAT);
      const name = `${page.trace?.id} ${page.link.block} ${page.link.layer} ${page.link.head} ${shade.floor} ${theme.paper} ${small !== null}`;
      if (name === drawn) return;
      drawn = name;
      [canvas.width, canvas.height] = [size.width, size.height];
      brush.fillStyle = theme.paper;
      brush.fillRect(0, 0, size.width, size.height);
      brush.fillStyle = hatching(brush, theme);
      brush.fillRect(0, 0, size.width, size.height);
      if (small) brush.drawImage(tileImage(element.ownerDocument, small, shade), 0, 0, size.width, size.height);
    },

    /** @param {Window} window  Frames it. */
    frame({ rows, cols }) {
      const box = { left: cols[0] / extent.cols, top: rows[0] / extent.rows, width: (cols[1] - cols[0]) / extent.cols, height: (rows[1] - rows[0]) / extent.rows };
      frame.style.left = `${box.left * size.width}px`;
      frame.style.top = `${box.top * size.height}px`;
      frame.style.width = `${Math.max(6, box.width * size.width)}px`;
      frame.style.height = `${Math.max(6, box.height * size.height)}px`;
    },
  };
}
