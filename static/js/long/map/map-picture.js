/**
 * The picture of a long text's matrix on a canvas: tiles as they are there, hatching where they are
 * masked, labels or positions beside them, and the pinned row and column as bars along its edges.
 */

import { bars } from "./map-bars.js";
import { shownSize } from "./map-frame.js";
import { labels } from "./map-labels.js";
import { colourOf, legible, written } from "../../core/draw/paint.js";

/** @import { Camera, Window, Extent } from "./map-window.js" */
/** @import { Theme } from "../../core/draw/theme.js" */
/** @import { Shade } from "../../core/draw/paint.js" */
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
  const shown = shownSize(scene);
  context.strokeStyle = theme.rule;
  context.lineWidth = 1;
  context.strokeRect(frame.left - 0.5, frame.top - 0.5, shown.width + 1, shown.height + 1);
}

/** @param {Scene} scene @param {Window} units  Where they lie, in pixels. */
function boxOf({ frame, camera: { top, left, wide, high } }, { rows, cols }) {
  const [x, y] = [frame.left + (cols[0] - left) * wide, frame.top + (rows[0] - top) * high];
  return { x, y, width: (cols[1] - cols[0]) * wide, height: (rows[1] - rows[0]) * high };
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function cells(context, scene) {
  const { frame, theme, hatch, layers } = scene;
  const shown = shownSize(scene);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, shown.width, shown.height);
  context.clip();
  context.fillStyle = theme.paper;
  context.fillRect(frame.left, frame.top, shown.width, shown.height);
  for (const layer of layers) {
    const whole = "image" in layer ? layer.units : layer;
    const { x, y, width, height } = boxOf(scene, whole);
    context.fillStyle = theme.paper;
    context.fillRect(x, y, width, height);
    context.fillStyle = hatch;
    context.fillRect(x, y, width, height);
    if (!("image" in layer)) continue;
    const { units, span, rows, cols, image } = layer;
    const at = boxOf(scene, { rows: [units.rows[0], units.rows[0] + rows * span.rows], cols: [units.cols[0], units.cols[0] + cols * span.cols] });
    context.imageSmoothingEnabled = at.width < cols;
    context.drawImage(image, at.x, at.y, at.width, at.height);
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
      context.fillText(written(shade, value), frame.left + (col + 0.5 - left) * wide, frame.top + (row + 0.5 - top) * high + 1);
    }
  context.restore();
}

/** The pinned row and column, and what the pointer is on. @param {CanvasRenderingContext2D} context @param {Scene} scene */
function marks(context, scene) {
  const { frame, extent, theme, pinned, hovered } = scene;
  const shown = shownSize(scene);
  context.save();
  context.beginPath();
  context.rect(frame.left - 1, frame.top - 1, shown.width + 2, shown.height + 2);
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
    const [more, taller] = [Math.max(0, 5 - width) / 2, Math.max(0, 5 - height) / 2];
    context.strokeStyle = ink;
    context.strokeRect(x - more, y - taller, width + 2 * more, height + 2 * taller);
  };
  mark(hovered, 1);
  mark(pinned, 2);
  context.restore();
}
