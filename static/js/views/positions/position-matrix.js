/** A matrix over positions, linked with the tokens at them. */

import { blockAt } from "../../core/wire/attentions.js";
import { lit } from "../../core/store/highlight.js";
import { file } from "../../core/draw/svg.js";
import { h } from "../../lib/dom.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { createKeyCell } from "./key-cell.js";
import { marked, size } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/**
 * @typedef {object} Wording
 * @property {string} name
 * @property {string} says
 * @property {boolean} square  whether columns are positions too
 * @property {(cell: {row: number, col: number}) => import("../../lib/render.js").Child[]} tip
 * @property {boolean} [zoomed]  whether it opens zoomable
 */

/** @param {Context} context @param {Wording} wording */
export function createPanel(context, { name, says, square, tip, zoomed }) {
  const { store } = context;
  const matrix = createMatrix(context, {
    label: name,
    onHover: (place) =>
      store.hover(place && { query: ref(place.row), key: square ? ref(place.col) : null }),
    onPick({ row, col }, how) {
      const query = row ?? lit(store.get(), null).query;
      if (query !== null && query < tokens())
        store.go({ query, key: pinsKey() ? inside(col) : null }, how === "click" ? "pinned" : "moved");
      if (query !== null && col !== null) reached.move({ row: query, col }, head.textContent ?? name, tip);
    },
    picked: () => present() ?? { row: lit(store.get(), null).query ?? 0, col: lit(store.get(), null).key ?? 0 },
    tip,
    zoomed,
  });
  const head = h("h3", {}, name);
  const reached = createKeyCell(context, light);
  const line = h("p", {}, says);
  const side = () => blockAt(store.get()).query;
  /** The number of positions with a token; others cannot be highlighted on the page. */
  const tokens = () => store.get().trace?.tokens[side()].length ?? 0;
  const inside = (/** @type {number | null} */ at) => (at !== null && at < tokens() ? at : null);
  const ref = (/** @type {number | null} */ at) =>
    inside(at) === null ? null : { side: side(), index: /** @type {number} */ (at) };
  const pinsKey = () => square && side() === blockAt(store.get()).key;

  /**
   * The reached cell, unless another one has been pinned since. The link itself pins neither a
   * position without a token nor a feature.
   */
  function present() {
    const at = reached.at();
    return at && (at.row >= tokens() || at.row === lit(store.get(), null).query) ? at : null;
  }

  function light() {
    const { row, col } = marked(store.get(), store.hovered());
    const { length = 0 } = size(store.get()) ?? {};
    const within = (/** @type {number | null} */ at) => (at !== null && at < length ? at : null);
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
    say: (text) => (line.textContent = text),
    /** @param {string} text */
    call: (text) => (head.textContent = text),
  };
}
