/** A small map of the whole matrix with the visible window; dragging the window moves the map. */

import { h } from "../../lib/dom.js";
import { hatching } from "./hatching.js";
import { tileImage } from "./tile-images.js";
import { extentOf, thumbnail } from "./sight.js";

/** @import { Window } from "./map-window.js" */

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

    /** @param {import("./sight.js").Head} head */
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
