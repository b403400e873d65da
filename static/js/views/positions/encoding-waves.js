/** The table of encodings, and some of its columns as the waves that they are. */

import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { step } from "../../draw/token.js";
import { wavelength } from "../../compute/position-rotation.js";
import { diverging } from "../../draw/scale.js";
import { apart, featureAt } from "../../compute/encoding-order.js";
import { plot } from "../../draw/curves.js";
import { createPanel } from "./position-matrix.js";
import { places, marked } from "./encodings.js";

/** @typedef {import("../../state/types.js").Context} Context */
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
        h("b", {}, four(found.positions[row * found.d_model + feature])),
      ];
    },
  });
  const field = h("input", { type: "text", inputMode: "numeric", size: 18, autocomplete: "off" });
  const bad = h("span", { className: "bad", role: "status" });
  field.addEventListener("change", () => {
    const numbers = field.value.split(/[\s,，、;]+/).filter(Boolean).map(Number);
    const width = found?.d_model ?? 0;
    const right = numbers.every((n) => Number.isInteger(n) && n >= 0 && n < width);
    field.setAttribute("aria-invalid", String(!right));
    bad.textContent = right
      ? ""
      : t("Features are whole numbers from {low} to {high}.", { low: 0, high: width - 1 });
    if (right) store.choose({ dims: numbers.length ? [...new Set(numbers)].slice(0, MOST) : null });
  });
  const canvas = h("div", { className: "scroller curves", tabIndex: 0, role: "group", "aria-label": t("Single features") });
  const section = h(
    "section",
    { className: "panel" },
    h("h3", {}, t("Single features")),
    h("p", {}, t("an even feature is a sine (solid), the odd one after it the cosine of the same wave (dashed)")),
    h("div", { className: "options" }, h("label", { className: "option" }, h("span", {}, t("Features")), field), bad),
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
    if (document.activeElement !== field) field.value = chosen().join(", ");
    curves();
    panel.light();
  }

  /** The features that are drawn: those chosen, else a fast, a middle and a slow wave. */
  function chosen() {
    const width = found?.d_model ?? 1;
    const even = (/** @type {number} */ share) => 2 * Math.floor((share * width) / 2);
    const own = store.get().link.options.dims ?? [0, 1, even(1 / 8), even(1 / 4), even(1 / 2)];
    return [...new Set(/** @type {number[]} */ (own))].filter((dim) => dim < width);
  }

  function curves() {
    if (!found) return;
    const { length, d_model, positions } = found;
    const theme = context.theme();
    const tones = [theme.q, theme.k, theme.v, theme.attention, theme.muted];
    const slots = [...new Set(chosen().map((dim) => dim >> 1))];
    const lines = chosen().map((dim) => ({
      name: t("{feature}: λ {length}", { feature: dim, length: round(wavelength(dim, d_model)) }),
      values: Array.from({ length }, (_, row) => positions[row * d_model + dim]),
      colour: tones[slots.indexOf(dim >> 1) % tones.length],
      dash: dim % 2 ? "6 4" : undefined,
    }));
    const { width } = context.room();
    const { row } = marked(store.get(), store.hovered());
    canvas.replaceChildren(
      plot(
        {
          curves: lines,
          range: [-1, 1],
          titles: { x: t("position"), y: "" },
          width: Math.max(300, Math.min(width, 1100)),
          height: 260,
          at: row,
          say: (value) => two(value).replace(/\.?0+$/, ""),
        },
        theme,
      ),
    );
  }

  return {
    element: h("div", { className: "stacked" }, panel.element, section),
    /** @param {Positions} table */
    draw(table) {
      found = table;
      draw();
    },
    light() {
      panel.light();
      curves();
    },
    destroy: panel.destroy,
    picture: panel.picture,
  };
}

/** A wavelength, in positions: as many digits as tell. @param {number} value */
const round = (value) => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
