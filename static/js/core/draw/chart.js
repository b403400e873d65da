/** A matrix on a canvas: its cells, their patterns, and the numbers if there is room. */

import { sharpness } from "./paper.js";
import { cells, covers, hasRoom, numbers, open } from "./paint.js";

/** @import { Matrix } from "../wire/wire.js" */
/**
 * @typedef {object} Picture
 * @property {Matrix} matrix  NaN where masked
 * @property {Uint8Array} [cover]  why a cell shows no number (`COVER`); absent: NaN is masked
 * @property {import("./geometry.js").Geometry} geometry
 * @property {import("./paint.js").Shade} shade
 * @property {import("./theme.js").Theme} theme
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
  const seen = open(picture);
  cells(context, seen, geometry, shade, theme.rule);
  if (seen.values.some(Number.isNaN)) covers(context, picture, geometry, theme.hatch);
  if (hasRoom(geometry, theme, shade.range)) numbers(context, seen, geometry, shade, theme);
}

/** The largest canvas that phones allow, in pixels. */
const MOST = 2 ** 24;

/**
 * Prepare a canvas for drawing; if its size does not change, its memory is reused.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width  in CSS pixels
 * @param {number} height
 */
export function prepare(canvas, width, height) {
  const ratio = Math.min(sharpness(canvas.ownerDocument), Math.sqrt(MOST / (width * height)));
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
