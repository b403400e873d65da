/**
 * The attention of a long text: a map that can be zoomed and moved, with the pinned row and column
 * along its edges; the text beside it, shaded by either; a search and a small map.
 */

import { render } from "../../lib/render.js";
import { settle } from "../../lib/timing.js";
import { isWhole, spanOf } from "./map-window.js";
import { COVER } from "../../core/compute/aggregate-attention.js";
import { createTileCache } from "./tile-cache.js";
import { shadeOf } from "../../core/draw/shade.js";
import { axesOf } from "./axes.js";
import { numbersOf, pictureOf } from "./export.js";
import { layoutOf } from "./layout.js";
import { linkOfWindow, windowInLink } from "./link.js";
import { createMap } from "./map.js";
import { createMinimap } from "./minimap.js";
import { createPins } from "./pins.js";
import { createReader } from "./reader.js";
import { lineName, lineWish, tileWishes, windowsToKeep } from "./requests.js";
import { extentOf, firstRow } from "./sight.js";
import { caption, cellsSaid, spoken, unsavedSaid } from "./wording.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Shown } from "./map.js" */
/** @import { TileCache as Tiles } from "./tile-cache.js" */

/** Milliseconds without movement until the window is written to the link. */
const REST = 300;

/** @param {Context} context @param {HTMLElement} root @returns {import("../../core/figure/types.js").Mounted} */
export function mountLong(context, root) {
  const { store, source } = context;
  const tiles = createTileCache({ ask: (body, signal) => source.tile(body, signal), changed: update });
  const pins = createPins(store, () => shown, { map: () => map, reveal: (side, token) => reader.reveal(side, token) });
  const map = createMap(context, tiles, { onHover: (place) => reader.mark(place), onPick: pins.cell, onCamera: moved });
  const minimap = createMinimap(context, map.centre);
  const reader = createReader(context, pins);
  const parts = layoutOf(context, { map, minimap: minimap.element, reader: reader.element, retry: tiles.retry });
  root.append(parts.bar, parts.element);
  const { line } = context.finding();
  const committing = settle(commit, REST);
  /** @type {Shown | null} */
  let shown = null;
  /** The matrix for which the map was last positioned, and the window of the link then. */
  let [placed, linked] = ["", ""];
  let told = "";

  function draw() {
    const page = store.get();
    if (!page.trace || !page.model) return;
    const size = parts.sizes(context.room());
    shown = shownOf(context, page, tiles);
    parts.refresh();
    parts.key.show({ shade: shown.shade, covers: new Set([COVER.masked]) });
    map.draw(shown, size);
    minimap.draw(shown);
    place(`${shown.axes.rows.count} ${shown.axes.cols.count} ${page.trace.id} ${page.link.block} ${page.link.options.level} ${size.width} ${size.height}`);
    light();
  }

  /** Go to the window of the link if it has changed. @param {string} matrix  of which the map is */
  function place(matrix) {
    if (!shown) return;
    const { options } = shown.page.link;
    if (matrix === placed && wordsOf(options) === linked) return;
    [placed, linked] = [matrix, wordsOf(options)];
    map.show(windowInLink(shown.axes, options));
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
    if (!shown || !page.trace) return;
    const { axes, lit } = (shown = shownOf(context, page, tiles));
    const lines = [
      ...(lit.row === null ? [] : [lineWish(page, axes, "row", lit.row)]),
      ...(lit.col === null ? [] : [lineWish(page, axes, "col", lit.col)]),
    ];
    tiles.want([...lines, ...tileWishes(page, axes, map.sight(), map.level(), map.causal())]);
  }

  /** Redraw with what is available. */
  function update() {
    const page = store.get();
    if (!shown || !page.trace) return;
    shown = shownOf(context, page, tiles);
    map.update(shown);
    reader.show(shown);
    parts.element.dataset.waits = tiles.waits() ? "yes" : "no";
    parts.problem.show(tiles.problem());
    say();
    announce();
  }

  function say() {
    if (!shown) return;
    const { page, axes, lit, row } = shown;
    render(line, caption(context, page, axes, lit, row));
    render(parts.below, unsavedSaid(context.t, unsaved(shown, map, tiles)) || cellsSaid(context.t, page, spanOf(map.level(), extentOf(shown))));
  }

  /** Announce the pinned cell once its weights are loaded. */
  function announce() {
    if (!shown?.row || shown.pinned.row === null) return;
    const words = spoken(context.t, shown.axes, shown.pinned.row, shown.pinned.col, shown.row);
    if (words !== told) context.announce(words);
    told = words;
  }

  /** Called after the map was zoomed or moved. */
  function moved() {
    if (!shown) return;
    minimap.frame(map.sight());
    parts.zoomed(map.isWhole());
    ask();
    say();
    committing.later();
  }

  /** Write the window to the link. */
  function commit() {
    if (!shown) return;
    const window = map.sight();
    const options = linkOfWindow(shown.axes, isWhole(window, extentOf(shown)) ? null : window);
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
    tiles: () => (shown ? windowsToKeep(shown.page, shown.axes, { window: map.sight(), level: map.level(), causal: map.causal(), ...shown.lit }) : []),
    picture: () => shown && pictureOf(map, context.theme()),
    numbers: () => shown && numbersOf(shown, tiles, map),
  };
}

/** What is wanted and was not saved with the share. @param {Shown} shown @param {import("./map.js").LongMap} map @param {Tiles} tiles */
function unsaved({ page, axes, lit: { row, col } }, map, tiles) {
  const lines = [...(row === null ? [] : [lineName(page, "row", row)]), ...(col === null ? [] : [lineName(page, "col", col)])];
  return { cells: tileWishes(page, axes, map.sight(), map.level(), map.causal()).some(({ name }) => tiles.isUnsaved(name)), lines: lines.some(tiles.isUnsaved) };
}

/** @param {{queries?: string | null, keys?: string | null}} options */
const wordsOf = ({ queries, keys }) => `${queries ?? ""} ${keys ?? ""}`;

/** What is shown of a page: pins in units, and of what is pinned the weights that are there. @param {Context} context @param {Page} page @param {Tiles} tiles @returns {Shown} */
function shownOf(context, page, tiles) {
  const axes = axesOf(page);
  const { query, key } = page.link;
  const pinned = { row: query === null ? null : axes.rows.unitOf(query), col: key === null ? null : axes.cols.unitOf(key) };
  const none = pinned.row === null && pinned.col === null && page.link.options.shade !== "column";
  const lit = none ? { row: firstRow(page, axes), col: null } : pinned;
  const line = (/** @type {"row" | "col"} */ which) => {
    const unit = lit[which];
    const tensor = unit === null ? undefined : tiles.get(lineName(page, which, unit));
    return tensor ? /** @type {Float32Array} */ (tensor.data) : null;
  };
  return { page, axes, shade: shadeOf(context, page, axes.rows.edges !== null), pinned, lit, row: line("row"), col: line("col") };
}
