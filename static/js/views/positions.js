/**
 * What tells the model where a token stands: the encoding of each position, and how alike two are.
 *
 * Even features are sines, odd ones cosines of the same wave. Drawn in turn they are stripes; drawn
 * apart the waves can be seen.
 */

import { BLOCK, lit, stands } from "../blocks.js";
import { four } from "../caption.js";
import { h, step } from "../dom.js";
import { Problem } from "../api.js";
import { answer, encoding } from "../questions.js";
import { createMatrix } from "../parts/matrix.js";
import { diverging } from "../scale.js";
import { apart, featureAt } from "../waves.js";

/** @typedef {import("./index.js").View} View */
/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../api.js").Positions | Problem | undefined} Found */
/** @typedef {"positions" | "similarity"} Which */

/** @type {View} */
export const positions = {
  id: "positions",
  name: (t) => t("Positions"),
  about: (t) =>
    t(
      "Attention by itself does not know the order of words. A fixed pattern of waves is added to each token, another one at every position; neighbours get similar patterns.",
    ),
  frame: { rail: "none", inspector: false, caption: false, legend: "signed" },
  needs: () => [],
  asks: (page) => [table(page)].flatMap((question) => question ?? []),
  mount(context, root) {
    const panels = [panel(context, "positions"), panel(context, "similarity")];
    root.append(h("div", { className: "panels positions" }, ...panels.map((one) => one.element)));
    const all = (/** @type {"draw" | "light" | "destroy"} */ what) => () =>
      panels.forEach((one) => one[what]());
    return {
      draw: all("draw"),
      light: all("light"),
      destroy: () => (all("destroy")(), root.replaceChildren()),
    };
  },
};

/** @param {import("../store.js").Page} page  As many positions as the rows have, as wide as the model. */
function table({ trace, model, link }) {
  if (!trace || !model) return null;
  const { length } = trace.tokens[BLOCK[link.block].query];
  return encoding({ length, d_model: model.d_model });
}

/** @param {Context["t"]} t @returns {Record<Which, {name: string, says: string}>} */
const wording = (t) => ({
  positions: {
    name: t("Positional encoding"),
    says: t(
      "added to each token's embedding; in each half fast waves left, slow waves right; −1 to 1",
    ),
  },
  similarity: {
    name: t("Similarity"),
    says: t("cosine between the encodings of two positions: neighbours are alike; −1 to 1"),
  },
});

/**
 * @param {Context} context
 * @param {Which} which
 */
function panel(context, which) {
  const { store, t } = context;
  const { name, says } = wording(t)[which];
  const square = which === "similarity";
  const matrix = createMatrix(context, {
    label: name,
    onHover: (place) =>
      store.hover(place && { query: ref(place.row), key: square ? ref(place.col) : null }),
    onPick({ row, col }, how) {
      const query = row ?? lit(store.get(), null).query;
      store.go({ query, key: pinsKey() ? col : null }, how === "click" ? "push" : "replace");
    },
    picked: () => ({
      row: lit(store.get(), null).query ?? 0,
      col: lit(store.get(), null).key ?? 0,
    }),
    tip,
  });
  const element = h(
    "section",
    { className: `panel ${which}` },
    h("h3", {}, name),
    h("p", {}, says),
    matrix.element,
  );

  const side = () => BLOCK[store.get().link.block].query;
  const ref = (/** @type {number | null} */ index) =>
    index === null ? null : { side: side(), index };
  const pinsKey = () => square && side() === BLOCK[store.get().link.block].key;
  function steps() {
    const { trace, link } = store.get();
    return trace ? stands(trace, link.block) : [];
  }
  function values() {
    const question = table(store.get());
    const found = question && /** @type {Found} */ (answer(store.get(), question));
    if (!found || found instanceof Problem) return null;
    const { length, d_model, similarity } = found;
    if (square) return { rows: length, cols: length, values: similarity };
    return apart({ rows: length, cols: d_model, values: found.positions });
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    const found = values();
    if (!found) return [];
    const place = square
      ? t("positions {a} and {b}", { a: row, b: col })
      : t("position {a}, feature {b}", { a: row, b: featureAt(col, found.cols) });
    return [
      step(steps()[row]),
      " ",
      place,
      " ",
      h("b", {}, four(found.values[row * found.cols + col])),
    ];
  }

  function draw() {
    const found = values();
    if (!found) return;
    const { width, height, wide } = context.room();
    matrix.draw({
      matrix: found,
      shade: { stops: diverging(context.theme()), range: [-1, 1] },
      rows: steps(),
      cols: square ? steps() : [],
      titles: {
        rows: t("position"),
        cols: square ? t("position") : t("feature: sines | cosines"),
      },
      width: wide ? (width - 48) * (square ? 0.42 : 0.58) : width,
      height: height - 70,
      stretch: square ? 1 : Infinity,
      largest: square ? 40 : 34,
    });
    light();
  }

  function light() {
    const { query, key } = lit(store.get(), store.hovered());
    matrix.mark({ row: query, col: pinsKey() ? key : null });
  }

  return { element, draw, light, destroy: matrix.destroy };
}
