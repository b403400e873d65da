/** The pinned row and column of a long text's map, as bars along its edges. */

import { shownSize } from "./map-frame.js";

/** @import { Scene } from "./map-picture.js" */

/**
 * The pinned row below the cells and the pinned column beside them, as bars over the units in sight,
 * as high as their largest weight.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene
 */
export function bars(context, { frame, camera, window: { rows, cols }, theme, row, col, ...scene }) {
  const { top, left, wide, high: tall } = camera;
  const shown = shownSize({ frame, camera, ...scene });
  const high = frame.bars - 8;
  const thick = (/** @type {number} */ unit) => Math.max(1, unit - (unit > 4 ? 1 : 0));
  if (row) {
    const base = frame.top + shown.height + 4 + high;
    context.fillStyle = theme.rule;
    context.fillRect(frame.left, base, shown.width, 1);
    context.fillStyle = theme.q;
    const most = largest(row);
    each(row, cols, wide, (unit, weight) => context.fillRect(frame.left + Math.max(0, unit - left) * wide, base - (high * weight) / most, thick(wide), (high * weight) / most));
  }
  if (col) {
    const base = frame.left + shown.width + 5;
    context.fillStyle = theme.rule;
    context.fillRect(base, frame.top, 1, shown.height);
    context.fillStyle = theme.k;
    const most = largest(col);
    each(col, rows, tall, (unit, weight) => context.fillRect(base + 1, frame.top + Math.max(0, unit - top) * tall, (high * weight) / most, thick(tall)));
  }
}

/** @param {Float32Array} weights  NaN where masked */
export const largest = (weights) => weights.reduce((most, weight) => (weight > most ? weight : most), 1e-9);

/**
 * A bar for each unit; where several lie under a pixel, one for the largest of them.
 * @param {Float32Array} weights
 * @param {[number, number]} range
 * @param {number} scale
 * @param {(unit: number, weight: number) => void} draw
 */
function each(weights, [from, to], scale, draw) {
  const step = Math.max(1, Math.floor(1 / scale));
  for (let unit = from - (from % step); unit < to; unit += step) {
    let most = 0;
    for (let i = unit; i < Math.min(unit + step, weights.length); i++) if (weights[i] > most) most = weights[i];
    if (most > 0) draw(unit, most);
  }
}
