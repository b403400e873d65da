/** The available parts of a head's matrix: tiles above the thumbnail, and the weight of a cell. */

import { attentionAt, blockAt, place, rules } from "../../core/wire/attentions.js";
import { coarse } from "../../core/wire/tensor-address.js";
import { memo } from "../../lib/memo.js";
import { SIDE, coarsest, hidden, layered, unitsOf } from "./map-window.js";
import { tileImage } from "./tile-images.js";
import { levelOf } from "./axes.js";
import { nameOf } from "./requests.js";

/** @import { Window } from "./map-window.js" */
/** @import { Tensor } from "../../core/wire/wire.js" */
/** @import { Shade } from "../../core/draw/paint.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { TileCache as Tiles } from "./tile-cache.js" */
/** @typedef {{page: Page, axes: import("./requests.js").Axes, shade: Shade}} Head */
/** @typedef {{value: number, units: Window}} Seen  units: those that the cell stands for */

/** @param {Head} head */
export const extentOf = ({ axes: { rows, cols } }) => ({ rows: rows.count, cols: cols.count });

/** Whether no row may look at a later column: sentences that are written do look at themselves, one column later. @param {Page} page */
export const causal = (page) => rules(attentionAt(page.model, place(page.model, page.link))?.mask ?? "").includes("causal") && !(blockAt(page).writes && levelOf(page) !== "tokens");

/**
 * The layers of a window, coarsest first.
 * @param {Document} document
 * @param {Head} head
 * @param {Tiles} tiles
 * @param {Window} window
 * @param {number} level
 * @returns {(import("./map-picture.js").Layer | Window)[]}
 */
export function layersOf(document, head, tiles, window, level) {
  const extent = extentOf(head);
  const layer = (/** @type {Tensor} */ tensor, /** @type {Window} */ units) => {
    const [rows, cols] = tensor.shape;
    const span = { rows: tensor.span?.query ?? 1, cols: tensor.span?.key ?? 1 };
    return { image: tileImage(document, tensor, head.shade), rows, cols, units, span };
  };
  const found = layered(window, level, extent, (tile) => {
    const units = unitsOf(tile, extent);
    if (hidden(units, causal(head.page))) return units;
    const tensor = tiles.get(nameOf(head.page, tile));
    return tensor && layer(tensor, units);
  });
  const small = head.axes.rows.edges ? null : thumbnail(head.page);
  const all = small ? [layer(small, { rows: [0, extent.rows], cols: [0, extent.cols] })] : [];
  return [...all, ...found.map((one) => one.found)];
}

/**
 * The head's thumbnail from the overview, shown before any tile arrives.
 * @param {Page} page
 * @returns {Tensor | null}
 */
export function thumbnail({ trace, model, link }) {
  const all = trace?.tensors[coarse(place(model, link, "weights"))];
  const mask = trace?.tensors[place(model, link, "mask")];
  if (!all || !mask || link.head >= all.shape[0]) return null;
  return memo(all, `thumbnail ${link.head}`, () => {
    const [rows, cols] = mask.shape;
    const own = all.data.subarray(link.head * rows * cols, (link.head + 1) * rows * cols);
    const data = Float32Array.from(own, (value, i) => (mask.data[i] ? value / 255 : NaN));
    return { ...all, dtype: "float32", shape: [rows, cols], data };
  });
}

/**
 * The row to begin with while none is pinned: one that looks hard at a token that is neither the first
 * nor near itself, as far as the thumbnail tells.
 * @param {Page} page
 * @param {import("./requests.js").Axes} axes
 * @returns {number | null}  in units
 */
export function firstRow(page, axes) {
  const small = thumbnail(page);
  if (!small) return null;
  return memo(small, `first ${axes.rows.count}`, () => {
    const [rows, cols] = small.shape;
    const self = axes.rows.text === axes.cols.text;
    let best = { row: 0, weight: -1 };
    for (let row = 0; row < rows; row++)
      for (let col = 1; col < cols; col++) {
        const weight = small.data[row * cols + col];
        if (weight > best.weight && !(self && Math.abs(row - col) < 2)) best = { row, weight };
      }
    const token = Math.floor((best.row + 0.5) * (small.span?.query ?? 1));
    return axes.rows.unitOf(Math.min(token, axes.rows.tokens.length - 1));
  });
}

/**
 * A cell at a level, or at the finest level available.
 * @param {Head} head
 * @param {Tiles} tiles
 * @param {number} level
 * @param {{row: number, col: number}} unit
 * @returns {Seen | null}
 */
export function seenAt(head, tiles, level, { row, col }) {
  const extent = extentOf(head);
  for (let at = level; at <= coarsest(extent); at++) {
    const side = SIDE * 2 ** at;
    const tile = { level: at, row: Math.floor(row / side), col: Math.floor(col / side) };
    const units = unitsOf(tile, extent);
    if (hidden(units, causal(head.page))) return { value: NaN, units: { rows: [row, row + 1], cols: [col, col + 1] } };
    const tensor = tiles.get(nameOf(head.page, tile));
    if (tensor) return cellOf(tensor, units, row, col);
  }
  return null;
}

/** Whether a cell is one weight. @param {Seen} seen */
export const isSharp = ({ units: { rows, cols } }) => rows[1] - rows[0] === 1 && cols[1] - cols[0] === 1;

/**
 * @param {Tensor} tensor
 * @param {Window} units  of the tile
 * @param {number} row
 * @param {number} col
 * @returns {Seen}
 */
function cellOf({ shape: [, width], data, span = { query: 1, key: 1 } }, { rows, cols }, row, col) {
  const [down, right] = [Math.floor((row - rows[0]) / span.query), Math.floor((col - cols[0]) / span.key)];
  const bounded = (/** @type {number} */ from, /** @type {number} */ size, /** @type {number} */ end) =>
    /** @type {[number, number]} */ ([from, Math.min(from + size, end)]);
  return {
    value: data[down * width + right],
    units: { rows: bounded(rows[0] + down * span.query, span.query, rows[1]), cols: bounded(cols[0] + right * span.key, span.key, cols[1]) },
  };
}
