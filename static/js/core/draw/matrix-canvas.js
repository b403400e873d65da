/** A matrix on a canvas: its cells, their patterns, and the numbers if there is room. */

import { rounded, short, two } from "../../lib/numbers.js";
import { COVER } from "../compute/aggregate-attention.js";
import { colour, contrast, logarithmic, rgb } from "./colour-scales.js";

/** @import { Geometry } from "./matrix-geometry.js" */
/** @import { Matrix } from "../wire/safetensors.js" */
/** @import { Rgb, Stops } from "./colour-scales.js" */
/** @import { Theme } from "../page/page-context.js" */

/**
 * @typedef {object} Shade
 * @property {Stops} stops
 * @property {[number, number]} range
 * @property {number} [floor]  the minimum of a logarithmic scale, which ends at 1
 */

/** Smaller numbers print as zero with two decimals. */
const LEAST = 0.005;
/** The smallest cell with a number, in multiples of the label's font size; a sign, and the one of a rounded number, need room. */
const ROOM = { width: 2.6, sign: 0.6, height: 1.38 };

/**
 * @param {Geometry} geometry
 * @param {Pick<Theme, "size">} theme
 * @param {[number, number]} [range]  of the values
 * @param {number} [error]  by which they were rounded
 */
export function hasRoom({ cellWidth, cellHeight }, { size }, range = [0, 1], error = 0) {
  const signs = Number(range[0] < 0) + Number(error > 0);
  return cellWidth >= (ROOM.width + signs * ROOM.sign) * size && cellHeight >= ROOM.height * size;
}

/**
 * Only the cells that show a number; NaN elsewhere.
 * @param {{matrix: Matrix, cover?: Uint8Array}} covered
 * @returns {Matrix}
 */
export function openCells({ matrix, cover }) {
  if (!cover?.some((why) => why !== COVER.open)) return matrix;
  return { ...matrix, values: matrix.values.map((value, i) => (cover[i] === COVER.open ? value : NaN)) };
}

/** @param {Shade} shade @param {number} value @returns {Rgb} */
export function colourOf({ stops, range: [low, high], floor }, value) {
  return colour(stops, floor ? logarithmic(value, floor) : (value - low) / (high - low));
}

/**
 * The text of a cell: two decimals, or nothing if they would be zero. On a logarithmic scale, small
 * numbers are written as powers of ten, down to the minimum; rounded ones have no digits left there.
 * @param {Shade} shade
 * @param {number} value
 * @param {number} [error]  by which it was rounded
 */
export function cellText({ floor }, value, error = 0) {
  if (Math.abs(value) >= LEAST) return rounded(value, error, two).replace(" ", "");
  return floor && value >= floor && !error ? short(value) : "";
}

/**
 * The colours of `colourOf` for many cells at once; cells without a number stay transparent.
 * @param {Uint8ClampedArray} pixels  four bytes per cell
 * @param {import("../wire/safetensors.js").Numbers} values
 * @param {Shade} shade
 */
export function raster(pixels, values, { stops, range: [low, high], floor }) {
  const last = stops.length - 1;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    const share = floor ? logarithmic(values[i], floor) : (values[i] - low) / (high - low);
    const scaled = Math.min(Math.max(share, 0), 1) * last;
    const stop = Math.min(Math.floor(scaled), last - 1);
    const [a, b] = [stops[stop], stops[stop + 1]];
    for (let c = 0; c < 3; c++) pixels[i * 4 + c] = Math.round(a[c] + (b[c] - a[c]) * (scaled - stop));
    pixels[i * 4 + 3] = 255;
  }
}

/** A buffer with one pixel per cell, which is then scaled. @type {HTMLCanvasElement | undefined} */
let SMALL;

/**
 * @param {CanvasRenderingContext2D} context  already scaled to CSS pixels
 * @param {Matrix} matrix
 * @param {Geometry} geometry
 * @param {Shade} shade
 * @param {string} rule  the lines between cells, which make empty cells visible
 */
export function paintCells(context, matrix, geometry, shade, rule) {
  const { left, top, cellWidth, cellHeight, gap } = geometry;
  const [width, height] = [matrix.cols * cellWidth, matrix.rows * cellHeight];
  SMALL ??= context.canvas.ownerDocument.createElement("canvas");
  const smallContext = /** @type {CanvasRenderingContext2D} */ (SMALL.getContext("2d"));
  [SMALL.width, SMALL.height] = [matrix.cols, matrix.rows];
  const image = smallContext.createImageData(matrix.cols, matrix.rows);
  raster(image.data, matrix.values, shade);
  smallContext.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(SMALL, left, top, width, height);
  if (!gap) return;
  context.fillStyle = rule;
  for (let col = 0; col <= matrix.cols; col++)
    context.fillRect(left + col * cellWidth - gap, top - gap, gap, height + gap);
  for (let row = 0; row <= matrix.rows; row++)
    context.fillRect(left - gap, top + row * cellHeight - gap, width + gap, gap);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Matrix} matrix
 * @param {Geometry} geometry
 * @param {Shade} shade
 * @param {Theme} theme
 */
export function paintNumbers(context, matrix, geometry, shade, theme) {
  context.font = `${theme.size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  matrix.values.forEach((value, i) => {
    const digits = Number.isNaN(value) ? "" : cellText(shade, value, matrix.error);
    if (!digits) return;
    const [x, y] = corner(geometry, i);
    context.fillStyle = legible(colourOf(shade, value));
    context.fillText(digits, x + geometry.cellWidth / 2, y + geometry.cellHeight / 2 + 1);
  });
}

/**
 * Paint grey patterns over cells without a number, one pattern per reason.
 * @param {CanvasRenderingContext2D} context
 * @param {{matrix: Matrix, cover?: Uint8Array}} covered  without a cover, NaN means masked
 * @param {Geometry} geometry
 * @param {string} ink
 */
export function paintCovers(context, { matrix, cover }, geometry, ink) {
  /** @type {(i: number) => number} */
  const why = (i) =>
    cover ? cover[i] : Number.isNaN(matrix.values[i]) ? COVER.masked : COVER.open;
  const kinds = new Set(Array.from(matrix.values, (_, i) => why(i)));
  kinds.delete(COVER.open);
  const { cellWidth, cellHeight, gap } = geometry;
  for (const kind of kinds) {
    context.save();
    context.beginPath();
    matrix.values.forEach((_, i) => {
      if (why(i) === kind)
        context.rect(...corner(geometry, i), cellWidth - gap, cellHeight - gap);
    });
    context.clip();
    context.beginPath();
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = 1;
    if (kind === COVER.weak) dots(context, geometry, (i) => why(i) === kind);
    else lines(context, geometry, kind);
    context.restore();
  }
}

/**
 * Rising lines for masked cells; horizontal and vertical ones for cells of only one run.
 * @param {CanvasRenderingContext2D} context
 * @param {Geometry} geometry
 * @param {number} kind
 */
function lines(context, { left, top, rows, cols, cellWidth, cellHeight }, kind) {
  const [right, bottom] = [left + cols * cellWidth, top + rows * cellHeight];
  const height = bottom - top;
  /** @param {number} x @param {number} y @param {number} toX @param {number} toY */
  const line = (x, y, toX, toY) => (context.moveTo(x, y), context.lineTo(toX, toY));
  if (kind === COVER.masked)
    for (let x = left - height; x < right; x += 6) line(x, bottom, x + height, top);
  if (kind === COVER.onlyA) for (let y = top + 1.5; y < bottom; y += 4) line(left, y, right, y);
  if (kind === COVER.onlyB) for (let x = left + 1.5; x < right; x += 4) line(x, top, x, bottom);
  context.stroke();
}

/**
 * A dot in the middle of each cell whose number is not shown.
 * @param {CanvasRenderingContext2D} context
 * @param {Geometry} geometry
 * @param {(i: number) => boolean} has
 */
function dots(context, geometry, has) {
  const { rows, cols, cellWidth, cellHeight, gap } = geometry;
  const size = Math.min(1.5, cellWidth / 4, cellHeight / 4);
  for (let i = 0; i < rows * cols; i++) {
    if (!has(i)) continue;
    const [x, y] = corner(geometry, i);
    const [right, down] = [x + (cellWidth - gap) / 2, y + (cellHeight - gap) / 2];
    context.moveTo(right + size, down);
    context.arc(right, down, size, 0, 2 * Math.PI);
  }
  context.fill();
}

/** Colours of numbers: on any background one of the two has a contrast of 4.5 (AA). */
export const INKS = Object.freeze(["#000000", "#ffffff"]);

/** @param {Rgb} ground */
export function legible(ground) {
  const [black, white] = INKS;
  return contrast(ground, rgb(black)) >= contrast(ground, rgb(white)) ? black : white;
}

/**
 * @param {Geometry} geometry
 * @param {number} i  index of the cell, row by row
 * @returns {[number, number]}
 */
function corner({ left, top, cols, cellWidth, cellHeight }, i) {
  return [
    Math.round(left + (i % cols) * cellWidth),
    Math.round(top + Math.floor(i / cols) * cellHeight),
  ];
}

// What is different on paper, where figures are drawn again; core/page/page-context.js says when.

/** Pixels of a canvas per CSS pixel: 288 per inch. */
const SHARP = 3;

/**
 * Pixels per CSS pixel of what is drawn now.
 * @param {Document} document
 */
export const sharpness = (document) => Math.max(onPaper(document) ? SHARP : 1, document.defaultView?.devicePixelRatio ?? 1);

/** Whether the page is being printed. @param {Document} document */
export const onPaper = ({ documentElement }) => documentElement.dataset.paper !== undefined;

/**
 * @typedef {object} Picture
 * @property {Matrix} matrix  NaN where masked
 * @property {Uint8Array} [cover]  why a cell shows no number (`COVER`); absent: NaN is masked
 * @property {Geometry} geometry
 * @property {Shade} shade
 * @property {Theme} theme
 * @property {{rows: string[], cols: string[]}} labels  as text
 * @property {{rows: string, cols: string}} titles
 */

/**
 * @param {HTMLElement & {picture?: Picture}} element  has the picture as a property, for tests and
 *   the console
 */
export function createChart(element) {
  const canvas = element.ownerDocument.createElement("canvas");
  element.append(canvas);
  return {
    /** @param {Picture} picture */
    draw(picture) {
      const { width, height } = picture.geometry;
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
      paint(prepare(canvas, width, height), picture);
      element.picture = picture;
      element.dataset.drawn = `${picture.matrix.rows} × ${picture.matrix.cols}`;
    },
    destroy: () => element.replaceChildren(),
  };
}

/**
 * Paint everything except the labels.
 * @param {CanvasRenderingContext2D} context  scaled to CSS pixels
 * @param {Picture} picture
 */
export function paint(context, picture) {
  const { geometry, shade, theme } = picture;
  const openMatrix = openCells(picture);
  paintCells(context, openMatrix, geometry, shade, theme.rule);
  if (openMatrix.values.some(Number.isNaN)) paintCovers(context, picture, geometry, theme.hatch);
  if (hasRoom(geometry, theme, shade.range, openMatrix.error)) paintNumbers(context, openMatrix, geometry, shade, theme);
}

/** The largest canvas that phones allow, in pixels. */
const MAX_PIXELS = 2 ** 24;

/**
 * Prepare a canvas for drawing; if its size does not change, its memory is reused.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width  in CSS pixels
 * @param {number} height
 */
export function prepare(canvas, width, height) {
  const ratio = Math.min(sharpness(canvas.ownerDocument), Math.sqrt(MAX_PIXELS / (width * height)));
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  if (canvas.width !== across || canvas.height !== down) {
    [canvas.width, canvas.height] = [across, down];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  } else {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, across, down);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
