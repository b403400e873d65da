/** What stands at each row's end: a share of the row as a bar, with its number where there is room. */

import { prepare } from "./chart.js";
import { h, write } from "../lib/dom.js";
import { two } from "../lib/numbers.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./theme.js").Theme} Theme */
/**
 * @typedef {object} Ends
 * @property {Float32Array} shares  of each row, from 0 to 1
 * @property {string} label  what they are the share of
 */

/** What bars need beside the cells to have their name above them and their numbers behind them. */
export const ROOM_FOR_WORDS = 96;

/**
 * Where the bars at the rows' ends lie, right of the cells.
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
    // As in a cell, what would be 0.00 is not written.
    if (!number || share < 0.005) return;
    context.fillStyle = theme.ink;
    context.fillText(two(share), left + width + 6, middle + 1);
  });
}

/** Where there is less, the bars stand without their name: what they are is said below. */
const NARROW = 480;

/**
 * @param {Ends} ends
 * @param {number} width  of all there is
 * @param {(text: string) => number} measure
 * @returns {number}  how much of it the ends take
 */
export function roomForEnds({ label }, width, measure) {
  const words = measure(label);
  // Slanted from the middle of the bar, as high as a letter; or straight from its beginning.
  return width < NARROW ? 44 : Math.ceil(Math.max(ROOM_FOR_WORDS, 46 + (words + measure("字")) * Math.SQRT1_2, 24 + words));
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
     * @param {import("./theme.js").Theme} theme
     * @param {number} room  that they have
     * @returns {number}  how much wider all becomes
     */
    draw(geometry, ends, theme, room) {
      element.hidden = !ends;
      if (!ends) return 0;
      const { left, width, wider } = barsAt(geometry, theme, room);
      write(label, room < ROOM_FOR_WORDS ? "" : ends.label);
      label.classList.toggle("slanted", geometry.slant > 0);
      label.style.rotate = geometry.slant ? `-${geometry.slant}deg` : "";
      label.style.left = `${left + (geometry.slant ? width / 2 : 0)}px`;
      label.style.top = `${geometry.top - 6}px`;
      const context = prepare(canvas, geometry.width + wider, geometry.height);
      paintBars(context, ends.shares, geometry, theme, room);
      const right = geometry.left + geometry.cols * geometry.cellWidth + room;
      return Math.max(wider, right - geometry.width);
    },
  };
}
