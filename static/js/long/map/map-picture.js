/**
 * The picture of a long text's matrix on a canvas: tiles as they are there, hatching where they are
 * masked, labels or positions beside them, and the pinned row and column as bars along its edges.
 */

import { colourOf, legible, cellText } from "../../core/draw/matrix-canvas.js";
import { memo } from "../../lib/memo.js";

/** @import { Camera, Extent, Window } from "./map-window.js" */
/** @import { Shade } from "../../core/draw/matrix-canvas.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

// Where the cells of a long text's map are on its canvas.

/**
 * Room for labels at the left and on top, and for bars at the right and below.
 * @param {{width: number, height: number}} canvas  in pixels
 * @param {Theme} theme
 * @param {boolean} wide
 * @returns {Frame}
 */
export function frameOf({ width, height }, { size }, wide) {
  const bars = Math.round((wide ? 4 : 3) * size);
  const [left, top] = [Math.round((wide ? 8 : 5.5) * size), Math.round(5 * size)];
  return { left, top, bars, width: Math.max(40, width - left - bars - 6), height: Math.max(40, height - top - bars - 6) };
}

/** As large as the cells in sight are. @param {Pick<Scene, "frame" | "camera" | "extent">} scene */
export function shownSize({ frame, camera: { top, left, wide, high }, extent }) {
  return { width: Math.min(frame.width, (extent.cols - left) * wide), height: Math.min(frame.height, (extent.rows - top) * high) };
}

// The pinned row and column of a long text's map, as bars along its edges.

/**
 * The pinned row below the cells and the pinned column beside them, as bars over the units in sight,
 * as high as their largest weight.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene
 */
function bars(context, { frame, camera, window: { rows, cols }, theme, row, col, ...scene }) {
  const { top, left, wide, high: tall } = camera;
  const cellArea = shownSize({ frame, camera, ...scene });
  const high = frame.bars - 8;
  const thick = (/** @type {number} */ unit) => Math.max(1, unit - (unit > 4 ? 1 : 0));
  if (row) {
    const base = frame.top + cellArea.height + 4 + high;
    context.fillStyle = theme.rule;
    context.fillRect(frame.left, base, cellArea.width, 1);
    context.fillStyle = theme.q;
    const maxWeight = largest(row);
    eachBar(row, cols, wide, (unit, weight) => context.fillRect(frame.left + Math.max(0, unit - left) * wide, base - (high * weight) / maxWeight, thick(wide), (high * weight) / maxWeight));
  }
  if (col) {
    const base = frame.left + cellArea.width + 5;
    context.fillStyle = theme.rule;
    context.fillRect(base, frame.top, 1, cellArea.height);
    context.fillStyle = theme.k;
    const maxWeight = largest(col);
    eachBar(col, rows, tall, (unit, weight) => context.fillRect(base + 1, frame.top + Math.max(0, unit - top) * tall, (high * weight) / maxWeight, thick(tall)));
  }
}

/** @param {Float32Array} weights  NaN where masked */
export const largest = (weights) => weights.reduce((highest, weight) => (weight > highest ? weight : highest), 1e-9);

/**
 * A bar for each unit; where several lie under a pixel, one for the largest of them.
 * @param {Float32Array} weights
 * @param {[number, number]} range
 * @param {number} scale
 * @param {(unit: number, weight: number) => void} draw
 */
function eachBar(weights, [from, to], scale, draw) {
  const step = Math.max(1, Math.floor(1 / scale));
  for (let unit = from - (from % step); unit < to; unit += step) {
    let maxWeight = 0;
    for (let i = unit; i < Math.min(unit + step, weights.length); i++) if (weights[i] > maxWeight) maxWeight = weights[i];
    if (maxWeight > 0) draw(unit, maxWeight);
  }
}

// The labels of a long text's map: the names of rows and columns, or their positions.

/** Pixels between two positions that are written. */
const TICKS = 64;
/** Of a slanted label, in radians. */
const SLANT = -Math.PI / 3;

/** Names of rows and columns where they have room; else positions, counted from 1. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function labels(context, scene) {
  const { frame, camera: { top, left, wide, high }, window: { rows, cols }, theme, names, pinned, hovered, labelled } = scene;
  const lit = (/** @type {"row" | "col"} */ axis, /** @type {number} */ unit) => pinned[axis] === unit || hovered[axis] === unit;
  const first = (/** @type {number} */ from, /** @type {number} */ step) => (step === 1 ? from : Math.ceil((from + 1) / step) * step - 1);
  const named = { row: high >= labelled, col: wide >= labelled };
  const [down, across] = [named.row ? 1 : tick(high), named.col ? 1 : tick(wide)];
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(0, frame.top - 4, frame.left, frame.height + 8);
  context.clip();
  context.textAlign = "right";
  for (let row = first(rows[0], down); row < rows[1]; row += down) {
    context.fillStyle = lit("row", row) ? theme.q : named.row ? theme.ink : theme.muted;
    context.fillText(named.row ? fitting(context, names.rows(row), frame.left - 10) : String(row + 1), frame.left - 6, frame.top + (row + 0.5 - top) * high);
  }
  context.restore();
  context.save();
  context.beginPath();
  context.rect(frame.left - 4, 0, frame.width + frame.bars, frame.top);
  context.clip();
  for (let col = first(cols[0], across); col < cols[1]; col += across) {
    context.fillStyle = lit("col", col) ? theme.k : named.col ? theme.ink : theme.muted;
    const x = frame.left + (col + 0.5 - left) * wide;
    if (named.col) slanted(context, fitting(context, names.cols(col), (frame.top - 12) / Math.sin(-SLANT)), x, frame.top - 6);
    else {
      context.textAlign = "center";
      context.fillText(String(col + 1), x, frame.top - theme.size);
    }
  }
  context.restore();
}

/** As much of a text as has room. @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y */
function slanted(context, text, x, y) {
  context.save();
  context.translate(x, y);
  if ([...text].length > 1) context.rotate(SLANT);
  context.textAlign = [...text].length > 1 ? "left" : "center";
  context.fillText(text, 0, [...text].length > 1 ? 0 : -4);
  context.restore();
}

/** Units between two positions that are written: 1, 2 or 5 times a power of ten. @param {number} scale */
export function tick(scale) {
  const least = TICKS / scale;
  const ten = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least) ?? 10 * ten);
}

/** @typedef {{left: number, top: number, width: number, height: number, bars: number}} Frame  of the cells, in pixels; bars: their height beside it */
/** @typedef {{image: CanvasImageSource, rows: number, cols: number, units: Window, span: {rows: number, cols: number}}} Layer  an image of so many cells */
/**
 * @typedef {object} Scene
 * @property {Frame} frame
 * @property {Camera} camera
 * @property {Extent} extent
 * @property {Window} window
 * @property {(Layer | Window)[]} layers  coarse ones first; a window alone is masked as a whole
 * @property {Theme} theme
 * @property {Shade} shade
 * @property {CanvasPattern | string} hatch
 * @property {{rows: (unit: number) => string, cols: (unit: number) => string}} names
 * @property {(row: number, col: number) => number | undefined} weight  of a single cell that is there sharp
 * @property {{row: number | null, col: number | null}} pinned
 * @property {{row: number | null, col: number | null}} hovered
 * @property {Float32Array | null} row  weights of the pinned row
 * @property {Float32Array | null} col  weights of the pinned column
 * @property {number} labelled  pixels a unit from which on each is named
 */

/** @param {CanvasRenderingContext2D} context  scaled to CSS pixels @param {Scene} scene */
export function paintMap(context, scene) {
  const { frame, theme } = scene;
  const { width, height } = context.canvas;
  context.clearRect(0, 0, width, height);
  cells(context, scene);
  numbers(context, scene);
  marks(context, scene);
  context.font = `${theme.size}px ${theme.font}`;
  labels(context, scene);
  bars(context, scene);
  const cellArea = shownSize(scene);
  context.strokeStyle = theme.rule;
  context.lineWidth = 1;
  context.strokeRect(frame.left - 0.5, frame.top - 0.5, cellArea.width + 1, cellArea.height + 1);
}

/** @param {Scene} scene @param {Window} units  Where they lie, in pixels. */
function boxOf({ frame, camera: { top, left, wide, high } }, { rows, cols }) {
  const [x, y] = [frame.left + (cols[0] - left) * wide, frame.top + (rows[0] - top) * high];
  return { x, y, width: (cols[1] - cols[0]) * wide, height: (rows[1] - rows[0]) * high };
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function cells(context, scene) {
  const { frame, theme, hatch, layers } = scene;
  const cellArea = shownSize(scene);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, cellArea.width, cellArea.height);
  context.clip();
  context.fillStyle = theme.paper;
  context.fillRect(frame.left, frame.top, cellArea.width, cellArea.height);
  for (const layer of layers) {
    const whole = "image" in layer ? layer.units : layer;
    const { x, y, width, height } = boxOf(scene, whole);
    context.fillStyle = theme.paper;
    context.fillRect(x, y, width, height);
    context.fillStyle = hatch;
    context.fillRect(x, y, width, height);
    if (!("image" in layer)) continue;
    const { units, span, rows, cols, image } = layer;
    const box = boxOf(scene, { rows: [units.rows[0], units.rows[0] + rows * span.rows], cols: [units.cols[0], units.cols[0] + cols * span.cols] });
    context.imageSmoothingEnabled = box.width < cols;
    context.drawImage(image, box.x, box.y, box.width, box.height);
  }
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function numbers(context, { frame, camera: { top, left, wide, high }, window: { rows, cols }, theme, shade, weight, extent }) {
  if (wide < 2.6 * theme.size || high < 1.6 * theme.size) return;
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.width, frame.height);
  context.clip();
  context.font = `${theme.size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = rows[0]; row < Math.min(rows[1], extent.rows); row++)
    for (let col = cols[0]; col < Math.min(cols[1], extent.cols); col++) {
      const value = weight(row, col);
      if (value === undefined || Number.isNaN(value)) continue;
      context.fillStyle = legible(colourOf(shade, value));
      context.fillText(cellText(shade, value), frame.left + (col + 0.5 - left) * wide, frame.top + (row + 0.5 - top) * high + 1);
    }
  context.restore();
}

/** The pinned row and column, and what the pointer is on. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function marks(context, scene) {
  const { frame, extent, theme, pinned, hovered } = scene;
  const cellArea = shownSize(scene);
  context.save();
  context.beginPath();
  context.rect(frame.left - 1, frame.top - 1, cellArea.width + 2, cellArea.height + 2);
  context.clip();
  /** @param {{row: number | null, col: number | null}} place @param {number} wide */
  const mark = ({ row, col }, wide) => {
    context.lineWidth = wide;
    if (row !== null) outline(theme.q, boxOf(scene, { rows: [row, row + 1], cols: [0, extent.cols] }));
    if (col !== null) outline(theme.k, boxOf(scene, { rows: [0, extent.rows], cols: [col, col + 1] }));
    if (row !== null && col !== null) outline(theme.ink, boxOf(scene, { rows: [row, row + 1], cols: [col, col + 1] }));
  };
  /** @param {string} ink @param {{x: number, y: number, width: number, height: number}} box  At least so large that it is seen. */
  const outline = (ink, { x, y, width, height }) => {
    const [wider, taller] = [Math.max(0, 5 - width) / 2, Math.max(0, 5 - height) / 2];
    context.strokeStyle = ink;
    context.strokeRect(x - wider, y - taller, width + 2 * wider, height + 2 * taller);
  };
  mark(hovered, 1);
  mark(pinned, 2);
  context.restore();
}

// The pattern of what is masked, on a canvas.

/**
 * Rising lines for what is masked.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @returns {CanvasPattern | string}
 */
export function hatching(context, theme) {
  return memo(theme, "hatching", () => {
    const tile = context.canvas.ownerDocument.createElement("canvas");
    tile.width = tile.height = 6;
    const tileContext = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    tileContext.strokeStyle = theme.hatch;
    tileContext.beginPath();
    for (const x of [-6, 0, 6]) {
      tileContext.moveTo(x - 1, 7);
      tileContext.lineTo(x + 7, -1);
    }
    tileContext.stroke();
    return context.createPattern(tile, "repeat") ?? theme.hatch;
  });
}
