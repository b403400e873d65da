/** The table of encodings, and some of its columns as the waves that they are. */

import { brief, four, roughly } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el } from "../../lib/render.js";
import { step } from "../../draw/token.js";
import { wavelength } from "../../compute/position-rotation.js";
import { diverging } from "../../draw/scale.js";
import { apart, featureAt } from "../../compute/encoding-order.js";
import { plot } from "../../draw/curves.js";
import { createPanel } from "./position-matrix.js";
import { places, marked } from "./encodings.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("./encodings.js").Positions} Positions */

const MOST = 8;

/** @param {Context} context */
export function createWaves(context) {
  const { store, t } = context;
  /** @type {Positions | null} */
  let found = null;
  const panel = createPanel(context, {
    name: t("Positional encoding"),
    says: t(
      "added to each token's embedding; in each half fast waves left, slow waves right; −1 to 1",
    ),
    square: false,
    zoomed: context.room().wide,
    tip({ row, col }) {
      if (!found) return [];
      const feature = featureAt(col, found.d_model);
      return [
        step(places(store.get(), found.length)[row]),
        " ",
        t("position {a}, feature {b}", { a: row, b: feature }),
        " ",
        el("b", {}, four(found.positions[row * found.d_model + feature])),
      ];
    },
  });
  const features = featureField(context, () => found?.d_model ?? 0);
  const canvas = h("div", { className: "scroller curves", tabIndex: 0, role: "group", "aria-label": t("Single features") });
  const section = h(
    "section",
    { className: "panel" },
    h("h3", {}, t("Single features")),
    h("p", {}, t("an even feature is a sine (solid), the odd one after it the cosine of the same wave (dashed)")),
    features.element,
    canvas,
  );

  function draw() {
    const page = store.get();
    if (!found) return;
    const { length, d_model, positions } = found;
    const { width, wide } = context.room();
    panel.draw({
      matrix: apart({ rows: length, cols: d_model, values: positions }),
      shade: { stops: diverging(context.theme()), range: [-1, 1] },
      rows: places(page, length),
      cols: [],
      titles: { rows: t("position"), cols: t("feature: sines | cosines") },
      width: wide ? Math.min(width, 1100) : width,
      height: Math.min(420, length * 22 + 40),
      stretch: Infinity,
      largest: 22,
    });
    features.show(chosen(page, d_model));
    light();
  }

  function light() {
    panel.light();
    if (found) canvas.replaceChildren(curves(context, found));
  }

  return {
    element: h("div", { className: "stacked" }, panel.element, section),
    /** @param {Positions} table */
    draw(table) {
      found = table;
      draw();
    },
    light,
    destroy: panel.destroy,
    picture: panel.picture,
  };
}

/**
 * Which features are drawn, as numbers to type.
 * @param {Context} context
 * @param {() => number} count  how many there are
 */
function featureField({ store, t }, count) {
  const field = h("input", { type: "text", inputMode: "numeric", size: 18, autocomplete: "off" });
  const bad = h("span", { className: "bad", role: "status" });
  field.addEventListener("change", () => {
    const numbers = field.value.split(/[\s,，、;]+/).filter(Boolean).map(Number);
    const right = numbers.every((n) => Number.isInteger(n) && n >= 0 && n < count());
    field.setAttribute("aria-invalid", String(!right));
    bad.textContent = right
      ? ""
      : t("Features are whole numbers from {low} to {high}.", { low: 0, high: count() - 1 });
    if (right) store.choose({ dims: numbers.length ? [...new Set(numbers)].slice(0, MOST) : null });
  });
  return {
    element: h("div", { className: "options" }, h("label", { className: "option" }, h("span", {}, t("Features")), field), bad),
    /** @param {number[]} dims */
    show(dims) {
      if (document.activeElement !== field) field.value = dims.join(", ");
    },
  };
}

/** The features that are drawn: those chosen, else a fast, a middle and a slow wave. @param {Page} page @param {number} width */
function chosen({ link }, width) {
  const even = (/** @type {number} */ share) => 2 * Math.floor((share * width) / 2);
  const own = link.options.dims ?? [0, 1, even(1 / 8), even(1 / 4), even(1 / 2)];
  return [...new Set(/** @type {number[]} */ (own))].filter((dim) => dim < width);
}

/** @param {Context} context @param {Positions} found */
function curves({ store, t, theme, room }, { length, d_model, positions }) {
  const { q, k, v, attention, muted } = theme();
  const tones = [q, k, v, attention, muted];
  const dims = chosen(store.get(), d_model);
  const slots = [...new Set(dims.map((dim) => dim >> 1))];
  const lines = dims.map((dim) => ({
    name: t("{feature}: λ {length}", { feature: dim, length: roughly(wavelength(dim, d_model)) }),
    values: Array.from({ length }, (_, row) => positions[row * d_model + dim]),
    colour: tones[slots.indexOf(dim >> 1) % tones.length],
    dash: dim % 2 ? "6 4" : undefined,
  }));
  return plot(
    {
      curves: lines,
      range: [-1, 1],
      titles: { x: t("position"), y: "" },
      width: Math.max(300, Math.min(room().width, 1100)),
      height: 260,
      at: marked(store.get(), store.hovered()).row,
      say: brief,
    },
    theme(),
  );
}
