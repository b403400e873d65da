/** Exports of a long text's map: its picture, and the visible numbers. */

import { spanOf } from "./map-window.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { matrix } from "../../core/compute/computed-tensors.js";
import { extentOf, seenAt } from "./sight.js";

/** @import { LongMap, Shown } from "./map.js" */
/** @import { Axis } from "./axes.js" */

/**
 * The map as drawn, with the cells as one image.
 * @param {LongMap} map
 * @param {import("../../core/draw/theme.js").Theme} theme
 */
export function pictureOf({ canvas }, theme) {
  const { width, height } = canvas.getBoundingClientRect();
  return { svg: file(drawing(width, height, theme, s("image", { x: 0, y: 0, width, height, href: canvas.toDataURL() })), theme) };
}

/**
 * The visible cells as drawn: single weights, or the largest of several.
 * @param {Shown} shown
 * @param {import("./tile-cache.js").TileCache} tiles
 * @param {LongMap} map
 * @returns {import("../../core/compute/computed-tensors.js").Shown | null}  null: not loaded yet
 */
export function numbersOf(shown, tiles, map) {
  const { rows, cols } = map.sight();
  const stride = spanOf(map.level(), extentOf(shown));
  const [down, across] = [places(rows, stride.rows), places(cols, stride.cols)];
  const values = new Float32Array(down.length * across.length);
  for (const [i, row] of down.entries())
    for (const [j, col] of across.entries()) {
      const found = seenAt(shown, tiles, map.level(), { row, col });
      if (!found) return null;
      values[i * across.length + j] = found.value;
    }
  const named = (/** @type {Axis} */ axis, /** @type {number[]} */ units, /** @type {number} */ step) => units.map((unit) => ({ text: nameOf(axis, unit, Math.min(unit + step, axis.count)) }));
  return {
    tokens: { query: named(shown.axes.rows, down, stride.rows), key: named(shown.axes.cols, across, stride.cols) },
    tensors: { weights: matrix({ rows: down.length, cols: across.length, values }) },
  };
}

/** The first unit of each cell of a range. @param {[number, number]} range @param {number} step */
function places([from, to], step) {
  const first = from - (from % step);
  return Array.from({ length: Math.ceil((to - first) / step) }, (_, i) => first + i * step);
}

/** @param {Axis} axis @param {number} from @param {number} to */
const nameOf = (axis, from, to) => (to - from === 1 ? `${from + 1} ${axis.label(from)}` : `${from + 1}–${to}`);
