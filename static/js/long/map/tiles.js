/** The available parts of a head's matrix: tiles above the thumbnail, and the weight of a cell. */

import { raster } from "../../core/draw/matrix-canvas.js";
import { longRequest } from "../../core/store/view-requests.js";
import { attentionAt, blockAt, place, rules } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { createAsker } from "../../core/wire/connection.js";
import { coarseAddress } from "../../core/wire/tensor-cache.js";
import { memo } from "../../lib/memo.js";
import { levelOf } from "./axes.js";
import { SIDE, coarsest, isHidden, tileLayers, tileName, tilesOf, unitsOf } from "./map-window.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Range, Tile, Window } from "./map-window.js" */
/** @import { Shade } from "../../core/draw/matrix-canvas.js" */
/** @import { Tensor } from "../../core/wire/safetensors.js" */

// Tiles of a long text's weights as images, a pixel a cell; what is masked stays clear.

/**
 * @param {Document} document
 * @param {Tensor} tensor  of two dims
 * @param {import("../../core/draw/matrix-canvas.js").Shade} shade
 * @returns {HTMLCanvasElement}
 */
export function tileImage(document, tensor, shade) {
  const name = `image ${shade.floor ?? 0} ${shade.stops.at(-1)}`;
  return memo(tensor, name, () => {
    const [rows, cols] = tensor.shape;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [cols, rows];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(cols, rows);
    raster(image.data, tensor.data, shade);
    context.putImageData(image, 0, 0);
    return canvas;
  }, 2);
}

// The windows of weights to request, and the names under which they are cached.

/** @typedef {{rows: import("./axes.js").Axis, cols: import("./axes.js").Axis}} Axes */

/** The largest number of tiles in a share: two million weights. */
const MAX_SHARED = 32;

/** The name of a head's matrix. @param {Page} page */
export const matrixName = (page) => `${page.trace?.id} ${place(page.model, page.link)} ${page.link.head} ${levelOf(page)}`;

/** @param {Page} page @param {Tile} tile */
const nameOf = (page, tile) => `${matrixName(page)} ${tileName(tile)}`;

/** @param {Page} page @param {"row" | "col"} axis @param {number} unit */
export const lineName = (page, axis, unit) => `${matrixName(page)} ${axis} ${unit}`;

/**
 * The missing tiles of a window at a level.
 * @param {Page} page
 * @param {Axes} axes
 * @param {Window} window
 * @param {number} level
 * @param {boolean} causal
 * @returns {TileRequest[]}
 */
export function tileRequests(page, axes, window, level, causal) {
  const extent = { rows: axes.rows.count, cols: axes.cols.count };
  return tilesOf(window, level)
    .map((tile) => ({ tile, units: unitsOf(tile, extent) }))
    .filter(({ units }) => !isHidden(units, causal))
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
  const levels = axes.rows.edges ? [level] : [level, ...coarser, level - 1].filter((candidate) => candidate >= 0);
  const tiles = levels.flatMap((tileLevel) => tilesOf(window, tileLevel)).map((tile) => unitsOf(tile, extent));
  const lines = [row === null ? [] : [lineUnits(axes, "row", row)], col === null ? [] : [lineUnits(axes, "col", col)]].flat();
  return [
    ...lines.map((units) => windowOf(page, axes, units, false)),
    ...tiles.filter((units) => !isHidden(units, causal)).slice(0, MAX_SHARED).map((units) => windowOf(page, axes, units)),
  ];
}

/**
 * A complete row or column.
 * @param {Page} page
 * @param {Axes} axes
 * @param {"row" | "col"} axis
 * @param {number} unit
 * @returns {TileRequest}
 */
export const lineRequest = (page, axes, axis, unit) => ({
  name: lineName(page, axis, unit),
  body: body(page, windowOf(page, axes, lineUnits(axes, axis, unit), false)),
});

/** @param {Axes} axes @param {"row" | "col"} axis @param {number} unit @returns {Window} */
function lineUnits({ rows, cols }, axis, unit) {
  return axis === "row" ? { rows: [unit, unit + 1], cols: [0, cols.count] } : { rows: [0, rows.count], cols: [unit, unit + 1] };
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
  const headPlace = { at: place(model, link), head: link.head };
  if (rows.edges && cols.edges) {
    const within = (/** @type {number[]} */ edges, /** @type {Range} */ [from, to]) => edges.slice(from, to + 1);
    return { ...headPlace, edges: { query: within(rows.edges, units.rows), key: within(cols.edges, units.cols) } };
  }
  return { ...headPlace, query: units.rows, key: units.cols, ...(pools && { cells: [SIDE, SIDE] }) };
}

/** @typedef {{page: Page, axes: Axes, shade: Shade}} Head */
/** @typedef {{value: number, units: Window}} CellValue  units: those that the cell stands for */

/** @param {Head} head */
export const extentOf = ({ axes: { rows, cols } }) => ({ rows: rows.count, cols: cols.count });

/** Whether no row may look at a later column: sentences that are written do look at themselves, one column later. @param {Page} page */
export const isCausal = (page) => rules(attentionAt(page.model, place(page.model, page.link))?.mask ?? "").includes("causal") && !(blockAt(page).writes && levelOf(page) !== "tokens");

/**
 * The layers of a window, coarsest first.
 * @param {Document} document
 * @param {Head} head
 * @param {TileCache} tiles
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
  const layers = tileLayers(window, level, extent, (tile) => {
    const units = unitsOf(tile, extent);
    if (isHidden(units, isCausal(head.page))) return units;
    const tensor = tiles.get(nameOf(head.page, tile));
    return tensor && layer(tensor, units);
  });
  const small = head.axes.rows.edges ? null : thumbnail(head.page);
  const all = small ? [layer(small, { rows: [0, extent.rows], cols: [0, extent.cols] })] : [];
  return [...all, ...layers.map((entry) => entry.content)];
}

/**
 * The head's thumbnail from the overview, shown before any tile arrives.
 * @param {Page} page
 * @returns {Tensor | null}
 */
export function thumbnail({ trace, model, link }) {
  const all = trace?.tensors[coarseAddress(place(model, link, "weights"))];
  const mask = trace?.tensors[place(model, link, "mask")];
  if (!all || !mask || link.head >= all.shape[0]) return null;
  return memo(all, `thumbnail ${link.head}`, () => {
    const [rows, cols] = mask.shape;
    const headCells = all.data.subarray(link.head * rows * cols, (link.head + 1) * rows * cols);
    const data = Float32Array.from(headCells, (value, i) => (mask.data[i] ? value / 255 : NaN));
    return { ...all, dtype: "float32", shape: [rows, cols], data };
  });
}

/**
 * The row to begin with while none is pinned: one that looks hard at a token that is neither the first
 * nor near itself, as far as the thumbnail tells.
 * @param {Page} page
 * @param {Axes} axes
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
 * @param {TileCache} tiles
 * @param {number} level
 * @param {{row: number, col: number}} unit
 * @returns {CellValue | null}
 */
export function cellValueAt(head, tiles, level, { row, col }) {
  const extent = extentOf(head);
  for (let tileLevel = level; tileLevel <= coarsest(extent); tileLevel++) {
    const side = SIDE * 2 ** tileLevel;
    const tile = { level: tileLevel, row: Math.floor(row / side), col: Math.floor(col / side) };
    const units = unitsOf(tile, extent);
    if (isHidden(units, isCausal(head.page))) return { value: NaN, units: { rows: [row, row + 1], cols: [col, col + 1] } };
    const tensor = tiles.get(nameOf(head.page, tile));
    if (tensor) return cellOf(tensor, units, row, col);
  }
  return null;
}

/** Whether a cell is one weight. @param {CellValue} cell */
export const isSharp = ({ units: { rows, cols } }) => rows[1] - rows[0] === 1 && cols[1] - cols[0] === 1;

/**
 * @param {Tensor} tensor
 * @param {Window} units  of the tile
 * @param {number} row
 * @param {number} col
 * @returns {CellValue}
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

// Windows of a long text's weights, requested when they come into view: a few at a time, and
// cancelled when no longer wanted. Results are cached up to a limit of memory.

/** @typedef {{name: string, body: object}} TileRequest  name: equal for equal windows; body: as the API takes it */
/** @typedef {ReturnType<typeof createTileCache>} TileCache */

/** Number of simultaneous requests: the server computes one while the next is being sent. */
const AT_ONCE = 2;
/** The size of the cache in bytes. */
const CACHE_BYTES = 48 * 2 ** 20;

/**
 * @param {object} of
 * @param {(body: object, signal: AbortSignal) => Promise<Tensor>} of.ask
 * @param {() => void} of.changed  called after a result or a failure
 * @param {number} [of.maxBytes]  bytes
 */
export function createTileCache({ ask, changed, maxBytes = CACHE_BYTES }) {
  /** In order of use, the most recent last. @type {Map<string, Tensor>} */
  const cached = new Map();
  /** @type {Map<string, import("../../core/wire/connection.js").Asker>} */
  const open = new Map();
  /** @type {Map<string, Problem>} */
  const failed = new Map();
  /** @type {TileRequest[]} */
  let currentWishes = [];
  let bytes = 0;

  /** @param {TileRequest} wish */
  async function load({ name, body }) {
    const asker = createAsker();
    open.set(name, asker);
    const reply = await asker.ask((signal) => ask(body, signal));
    if (reply === null) return;
    open.delete(name);
    if (reply instanceof Problem) failed.set(name, reply);
    else keep(name, reply);
    next();
    changed();
  }

  /** @param {string} name @param {Tensor} tensor */
  function keep(name, tensor) {
    cached.set(name, tensor);
    bytes += tensor.data.byteLength;
    const needed = new Set(currentWishes.map((wish) => wish.name));
    for (const [old, { data }] of cached) {
      if (bytes <= maxBytes) break;
      if (needed.has(old)) continue;
      cached.delete(old);
      bytes -= data.byteLength;
    }
  }

  function next() {
    for (const wish of currentWishes) {
      if (open.size >= AT_ONCE) return;
      if (!cached.has(wish.name) && !open.has(wish.name) && !failed.has(wish.name)) void load(wish);
    }
  }

  /** @param {string} name */
  function cancel(name) {
    open.get(name)?.stop();
    open.delete(name);
  }

  return {
    /** @param {string} name @returns {Tensor | undefined} */
    get(name) {
      const tensor = cached.get(name);
      if (!tensor) return undefined;
      cached.delete(name);
      cached.set(name, tensor);
      return tensor;
    },

    /** @param {TileRequest[]} wishes  All that is wanted now, the most urgent first. */
    want(wishes) {
      currentWishes = wishes;
      const names = new Set(wishes.map(({ name }) => name));
      for (const name of [...open.keys()]) if (!names.has(name)) cancel(name);
      next();
    },

    /** The first failure among the wanted windows, except of those that a share does not have. @returns {Problem | null} */
    problem: () => currentWishes.map(({ name }) => failed.get(name)).find((problem) => problem && problem.kind !== "frozen") ?? null,

    /** Whether a window was not in the share, whose model is gone. @param {string} name */
    isUnsaved: (name) => failed.get(name)?.kind === "frozen",

    /** Whether a wanted window is still loading. */
    waits: () => currentWishes.some(({ name }) => !cached.has(name) && !failed.has(name)),

    /** Request failed windows again. */
    retry() {
      failed.clear();
      next();
      changed();
    },

    stop() {
      currentWishes = [];
      for (const name of [...open.keys()]) cancel(name);
    },
  };
}
