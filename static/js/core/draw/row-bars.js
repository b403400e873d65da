/**
 * What stands at the ends of rows: bars of a share of each row, with their numbers if there is room;
 * or a hatched column of cells, for a weight that belongs to no column.
 */

import { h, write } from "../../lib/dom.js";
import { rounded, two } from "../../lib/numbers.js";
import { cellText, colourOf, legible, prepare } from "./matrix-canvas.js";
import { textRuler } from "./matrix-labels.js";
import { css } from "./colour-scales.js";
import { fine, s } from "./svg.js";

/** @import { Geometry } from "./matrix-geometry.js" */
/** @import { Shade } from "./matrix-canvas.js" */
/** @import { Theme } from "../page/page-context.js" */

// A hatched column of cells beside a matrix: the weights on a learned sink, which is no token.

/** @typedef {{left: number, width: number, number: boolean, wider: number}} Spot  where it is, whether it has numbers, and by how much the picture grows */

/** Widths of a column of cells: the least and the most, and the space before it. */
const COLUMN = { least: 24, most: 64, before: 12 };

/**
 * The position of the column, to the right of the cells.
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {boolean} numbered  whether there is room for numbers
 * @returns {Spot}
 */
function columnAt({ left, cols, cellWidth, cellHeight, width }, { size }, numbered) {
  const start = Math.round(left + cols * cellWidth + COLUMN.before);
  const roomy = numbered && cellHeight >= 1.38 * size;
  const across = Math.round(Math.min(Math.max(cellWidth, roomy ? 2.8 * size : COLUMN.least), COLUMN.most));
  return { left: start, width: across, number: roomy, wider: Math.max(0, start + across + 2 - width) };
}

/**
 * The falling lines over a cell, which no masked cell has.
 * @param {{left: number, top: number, width: number, height: number}} cell
 * @returns {[number, number, number, number][]}
 */
function falling({ left, top, width, height }) {
  const [right, bottom] = [left + width, top + height];
  /** @type {[number, number, number, number][]} */
  const lines = [];
  // Lines of equal x − y, so that they go on from cell to cell.
  for (let by = Math.ceil((left - bottom) / HATCH) * HATCH; by < right - top; by += HATCH) {
    const [low, high] = [Math.max(left, by + top), Math.min(right, by + bottom)];
    if (high > low) lines.push([low, low - by, high, high - by]);
  }
  return lines;
}

/** Pixels between the lines. */
const HATCH = 6;
/** How strong they are over a cell's colour. */
const FAINT = 0.28;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array} shares
 * @param {Shade} shade
 * @param {Geometry} geometry
 * @param {Theme} theme
 * @param {Spot} spot
 */
function paintColumn(context, shares, shade, geometry, theme, { left, width, number }) {
  const { cellHeight, gap } = geometry;
  context.font = `${theme.size}px ${theme.font}`;
  [context.textBaseline, context.textAlign] = ["middle", "center"];
  shares.forEach((share, row) => {
    const top = Math.round(geometry.top + row * cellHeight);
    const height = Math.round(geometry.top + (row + 1) * cellHeight) - top - gap;
    const ground = colourOf(shade, share);
    context.fillStyle = css(ground);
    context.fillRect(left, top, width, height);
    context.fillStyle = context.strokeStyle = legible(ground);
    context.globalAlpha = FAINT;
    context.lineWidth = 1;
    context.beginPath();
    for (const [x1, y1, x2, y2] of falling({ left, top, width, height })) (context.moveTo(x1, y1), context.lineTo(x2, y2));
    context.stroke();
    context.globalAlpha = 1;
    const numberText = number ? cellText(shade, share) : "";
    if (!numberText) return;
    plate(context, ground, numberText, left + width / 2, top + height / 2, theme.size);
    context.fillStyle = legible(ground);
    context.fillText(numberText, left + width / 2, top + height / 2 + 1);
  });
  context.strokeStyle = theme.muted;
  context.strokeRect(left - 0.5, Math.round(geometry.top) - 0.5, width + 1, Math.round(shares.length * cellHeight) - gap + 1);
}

/**
 * The same as elements of a drawing.
 * @param {Float32Array} shares
 * @param {Shade} shade
 * @param {Geometry} geometry
 * @param {Theme} theme
 * @param {Spot} spot
 */
export function columnCells(shares, shade, geometry, theme, { left, width, number }) {
  const { gap, cellHeight } = geometry;
  const size = theme.size;
  const cells = Array.from(shares, (share, row) => {
    const [top, height] = [geometry.top + row * cellHeight, cellHeight - gap];
    const ground = colourOf(shade, share);
    const d = falling({ left, top, width, height }).map(([x1, y1, x2, y2]) => `M${fine(x1)} ${fine(y1)}L${fine(x2)} ${fine(y2)}`).join("");
    const numberText = number ? cellText(shade, share) : "";
    const across = numberText.length * size * 0.62;
    const [x, y] = [left + width / 2, top + height / 2];
    const paper = s("rect", { x: fine(x - across / 2), y: fine(y - size * 0.6), width: fine(across), height: fine(size * 1.2), fill: css(ground) });
    const digits = s("text", { x: fine(x), y: fine(y), "text-anchor": "middle", dy: "0.35em", fill: legible(ground) }, numberText);
    return s(
      "g",
      {},
      s("rect", { x: left, y: fine(top), width, height: fine(height), fill: css(ground) }),
      s("path", { d, stroke: legible(ground), "stroke-opacity": FAINT, "stroke-width": 1, fill: "none" }),
      ...(numberText ? [paper, digits] : []),
    );
  });
  const frame = { x: left - 0.5, y: fine(geometry.top - 0.5), width: width + 1, height: fine(shares.length * cellHeight - gap + 1) };
  return [...cells, s("rect", { ...frame, fill: "none", stroke: theme.muted })];
}

/**
 * A ground without lines for a number.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./colour-scales.js").Rgb} ground
 * @param {string} numberText
 * @param {number} x  its middle
 * @param {number} y
 * @param {number} size
 */
function plate(context, ground, numberText, x, y, size) {
  const width = context.measureText(numberText).width + 4;
  context.fillStyle = css(ground);
  context.fillRect(x - width / 2, y - size * 0.6, width, size * 1.2);
}

/**
 * @typedef {object} Ends
 * @property {Float32Array} shares  of each row, from 0 to 1
 * @property {string} label  what the share is of
 * @property {number} [error]  by which the shares were rounded
 * @property {import("./matrix-canvas.js").Shade} [shade]  of the cells of a column; absent: bars
 */

/** The width that bars need for a label above them and numbers beside them. */
export const ROOM_FOR_WORDS = 96;

/**
 * Where the bars or the column are.
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {number} room
 * @param {Pick<Ends, "shade" | "error">} ends
 */
export const endsAt = (geometry, theme, room, { shade, error }) => (shade ? columnAt(geometry, theme, room >= ROOM_FOR_WORDS) : barsAt(geometry, theme, room, error));

/**
 * The position of the bars, to the right of the cells.
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {number} room  that they have
 * @param {number} [error]  by which the numbers were rounded
 * @returns {{left: number, width: number, number: boolean, wider: number}}
 */
export function barsAt({ left, cols, cellWidth, cellHeight, width }, { size }, room, error = 0) {
  const start = Math.round(left + cols * cellWidth + 14);
  const number = room >= ROOM_FOR_WORDS && cellHeight >= 1.38 * size && cellWidth >= 2 * size;
  const [bar, digits] = number ? [48, (error ? 3.2 : 2.6) * size] : [28, 0];
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
 * @param {Pick<Ends, "shares" | "error">} ends
 * @param {Geometry} geometry
 * @param {Theme} theme
 * @param {number} room  that they have
 */
function paintBars(context, { shares, error }, geometry, theme, room) {
  const { left, width, number } = barsAt(geometry, theme, room, error);
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
    context.fillText(barText(share, error), left + width + 6, middle + 1);
  });
}

/** The number beside a bar. @param {number} share @param {number} [error]  by which it was rounded */
export const barText = (share, error) => rounded(share, error, two).replace(" ", "");

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
      const leans = lean(geometry, textRuler(theme)(ends.label));
      label.classList.toggle("slanted", geometry.slant > 0);
      label.style.rotate = leans ? `-${leans}deg` : "";
      label.style.left = `${left + (geometry.slant ? width / 2 : 0)}px`;
      label.style.top = `${geometry.top - 6}px`;
      const context = prepare(canvas, geometry.width + wider, geometry.height);
      const { shade } = ends;
      if (shade) paintColumn(context, ends.shares, shade, geometry, theme, endsAt(geometry, theme, room, ends));
      else paintBars(context, ends, geometry, theme, room);
      const right = geometry.left + geometry.cols * geometry.cellWidth + room;
      return Math.max(wider, right - geometry.width);
    },
  };
}
