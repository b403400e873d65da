/** A hatched column of cells beside a matrix: the weights on a learned sink, which is no token. */

import { colourOf, legible, written } from "./paint.js";
import { css } from "./scale.js";
import { fine, s } from "./svg.js";

/** @import { Geometry } from "./geometry.js" */
/** @import { Theme } from "./theme.js" */
/** @import { Shade } from "./paint.js" */
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
export function columnAt({ left, cols, cellWidth, cellHeight, width }, { size }, numbered) {
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
export function paintColumn(context, shares, shade, geometry, theme, { left, width, number }) {
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
    const says = number ? written(shade, share) : "";
    if (!says) return;
    plate(context, ground, says, left + width / 2, top + height / 2, theme.size);
    context.fillStyle = legible(ground);
    context.fillText(says, left + width / 2, top + height / 2 + 1);
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
    const says = number ? written(shade, share) : "";
    const across = says.length * size * 0.62;
    const [x, y] = [left + width / 2, top + height / 2];
    const paper = s("rect", { x: fine(x - across / 2), y: fine(y - size * 0.6), width: fine(across), height: fine(size * 1.2), fill: css(ground) });
    const digits = s("text", { x: fine(x), y: fine(y), "text-anchor": "middle", dy: "0.35em", fill: legible(ground) }, says);
    return s(
      "g",
      {},
      s("rect", { x: left, y: fine(top), width, height: fine(height), fill: css(ground) }),
      s("path", { d, stroke: legible(ground), "stroke-opacity": FAINT, "stroke-width": 1, fill: "none" }),
      ...(says ? [paper, digits] : []),
    );
  });
  const frame = { x: left - 0.5, y: fine(geometry.top - 0.5), width: width + 1, height: fine(shares.length * cellHeight - gap + 1) };
  return [...cells, s("rect", { ...frame, fill: "none", stroke: theme.muted })];
}

/**
 * A ground without lines for a number.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scale.js").Rgb} ground
 * @param {string} says
 * @param {number} x  its middle
 * @param {number} y
 * @param {number} size
 */
function plate(context, ground, says, x, y, size) {
  const width = context.measureText(says).width + 4;
  context.fillStyle = css(ground);
  context.fillRect(x - width / 2, y - size * 0.6, width, size * 1.2);
}
