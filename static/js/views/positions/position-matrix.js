/** A matrix over positions, linked with the tokens at them. */

import { file } from "../../core/draw/svg.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { highlightOf } from "../../core/store/highlight.js";
import { blockAt, extent } from "../../core/wire/model.js";
import { el, h, render } from "../../lib/dom.js";
import { marked, size } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Place } from "../../core/draw/matrix-geometry.js" */

/**
 * @typedef {object} Wording
 * @property {string} name
 * @property {string} description
 * @property {boolean} square  whether columns are positions too
 * @property {(cell: {row: number, col: number}) => import("../../lib/dom.js").Child[]} tip
 * @property {boolean} [zoomed]  whether it opens zoomable
 */

/** @param {Context} context @param {Wording} wording */
export function createPanel(context, { name, description, square, tip, zoomed }) {
  const { store } = context;
  const matrix = createMatrix(context, {
    label: name,
    onHover: (place) =>
      store.hover(place && { query: ref(place.row), key: square ? ref(place.col) : null }),
    onPick({ row, col }, gesture) {
      const query = row ?? highlightOf(store.get(), null).query;
      if (query !== null && query < tokens())
        store.go({ query, key: pinsKey() ? inside(col) : null }, gesture === "click" ? "pinned" : "moved");
      if (query !== null && col !== null) reached.move({ row: query, col }, head.textContent ?? name, tip);
    },
    picked: () => present() ?? { row: highlightOf(store.get(), null).query ?? 0, col: highlightOf(store.get(), null).key ?? 0 },
    tip,
    zoomed,
  });
  const head = h("h3", {}, name);
  const reached = createKeyCell(context, light);
  const line = h("p", {}, description);
  const side = () => blockAt(store.get()).query;
  /** The number of positions with a token; others cannot be highlighted on the page. */
  const tokens = () => store.get().trace?.tokens[side()].length ?? 0;
  const inside = (/** @type {number | null} */ position) => (position !== null && position < tokens() ? position : null);
  const ref = (/** @type {number | null} */ position) =>
    inside(position) === null ? null : { side: side(), index: /** @type {number} */ (position) };
  const pinsKey = () => square && side() === blockAt(store.get()).key;

  /**
   * The reached cell, unless another one has been pinned since. The link itself pins neither a
   * position without a token nor a feature.
   */
  function present() {
    const reachedCell = reached.cell();
    return reachedCell && (reachedCell.row >= tokens() || reachedCell.row === highlightOf(store.get(), null).query) ? reachedCell : null;
  }

  function light() {
    const { row, col } = marked(store.get(), store.hovered());
    const { length = 0 } = size(store.get()) ?? {};
    const within = (/** @type {number | null} */ position) => (position !== null && position < length ? position : null);
    matrix.mark((!store.hovered() && present()) || { row: within(row), col: square ? within(col) : null });
  }

  return {
    element: h("section", { className: "panel" }, head, line, h("div", { className: "scroller" }, matrix.element)),
    draw: matrix.draw,
    picture() {
      const drawn = matrix.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
    destroy: () => (reached.stop(), matrix.destroy()),
    light,
    /** @param {string} text */
    describe: (text) => (line.textContent = text),
    /** @param {string} text */
    call: (text) => (head.textContent = text),
  };
}

// The cell that arrow keys or a click reached, whether or not the link can pin it. It is announced
// to screen readers; Escape unpins it.

/** @typedef {{row: number, col: number}} Cell */

/**
 * @param {Context} context
 * @param {() => void} light  called when the cell changes
 */
export function createKeyCell({ keys, announce, t }, light) {
  /** @type {Cell | null} */
  let cell = null;
  const stop = keys.listen(({ key }) => {
    if (key !== "Escape" || !cell) return;
    cell = null;
    light();
    announce(t("Unpinned."));
  });
  return {
    cell: () => cell,
    /**
     * @param {Place} place  a missing row or column stays as it is
     * @param {string} name  of the matrix
     * @param {(cell: Cell) => import("../../lib/dom.js").Child[]} tip
     */
    move({ row, col }, name, tip) {
      cell = { row: row ?? cell?.row ?? 0, col: col ?? cell?.col ?? 0 };
      light();
      announce(`${name}: ${words(tip(cell))}`);
    },
    stop,
  };
}

/** The text of a tooltip. @param {import("../../lib/dom.js").Child[]} children */
function words(children) {
  const line = h("p", {});
  render(line, ...children);
  return line.textContent ?? "";
}

// Menus for the layer and the head, in views without thumbnails beside the figure.

/**
 * @param {Context} context
 * @param {"layer" | "head"} option
 * @param {(page: Page) => {block: string, layer: number, head: number}} selectedHead  the block, and the
 *   layer and head selected in it
 */
export function picker({ store, t }, option, selectedHead) {
  const select = h("select", {});
  select.addEventListener("change", () => store.go({ [option]: Number(select.value) }));
  return {
    element: h("label", { className: "option" }, h("span", {}, option === "layer" ? t("Layer") : t("Head")), select),
    draw() {
      const page = store.get();
      const count = page.model ? extent(page.model, selectedHead(page).block)[`${option}s`] : 0;
      render(select, Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, String(i + 1))));
      select.value = String(selectedHead(page)[option]);
    },
  };
}
