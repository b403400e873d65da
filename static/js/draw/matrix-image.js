/** A matrix with its labels on one canvas, as it stands on the page: for pictures that leave it. */

import { paint, prepare } from "./chart.js";
import { two } from "../lib/numbers.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./theme.js").Theme} Theme */
/**
 * @typedef {import("./chart.js").Picture & {
 *   upright: boolean[],
 *   named: {rows: boolean[], cols: boolean[]},
 *   ends: import("./row-bars.js").Ends | null,
 *   room: number,
 * }} Plate
 */

/** Pixels for one of CSS: a picture that leaves the page may be shown larger. */
const FINE = 2;

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

/**
 * @param {Plate} plate
 * @returns {HTMLCanvasElement}
 */
export function photograph(plate) {
  const { geometry, theme, ends, room } = plate;
  const canvas = document.createElement("canvas");
  const width = Math.max(geometry.width + (ends ? barsAt(geometry, theme, room).wider : 0), reach(plate));
  const context = prepare(canvas, width, geometry.height, FINE);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  paint(context, plate);
  if (ends) paintBars(context, ends.shares, geometry, theme, room);
  inscribe(context, plate);
  return canvas;
}

/**
 * Where the words over the bars end.
 * @param {Plate} plate
 */
export function reach({ geometry, theme, ends, room }) {
  if (!ends || room < ROOM_FOR_WORDS) return 0;
  const { left, width } = barsAt(geometry, theme, room);
  const ruler = /** @type {CanvasRenderingContext2D} */ (
    document.createElement("canvas").getContext("2d")
  );
  ruler.font = `${theme.size}px ${theme.font}`;
  const length = ruler.measureText(ends.label).width + theme.size;
  const across = geometry.slant ? length * Math.cos((geometry.slant * Math.PI) / 180) : length / 2;
  return Math.ceil(left + width / 2 + across);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plate} plate
 */
function inscribe(context, { geometry, theme, labels, titles, upright, named, ends, room }) {
  const { left, top, cellWidth, cellHeight, rows, cols, slant } = geometry;
  context.font = `${theme.size}px ${theme.font}`;
  context.fillStyle = theme.ink;
  context.textBaseline = "middle";
  context.textAlign = "right";
  labels.rows.forEach((text, i) => {
    if (named.rows[i]) context.fillText(text, left - 8, top + (i + 0.5) * cellHeight);
  });
  context.textBaseline = "alphabetic";
  labels.cols.forEach((text, i) => {
    if (!named.cols[i]) return;
    turned(context, text, left + (i + 0.5) * cellWidth, top - 8, upright[i] ? 0 : slant);
  });
  const bars = barsAt(geometry, theme, room);
  if (ends && room >= ROOM_FOR_WORDS) turned(context, ends.label, bars.left + bars.width / 2, top - 8, slant);
  context.fillStyle = theme.muted;
  turned(context, titles.cols, left + (cols * cellWidth) / 2, theme.size, 0);
  turned(context, titles.rows, theme.size, top + (rows * cellHeight) / 2, 90);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} slant  in degrees; what slants starts at the point, what does not is centred there
 */
function turned(context, text, x, y, slant) {
  context.save();
  context.translate(x, y);
  context.rotate((-slant * Math.PI) / 180);
  context.textAlign = slant === 0 || slant === 90 ? "center" : "left";
  context.fillText(text, 0, 0);
  context.restore();
}
