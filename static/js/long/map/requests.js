/** The windows of weights to request, and the names under which they are cached. */

import { place } from "../../core/wire/attentions.js";
import { SIDE, coarsest, hidden, tileName, tilesOf, unitsOf } from "./map-window.js";
import { longRequest } from "../../core/store/run-request.js";
import { levelOf } from "./axes.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Window, Range, Tile } from "./map-window.js" */
/** @import { Wish } from "./tile-cache.js" */
/** @typedef {{rows: import("./axes.js").Axis, cols: import("./axes.js").Axis}} Axes */

/** The largest number of tiles in a share: two million weights. */
const KEPT = 32;

/** The name of a head's matrix. @param {Page} page */
export const matrixName = (page) => `${page.trace?.id} ${place(page.model, page.link)} ${page.link.head} ${levelOf(page)}`;

/** @param {Page} page @param {Tile} tile */
export const nameOf = (page, tile) => `${matrixName(page)} ${tileName(tile)}`;

/** @param {Page} page @param {"row" | "col"} which @param {number} unit */
export const lineName = (page, which, unit) => `${matrixName(page)} ${which} ${unit}`;

/**
 * The missing tiles of a window at a level.
 * @param {Page} page
 * @param {Axes} axes
 * @param {Window} window
 * @param {number} level
 * @param {boolean} causal
 * @returns {Wish[]}
 */
export function tileWishes(page, axes, window, level, causal) {
  const extent = { rows: axes.rows.count, cols: axes.cols.count };
  return tilesOf(window, level)
    .map((tile) => ({ tile, units: unitsOf(tile, extent) }))
    .filter(({ units }) => !hidden(units, causal))
    .map(({ tile, units }) => ({ name: nameOf(page, tile), body: body(page, windowOf(page, axes, units)) }));
}

/**
 * The windows that a share contains: rows and columns, the tiles in sight, the coarser ones that cover
 * them, for a smaller screen and to zoom out, and from the middle as many of the next finer level as fit.
 * @param {Page} page
 * @param {Axes} axes
 * @param {{window: Window, level: number, causal: boolean, row: number | null, col: number | null}} sight
 */
export function windowsToKeep(page, axes, { window, level, causal, row, col }) {
  const extent = { rows: axes.rows.count, cols: axes.cols.count };
  const coarser = Array.from({ length: Math.max(0, coarsest(extent) - level) }, (_, i) => level + 1 + i);
  const levels = axes.rows.edges ? [level] : [level, ...coarser, level - 1].filter((one) => one >= 0);
  const tiles = levels.flatMap((one) => tilesOf(window, one)).map((tile) => unitsOf(tile, extent));
  const lines = [row === null ? [] : [lineUnits(axes, "row", row)], col === null ? [] : [lineUnits(axes, "col", col)]].flat();
  return [
    ...lines.map((units) => windowOf(page, axes, units, false)),
    ...tiles.filter((units) => !hidden(units, causal)).slice(0, KEPT).map((units) => windowOf(page, axes, units)),
  ];
}

/**
 * A complete row or column.
 * @param {Page} page
 * @param {Axes} axes
 * @param {"row" | "col"} which
 * @param {number} unit
 * @returns {Wish}
 */
export const lineWish = (page, axes, which, unit) => ({
  name: lineName(page, which, unit),
  body: body(page, windowOf(page, axes, lineUnits(axes, which, unit), false)),
});

/** @param {Axes} axes @param {"row" | "col"} which @param {number} unit @returns {Window} */
function lineUnits({ rows, cols }, which, unit) {
  return which === "row" ? { rows: [unit, unit + 1], cols: [0, cols.count] } : { rows: [0, rows.count], cols: [unit, unit + 1] };
}

/** @param {Page} page @param {object} window  as the API takes it */
const body = ({ model, link, trace }, window) => (model ? { ...longRequest(model, link), ...trace?.long?.texts, ...window } : {});

/**
 * @param {Page} page
 * @param {Axes} axes
 * @param {Window} units
 * @param {boolean} [pools]  whether it may be pooled to the cells of a tile
 */
function windowOf({ model, link }, { rows, cols }, units, pools = true) {
  const at = { at: place(model, link), head: link.head };
  if (rows.edges && cols.edges) {
    const within = (/** @type {number[]} */ edges, /** @type {Range} */ [from, to]) => edges.slice(from, to + 1);
    return { ...at, edges: { query: within(rows.edges, units.rows), key: within(cols.edges, units.cols) } };
  }
  return { ...at, query: units.rows, key: units.cols, ...(pools && { cells: [SIDE, SIDE] }) };
}
