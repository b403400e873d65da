/** One head's attention weights: queries down, keys across, violet from 0 to 1. */

import { attention as weights, axes, lit, pair, place, BLOCK } from "../blocks.js";
import { four } from "../caption.js";
import { h, step } from "../dom.js";
import { createMatrix } from "../parts/matrix.js";
import { sequential } from "../scale.js";

/** @typedef {import("./index.js").View} View */

/** @type {View} */
export const attention = {
  id: "attention",
  name: (t) => t("Attention"),
  about: (t) =>
    t(
      "A row is a token that looks (the query), a column one that it may look at (the key). The darker a cell, the more of its weight the query gives to that key; a row sums to 1. Hatched cells are masked.",
    ),
  frame: { rail: "both", inspector: true, caption: true, legend: "attention" },
  needs: ({ link }) => [place(link, "weights"), place(link, "mask")],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const matrix = createMatrix(context, {
    label: t("Attention weights. Arrow keys move the cell, Escape lets go."),
    onHover: (place) => store.hover(place && refs(place)),
    onPick({ row, col }, how) {
      const page = store.get();
      const query = row ?? lit(page, null).query;
      if (how === "click" && page.link.query === query && page.link.key === col)
        store.go({ query: null, key: null });
      else store.go({ query, key: col }, how === "click" ? "push" : "replace");
    },
    picked() {
      const at = pair(store.get());
      return at && { row: at.query, col: at.key };
    },
    tip,
  });
  root.append(matrix.element);

  /** @param {import("../geometry.js").Place} place @returns {import("../store.js").Lit} */
  function refs({ row, col }) {
    const { query, key } = BLOCK[store.get().link.block];
    return {
      query: row === null ? null : { side: query, index: row },
      key: col === null ? null : { side: key, index: col },
    };
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    const { trace, link } = store.get();
    const values = trace && weights(trace, link);
    if (!trace || !values) return [];
    const { rows, cols } = axes(trace, link.block);
    const value = values.values[row * values.cols + col];
    return [
      h("span", { className: "as-query" }, step(rows[row])),
      " ",
      h("span", { className: "as-key" }, step(cols[col])),
      " ",
      h("b", {}, Number.isNaN(value) ? t("masked") : four(value)),
    ];
  }

  function draw() {
    const { trace, link } = store.get();
    const values = trace && weights(trace, link);
    if (!trace || !values) return;
    const { width, height } = context.room();
    matrix.draw({
      matrix: values,
      shade: { stops: sequential(context.theme()), range: [0, 1] },
      ...axes(trace, link.block),
      titles: { rows: t("query (looks)"), cols: t("key (looked at)") },
      width,
      height,
      stretch: 1.6,
    });
    light();
  }

  function light() {
    const { query, key } = lit(store.get(), store.hovered());
    matrix.mark({ row: query, col: key });
  }

  return { draw, light, destroy: matrix.destroy };
}
