/**
 * What stands at the ends of rows: bars of a share of each row, with their numbers if there is room;
 * or a hatched column of cells, for a weight that belongs to no column.
 */

import { prepare } from "./chart.js";
import { h, write } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { ruler } from "./labels.js";
import { columnAt, paintColumn } from "./sink-column.js";

/** @import { Geometry } from "./geometry.js" */
/** @import { Theme } from "./theme.js" */
/**
 * @typedef {object} Ends
 * @property {Float32Array} shares  of each row, from 0 to 1
 * @property {string} label  what the share is of
 * @property {import("./paint.js").Shade} [shade]  of the cells of a column; absent: bars
 */

/** The width that bars need for a label above them and numbers beside them. */
export const ROOM_FOR_WORDS = 96;

/**
 * Where the bars or the column are.
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {number} room
 * @param {Pick<Ends, "shade">} ends
 */
export const endsAt = (geometry, theme, room, { shade }) => (shade ? columnAt(geometry, theme, room >= ROOM_FOR_WORDS) : barsAt(geometry, theme, room));

/**
 * The position of the bars, to the right of the cells.
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {number} room  that they have
 * @returns {{left: number, width: number, number: boolean, wider: number}}
 */
export function barsAt({ left, cols, cellWidth, cellHeight, width }, { size }, room) {
  const start = Math.round(left + cols * cellWidth + 14);
  const number = room >= ROOM_FOR_WORDS && cellHeight >= 1.38 * size && cellWidth >= 2 * size;
  const [bar, digits] = number ? [48, 2.6 * size] : [28, 0];
  return { left: start, width: bar, number, wider: Math.max(0, start + bar + digits - width) };
}

/**
 * How the name of the bars leans, in degrees: as the names of the columns do, or less where it would reach
 * beyond the upper edge.
 * @param {Pick<Geometry, "slant" | "top">} geometry
 * @param {number} words  pixels that it is long
 */
export function lean({ slant, top }, words) {
  const up = Math.min(Math.max(top - EDGE, 0) / words, 1);
  return Math.min(slant, Math.round((Math.asin(up) * 180) / Math.PI));
}

/** Pixels above the cells that are no room for words: what lies below them, and half a letter. */
const EDGE = 14;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array} shares
 * @param {Geometry} geometry
 * @param {Theme} theme
 * @param {number} room  that they have
 */
export function paintBars(context, shares, geometry, theme, room) {
  const { left, width, number } = barsAt(geometry, theme, room);
  const { top, cellHeight } = geometry;
  const height = Math.max(1, Math.min(10, cellHeight - 2));
  context.font = `${theme.size}px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  shares.forEach((share, row) => {
    const middle = top + (row + 0.5) * cellHeight;
    context.fillStyle = theme.hatch;
    context.fillRect(left, Math.round(middle + height / 2), width, 1);
    context.fillStyle = theme.attention;
    context.fillRect(left, Math.round(middle - height / 2), share * width, Math.round(height));
    // As in cells, 0.00 is not printed.
    if (!number || share < 0.005) return;
    context.fillStyle = theme.ink;
    context.fillText(two(share), left + width + 6, middle + 1);
  });
}

/** Below this width the bars have no label; a note below the figure explains them. */
const NARROW = 480;

/**
 * @param {Ends} ends
 * @param {number} width  total width
 * @param {(text: string) => number} measure
 * @returns {number}  width of the bars
 */
export function roomForEnds({ label }, width, measure) {
  const words = measure(label);
  // Slanted from the middle of the bar, 32° at least, as high as a letter; or straight from its beginning.
  return width < NARROW ? 44 : Math.ceil(Math.max(ROOM_FOR_WORDS, 46 + (words + measure("字")) * 0.85, 24 + words));
}

export function createEnds() {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const label = h("span", { className: "label" });
  const element = h("div", { className: "ends labels", hidden: true }, canvas, label);
  return {
    element,

    /**
     * @param {Geometry} geometry
     * @param {Ends | null} ends
     * @param {Theme} theme
     * @param {number} room  that they have
     * @returns {number}  the additional width
     */
    draw(geometry, ends, theme, room) {
      element.hidden = !ends;
      if (!ends) return 0;
      const { left, width, wider } = endsAt(geometry, theme, room, ends);
      write(label, room < ROOM_FOR_WORDS ? "" : ends.label);
      const leans = lean(geometry, ruler(theme)(ends.label));
      label.classList.toggle("slanted", geometry.slant > 0);
      label.style.rotate = leans ? `-${leans}deg` : "";
      label.style.left = `${left + (geometry.slant ? width / 2 : 0)}px`;
      label.style.top = `${geometry.top - 6}px`;
      const context = prepare(canvas, geometry.width + wider, geometry.height);
      const { shade } = ends;
      if (shade) paintColumn(context, ends.shares, shade, geometry, theme, endsAt(geometry, theme, room, ends));
      else paintBars(context, ends.shares, geometry, theme, room);
      const right = geometry.left + geometry.cols * geometry.cellWidth + room;
      return Math.max(wider, right - geometry.width);
    },
  };
}
