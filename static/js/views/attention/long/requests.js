/** The windows of weights to request, and the names under which they are cached. */

import { place } from "../../../data/attentions.js";
import { SIDE, hidden, tileName, tilesOf, unitsOf } from "../../../compute/map-window.js";
import { longRequest } from "../../../state/run-request.js";
import { levelOf } from "./axes.js";

/** @typedef {import("../../../state/store.js").Page} Page */
/** @typedef {import("../../../compute/map-window.js").Window} Window */
/** @typedef {import("../../../compute/map-window.js").Range} Range */
/** @typedef {import("../../../compute/map-window.js").Tile} Tile */
/** @typedef {import("../../../state/tile-cache.js").Wish} Wish */
/** @typedef {{rows: import("./axes.js").Axis, cols: import("./axes.js").Axis}} Axes */

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
    .map(({ tile, units }) => ({ name: nameOf(page, tile), body: body(page, axes, units) }));
}

/**
 * A complete row or column.
 * @param {Page} page
 * @param {Axes} axes
 * @param {"row" | "col"} which
 * @param {number} unit
 * @returns {Wish}
 */
export function lineWish(page, axes, which, unit) {
  const one = /** @type {Range} */ ([unit, unit + 1]);
  const units = which === "row" ? { rows: one, cols: /** @type {Range} */ ([0, axes.cols.count]) } : { rows: /** @type {Range} */ ([0, axes.rows.count]), cols: one };
  return { name: lineName(page, which, unit), body: body(page, axes, units, false) };
}

/**
 * @param {Page} page
 * @param {Axes} axes
 * @param {Window} units
 * @param {boolean} [pools]  whether it may be pooled to the cells of a tile
 */
function body(page, { rows, cols }, units, pools = true) {
  const { model, link } = page;
  if (!model) return {};
  const at = { ...longRequest(model, link), ...page.trace?.long?.texts, at: place(model, link), head: link.head };
  if (rows.edges && cols.edges) {
    const within = (/** @type {number[]} */ edges, /** @type {Range} */ [from, to]) => edges.slice(from, to + 1);
    return { ...at, edges: { query: within(rows.edges, units.rows), key: within(cols.edges, units.cols) } };
  }
  return { ...at, query: units.rows, key: units.cols, ...(pools && { cells: [SIDE, SIDE] }) };
}
