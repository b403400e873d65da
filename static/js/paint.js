/**
 * Matrices on plain canvas: thumbnails, and the first picture, which is there before Plotly is.
 * Cells have the very pixels that Plotly will give them.
 */

import { colour, contrast, css, rgb } from "./scale.js";
import { two } from "./caption.js";

/** @typedef {import("./wire.js").Matrix} Matrix */
/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./scale.js").Stops} Stops */
/** @typedef {import("./scale.js").Rgb} Rgb */
/** @typedef {{stops: Stops, range: [number, number]}} Shade */
/** @typedef {import("./theme.js").Theme} Theme */

/**
 * @param {Shade} shade
 * @param {number} value
 * @returns {Rgb}
 */
export function colourOf({ stops, range: [low, high] }, value) {
  return colour(stops, (value - low) / (high - low));
}

/**
 * One pixel a cell; the page scales it up without smoothing.
 * @param {HTMLCanvasElement} canvas
 * @param {Matrix} matrix
 * @param {Shade} shade
 */
export function thumbnail(canvas, matrix, shade) {
  canvas.width = matrix.cols;
  canvas.height = matrix.rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(matrix.cols, matrix.rows);
  matrix.values.forEach((value, i) => {
    if (!Number.isNaN(value)) image.data.set([...colourOf(shade, value), 255], i * 4);
  });
  context.putImageData(image, 0, 0);
}

/**
 * @param {CanvasRenderingContext2D} context  already scaled to CSS pixels
 * @param {Matrix} matrix
 * @param {Geometry} geometry
 * @param {Shade} shade
 */
export function cells(context, matrix, geometry, shade) {
  const { left, top, cellWidth, cellHeight, gap } = geometry;
  matrix.values.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const [x, y] = corner(geometry, i);
    const [right, bottom] = [
      left + ((i % matrix.cols) + 1) * cellWidth,
      top + (Math.floor(i / matrix.cols) + 1) * cellHeight,
    ];
    context.fillStyle = css(colourOf(shade, value));
    context.fillRect(x, y, Math.round(right) - x - gap, Math.round(bottom) - y - gap);
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Matrix} matrix
 * @param {Geometry} geometry
 * @param {Shade} shade
 * @param {Theme} theme
 */
export function numbers(context, matrix, geometry, shade, theme) {
  context.font = `${theme.size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  matrix.values.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const [x, y] = corner(geometry, i);
    context.fillStyle = inkOf(shade, value, theme);
    context.fillText(two(value), x + geometry.cellWidth / 2, y + geometry.cellHeight / 2 + 1);
  });
}

/**
 * Grey hatching over the masked cells, drawn alone, so that Plotly can lay it over its heatmap.
 * @param {CanvasRenderingContext2D} context
 * @param {Matrix} matrix
 * @param {Geometry} geometry
 * @param {string} ink
 */
export function hatch(context, matrix, geometry, ink) {
  const { left, top, cellWidth, cellHeight, gap } = geometry;
  context.save();
  context.beginPath();
  matrix.values.forEach((value, i) => {
    if (Number.isNaN(value))
      context.rect(...corner(geometry, i), cellWidth - gap, cellHeight - gap);
  });
  context.clip();
  context.beginPath();
  const [width, height] = [matrix.cols * cellWidth, matrix.rows * cellHeight];
  for (let x = -height; x < width; x += 6) {
    context.moveTo(left + x, top + height);
    context.lineTo(left + x + height, top);
  }
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

/** What numbers are written in: on any ground one of the two has a contrast of 4.5 (AA). */
export const INKS = Object.freeze(["#000000", "#ffffff"]);

/** @param {Rgb} ground */
export function legible(ground) {
  const [black, white] = INKS;
  return contrast(ground, rgb(black)) >= contrast(ground, rgb(white)) ? black : white;
}

/**
 * The ink of a cell's number. What prints as 0.00 steps back.
 * @param {Shade} shade
 * @param {number} value
 * @param {Theme} theme
 */
export function inkOf(shade, value, { muted }) {
  return Math.abs(value) < 0.005 ? muted : legible(colourOf(shade, value));
}

/**
 * @param {Geometry} geometry
 * @param {number} i  of the cell, row by row
 * @returns {[number, number]}
 */
function corner({ left, top, cols, cellWidth, cellHeight }, i) {
  return [
    Math.round(left + (i % cols) * cellWidth),
    Math.round(top + Math.floor(i / cols) * cellHeight),
  ];
}
