/**
 * The attention of a long text: a map that can be zoomed and moved, with the pinned row and column
 * along its edges; the text beside it, shaded by either; a search and a small map.
 */

import { COVER } from "../../core/compute/aggregate-attention.js";
import { matrix } from "../../core/compute/computed-tensors.js";
import { shadeOf } from "../../core/draw/colour-scales.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { render } from "../../lib/dom.js";
import { debounce } from "../../lib/timing.js";
import { axesOf, caption, cellsSaid, linkOfWindow, spoken, unsavedSaid, windowInLink } from "./axes.js";
import { createMinimap, layoutOf } from "./layout.js";
import { isWhole, spanOf } from "./map-window.js";
import { createMap } from "./map.js";
import { createReader } from "./text-panel.js";
import { createTileCache, extentOf, firstRow, lineName, lineRequest, cellValueAt, tileRequests, windowsToKeep } from "./tiles.js";

/** @import { Axis } from "./axes.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { LongMap, Place, MapState } from "./map.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Side } from "./text-panel.js" */
/** @import { TileCache as Tiles } from "./tiles.js" */

// Exports of a long text's map: its picture, and the visible numbers.

/**
 * The map as drawn, with the cells as one image.
 * @param {LongMap} map
 * @param {import("../../core/page/page-context.js").Theme} theme
 */
function pictureOf({ canvas }, theme) {
  const { width, height } = canvas.getBoundingClientRect();
  return { svg: file(drawing(width, height, theme, s("image", { x: 0, y: 0, width, height, href: canvas.toDataURL() })), theme) };
}

/**
 * The visible cells as drawn: single weights, or the largest of several.
 * @param {MapState} current
 * @param {import("./tiles.js").TileCache} tiles
 * @param {LongMap} map
 * @returns {import("../../core/compute/computed-tensors.js").ComputedTensors | null}  null: not loaded yet
 */
function numbersOf(current, tiles, map) {
  const { rows, cols } = map.sight();
  const stride = spanOf(map.level(), extentOf(current));
  const [down, across] = [places(rows, stride.rows), places(cols, stride.cols)];
  const values = new Float32Array(down.length * across.length);
  for (const [i, row] of down.entries())
    for (const [j, col] of across.entries()) {
      const cell = cellValueAt(current, tiles, map.level(), { row, col });
      if (!cell) return null;
      values[i * across.length + j] = cell.value;
    }
  const named = (/** @type {Axis} */ axis, /** @type {number[]} */ units, /** @type {number} */ step) => units.map((unit) => ({ text: nameOf(axis, unit, Math.min(unit + step, axis.count)) }));
  return {
    tokens: { query: named(current.axes.rows, down, stride.rows), key: named(current.axes.cols, across, stride.cols) },
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

// Pinning in a long text: a cell of the map, or a token of the text; in the link both are tokens.

/**
 * @param {import("../../core/store/store.js").Store} store
 * @param {() => MapState | null} present
 * @param {{map: () => import("./map.js").LongMap, reveal: (side: Side, token: number) => void}} places
 */
export function createPins(store, present, { map, reveal }) {
  return {
    /** @param {{row: number, col: number}} place  in units @param {"click" | "key"} trigger  A click on what is pinned lets it go. */
    cell({ row, col }, trigger) {
      const current = present();
      if (!current) return;
      const { rows, cols } = current.axes;
      const [query, key] = [rows.tokensOf(row)[0], cols.tokensOf(col)[0]];
      const { link } = store.get();
      if (trigger === "click" && link.query === query && link.key === key) return store.go({ query: null, key: null });
      store.go({ query, key }, trigger === "click" ? "pinned" : "moved");
      if (trigger === "key") map().reveal({ row, col });
      reveal("col", key);
    },

    /** @param {Side} side @param {number} token  Pins it as a query or as a key; what is pinned already is let go. */
    token(side, token) {
      const current = present();
      if (!current) return;
      const { axes, page: { link } } = current;
      const isOneText = axes.rows.tokens === axes.cols.tokens;
      const [name, otherName] = side === "row" ? /** @type {const} */ (["query", "key"]) : /** @type {const} */ (["key", "query"]);
      const axis = side === "row" ? axes.rows : axes.cols;
      const first = axis.tokensOf(axis.unitOf(token))[0];
      const again = link[name] === first && (!isOneText || link[otherName] === null);
      store.go({ query: null, key: null, ...(!isOneText && { [otherName]: link[otherName] }), [name]: again ? null : first }, "pinned");
      map().reveal(placeOf(current, first, [side]));
    },

    /** @param {number} token @param {Side[]} sides  Lights it and goes there. */
    goTo(token, sides) {
      const current = present();
      if (!current) return;
      const place = placeOf(current, token, sides);
      map().light(place);
      map().centre(place);
    },

    /** @param {Side} side @param {number | null} token  That the pointer is on in the text. */
    point(side, token) {
      const current = present();
      if (current) map().light(token === null ? { row: null, col: null } : placeOf(current, token, [side]));
    },
  };
}

/** @param {MapState} current @param {number} token @param {Side[]} sides @returns {Place} */
function placeOf({ axes: { rows, cols } }, token, sides) {
  return { row: sides.includes("row") ? rows.unitOf(token) : null, col: sides.includes("col") ? cols.unitOf(token) : null };
}

/** Milliseconds without movement until the window is written to the link. */
const LINK_DELAY = 300;

/** @param {Context} context @param {HTMLElement} root @returns {import("../../core/figure/types.js").Mounted} */
export function mountLong(context, root) {
  const { store, source } = context;
  const tiles = createTileCache({ ask: (body, signal) => source.tile(body, signal), changed: update });
  const pins = createPins(store, () => current, { map: () => map, reveal: (side, token) => reader.reveal(side, token) });
  const map = createMap(context, tiles, { onHover: (place) => reader.mark(place), onPick: pins.cell, onCamera: moved });
  const minimap = createMinimap(context, map.centre);
  const reader = createReader(context, pins);
  const parts = layoutOf(context, { map, minimap: minimap.element, reader: reader.element, retry: tiles.retry });
  root.append(parts.bar, parts.element);
  const { line } = context.finding();
  const committing = debounce(commit, LINK_DELAY);
  /** @type {MapState | null} */
  let current = null;
  /** The matrix for which the map was last positioned, and the window of the link then. */
  let [placed, linked] = ["", ""];
  let announced = "";

  function draw() {
    const page = store.get();
    if (!page.trace || !page.model) return;
    const size = parts.sizes(context.room());
    current = shownOf(context, page, tiles);
    parts.refresh();
    parts.key.show({ shade: current.shade, covers: new Set([COVER.masked]) });
    map.draw(current, size);
    minimap.draw(current);
    place(`${current.axes.rows.count} ${current.axes.cols.count} ${page.trace.id} ${page.link.block} ${page.link.options.level} ${size.width} ${size.height}`);
    light();
  }

  /** Go to the window of the link if it has changed. @param {string} matrix  of which the map is */
  function place(matrix) {
    if (!current) return;
    const { options } = current.page.link;
    if (matrix === placed && wordsOf(options) === linked) return;
    [placed, linked] = [matrix, wordsOf(options)];
    map.show(windowInLink(current.axes, options));
  }

  function light() {
    const page = store.get();
    if (!page.trace || !page.model) return;
    ask();
    update();
  }

  /** Request the visible tiles and the pinned row and column. */
  function ask() {
    const page = store.get();
    if (!current || !page.trace) return;
    const { axes, lit } = (current = shownOf(context, page, tiles));
    const lines = [
      ...(lit.row === null ? [] : [lineRequest(page, axes, "row", lit.row)]),
      ...(lit.col === null ? [] : [lineRequest(page, axes, "col", lit.col)]),
    ];
    tiles.want([...lines, ...tileRequests(page, axes, map.sight(), map.level(), map.causal())]);
  }

  /** Redraw with what is available. */
  function update() {
    const page = store.get();
    if (!current || !page.trace) return;
    current = shownOf(context, page, tiles);
    map.update(current);
    reader.show(current);
    parts.element.dataset.waits = tiles.waits() ? "yes" : "no";
    parts.problem.show(tiles.problem());
    writeCaption();
    announce();
  }

  function writeCaption() {
    if (!current) return;
    const { page, axes, lit, row } = current;
    render(line, caption(context, page, axes, lit, row));
    render(parts.below, unsavedSaid(context.t, unsaved(current, map, tiles)) || cellsSaid(context.t, page, spanOf(map.level(), extentOf(current))));
  }

  /** Announce the pinned cell once its weights are loaded. */
  function announce() {
    if (!current?.row || current.pinned.row === null) return;
    const words = spoken(context.t, current.axes, current.pinned.row, current.pinned.col, current.row);
    if (words !== announced) context.announce(words);
    announced = words;
  }

  /** Called after the map was zoomed or moved. */
  function moved() {
    if (!current) return;
    minimap.frame(map.sight());
    parts.zoomed(map.isWhole());
    ask();
    writeCaption();
    committing.later();
  }

  /** Write the window to the link. */
  function commit() {
    if (!current) return;
    const window = map.sight();
    const options = linkOfWindow(current.axes, isWhole(window, extentOf(current)) ? null : window);
    linked = wordsOf(options);
    store.choose(options);
  }

  return {
    draw,
    light,
    destroy() {
      committing.cancel();
      tiles.stop();
      map.destroy();
      parts.stop();
    },
    tiles: () => (current ? windowsToKeep(current.page, current.axes, { window: map.sight(), level: map.level(), causal: map.causal(), ...current.lit }) : []),
    picture: () => current && pictureOf(map, context.theme()),
    numbers: () => current && numbersOf(current, tiles, map),
  };
}

/** What is wanted and was not saved with the share. @param {MapState} current @param {import("./map.js").LongMap} map @param {Tiles} tiles */
function unsaved({ page, axes, lit: { row, col } }, map, tiles) {
  const lines = [...(row === null ? [] : [lineName(page, "row", row)]), ...(col === null ? [] : [lineName(page, "col", col)])];
  return { cells: tileRequests(page, axes, map.sight(), map.level(), map.causal()).some(({ name }) => tiles.isUnsaved(name)), lines: lines.some(tiles.isUnsaved) };
}

/** @param {{queries?: string | null, keys?: string | null}} options */
const wordsOf = ({ queries, keys }) => `${queries ?? ""} ${keys ?? ""}`;

/** What is shown of a page: pins in units, and of what is pinned the weights that are there. @param {Context} context @param {Page} page @param {Tiles} tiles @returns {MapState} */
function shownOf(context, page, tiles) {
  const axes = axesOf(page);
  const { query, key } = page.link;
  const pinned = { row: query === null ? null : axes.rows.unitOf(query), col: key === null ? null : axes.cols.unitOf(key) };
  const none = pinned.row === null && pinned.col === null && page.link.options.shade !== "column";
  const lit = none ? { row: firstRow(page, axes), col: null } : pinned;
  const line = (/** @type {"row" | "col"} */ axis) => {
    const unit = lit[axis];
    const tensor = unit === null ? undefined : tiles.get(lineName(page, axis, unit));
    return tensor ? /** @type {Float32Array} */ (tensor.data) : null;
  };
  return { page, axes, shade: shadeOf(context, page, axes.rows.edges !== null), pinned, lit, row: line("row"), col: line("col") };
}
