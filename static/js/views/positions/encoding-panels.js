/** The table of encodings, and some of its columns as curves. */

import { angle, decay, dotProducts, kindOf, mostAlike, wavelength } from "../../core/compute/positions.js";
import { plot } from "../../core/draw/line-chart.js";
import { diverging } from "../../core/draw/colour-scales.js";
import { step } from "../../core/draw/token.js";
import { el, h } from "../../lib/dom.js";
import { brief, four, roughly, significant, tiny, two } from "../../lib/numbers.js";
import { largest } from "../../lib/vectors.js";
import { apart, createPanel, featureAt, marked, places } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Positions } from "./encodings.js" */

const MOST = 8;
/** With a larger cosine two rows are equal as printed. */
const LARGEST_COSINE = 0.99994;

/** @param {Context} context */
export function createWaves(context) {
  const { store, t } = context;
  /** @type {Positions | null} */
  let encodingTable = null;
  const panel = createPanel(context, {
    name: t("Positional encoding"),
    description: "",
    square: false,
    zoomed: context.room().wide,
    tip({ row, col }) {
      if (!encodingTable) return [];
      const feature = encodingTable.waves ? featureAt(col, encodingTable.d_model) : col;
      const turns = kindOf(store.get().model).base === "rotary";
      return [
        step(places(store.get(), encodingTable.length)[row]),
        " ",
        turns
          ? t("position {a}, pair {b}: rotated by {angle} rad", { a: row, b: feature >> 1, angle: four(angle(feature >> 1, encodingTable.d_model, row)) })
          : t("position {a}, feature {b}", { a: row, b: feature }),
        " ",
        el("b", {}, four(encodingTable.positions[row * encodingTable.d_model + feature])),
      ];
    },
  });
  const features = featureField(context, () => encodingTable?.d_model ?? 0);
  const canvas = h("div", { className: "scroller curves", tabIndex: 0, role: "group", "aria-label": t("Single features") });
  const curveNote = h("p", {});
  const section = h(
    "section",
    { className: "panel" },
    h("h3", {}, t("Single features")),
    curveNote,
    features.element,
    canvas,
  );

  function draw() {
    const page = store.get();
    if (!encodingTable) return;
    const { length, d_model, positions, waves } = encodingTable;
    const { width, wide } = context.room();
    const { projector } = page.link.options;
    const plain = { rows: length, cols: d_model, values: positions };
    const reach = reachOf(encodingTable);
    const words = wording(context, encodingTable);
    panel.call(words.name);
    panel.describe(words.description);
    curveNote.textContent = words.curves;
    panel.draw({
      matrix: waves ? apart(plain) : plain,
      shade: { stops: diverging(context.theme()), range: [-reach, reach] },
      rows: places(page, length),
      cols: [],
      titles: { rows: t("position"), cols: words.cols },
      width: wide && !projector ? Math.min(width, 1100) : width,
      height: projector ? half(context) : Math.min(420, length * 22 + 40),
      stretch: Infinity,
      largest: projector ? 100 : 22,
    });
    features.show(chosen(page, encodingTable));
    light();
  }

  function light() {
    panel.light();
    if (encodingTable) canvas.replaceChildren(curves(context, encodingTable));
  }

  return {
    element: h("div", { className: "stacked" }, panel.element, section),
    /** @param {Positions} table */
    draw(table) {
      encodingTable = table;
      draw();
    },
    light,
    finding: () => (encodingTable ? distinctness(context, encodingTable) : []),
    destroy: panel.destroy,
    picture: panel.picture,
  };
}

/**
 * What the table is for: that each position differs from all others, or, of rotations, by how much
 * a step turns.
 * @param {Context} context
 * @param {Positions} encodingTable
 * @returns {string[]}
 */
function distinctness({ store, t }, { length, d_model, similarity }) {
  if (kindOf(store.get().model).base === "rotary")
    return [t("From one token to the next, the fastest pair turns by {fast} rad and the slowest by {slow}: together they tell near and far distances apart.", {
      fast: significant(angle(0, d_model, 1), 3),
      slow: significant(angle((d_model >> 1) - 1, d_model, 1), 3),
    })];
  const alike = mostAlike({ rows: length, cols: length, values: similarity });
  if (!alike || alike.value > LARGEST_COSINE) return [];
  return [t("Every position has a row of its own: even the two most alike, {a} and {b}, are not equal (cosine {value}).", { ...alike, value: four(alike.value) })];
}

/**
 * A text field for the features to draw.
 * @param {Context} context
 * @param {() => number} count  number of features
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
      : t("Features must be whole numbers from {low} to {high}.", { low: 0, high: count() - 1 });
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

/** In projector mode the table and the curves share the screen. @param {Context} context */
const half = ({ room, theme }) => (room().height - 13 * theme().size) / 2;

/** The limit of the symmetric scale. @param {Positions} found */
const reachOf = ({ waves, positions }) => (waves ? 1 : largest(positions) || 1);

/**
 * The table's name, and how to read it.
 * @param {Context} context
 * @param {Positions} encodingTable
 */
function wording({ store, t }, encodingTable) {
  const { base, site } = kindOf(store.get().model);
  const sines = t("an even feature is a sine (solid), the odd one after it the cosine of the same wave (dashed)");
  if (base === "rotary")
    return {
      name: t("Rotation of q and k"),
      description: t("sine and cosine of position · θ, the angle by which each pair of channels is rotated in every head; " +
        "fast pairs left, slow pairs right; −1 to 1"),
      curves: sines,
      cols: t("pair: sines | cosines"),
    };
  if (base === "learned")
    return {
      name: t("Learned positions"),
      description: t("a row for each position, as training left it; −{most} to {most}", { most: two(reachOf(encodingTable)) }),
      curves: t("the same feature over all positions that are shown"),
      cols: t("feature"),
    };
  return {
    name: t("Positional encoding"),
    description:
      site === "input"
        ? t("added to each token's embedding; in each half fast waves left, slow waves right; −1 to 1")
        : t("in each half fast waves left, slow waves right; −1 to 1"),
    curves: sines,
    cols: t("feature: sines | cosines"),
  };
}

/**
 * The features to draw: the chosen ones, else a fast, two medium and a slow wave.
 * @param {Page} page
 * @param {Positions} found
 */
function chosen({ link }, { d_model: width, waves }) {
  const even = (/** @type {number} */ share) => 2 * Math.floor((share * width) / 2);
  const features = link.options.dims ?? (waves ? [0, 1, even(1 / 8), even(1 / 4), even(1 / 2)] : [0, 1, 2, 3]);
  return [...new Set(/** @type {number[]} */ (features))].filter((dim) => dim < width);
}

/** @param {Context} context @param {Positions} encodingTable */
function curves(context, encodingTable) {
  const { store, t, theme, room } = context;
  const { projector } = store.get().link.options;
  const { length, d_model, positions, waves } = encodingTable;
  const { q, k, v, attention, muted } = theme();
  const tones = [q, k, v, attention, muted];
  const dims = chosen(store.get(), encodingTable);
  const reach = reachOf(encodingTable);
  const slots = [...new Set(dims.map((dim) => dim >> 1))];
  const lines = dims.map((dim) => ({
    name: waves ? t("{feature}: λ {length}", { feature: dim, length: roughly(wavelength(dim, d_model)) }) : t("feature {n}", { n: dim }),
    values: Array.from({ length }, (_, row) => positions[row * d_model + dim]),
    colour: tones[(waves ? slots.indexOf(dim >> 1) : dims.indexOf(dim)) % tones.length],
    dash: waves && dim % 2 ? "6 4" : undefined,
  }));
  return plot(
    {
      curves: lines,
      range: [-reach, reach],
      titles: { x: t("position"), y: "" },
      width: Math.max(300, projector ? room().width : Math.min(room().width, 1100)),
      height: projector ? half(context) : 260,
      markedIndex: marked(store.get(), store.hovered()).row,
      format: brief,
    },
    theme(),
  );
}

// The similarity of positions, which depends only on their distance.

/** @param {Context} context */
export function createLikeness(context) {
  const { store, t } = context;
  /** @type {Positions | null} */
  let encodingTable = null;
  /** @type {import("../../core/wire/safetensors.js").Matrix | null} */
  let matrix = null;
  let fall = { mean: /** @type {number[]} */ ([]), spread: 0 };
  const panel = createPanel(context, {
    name: t("Similarity"),
    description: "",
    square: true,
    tip({ row, col }) {
      if (!encodingTable || !matrix) return [];
      const value = matrix.values[row * encodingTable.length + col];
      const rows = places(store.get(), encodingTable.length);
      return [step(rows[row]), " ", step(rows[col]), " ", el("b", {}, four(value))];
    },
  });
  const canvas = h("div", { className: "scroller curves", tabIndex: 0, role: "group", "aria-label": t("By distance") });
  const section = h("section", { className: "panel" }, h("h3", {}, t("By distance")), canvas);
  const dot = () => store.get().link.options.measure === "dot";

  /** @param {Positions} table */
  function values({ length, d_model, positions, similarity }) {
    const cosines = { rows: length, cols: length, values: similarity };
    return dot() ? dotProducts({ rows: length, cols: d_model, values: positions }, cosines) : cosines;
  }

  function draw() {
    if (!encodingTable) return;
    const { length } = encodingTable;
    matrix = values(encodingTable);
    fall = decay(matrix);
    const { width, height, wide } = context.room();
    const limit = reach();
    panel.describe(
      dot()
        ? t("PE(a) · PE(b), as in a score: from −{most} to {most}", { most: two(limit) })
        : encodingTable.waves
          ? t("cosine between the encodings of two positions: neighbours are similar; −1 to 1")
          : t("cosine between the rows of two positions; −1 to 1"),
    );
    const rows = places(store.get(), length);
    panel.draw({
      matrix,
      shade: { stops: diverging(context.theme()), range: [-limit, limit] },
      rows,
      cols: rows,
      titles: { rows: t("position"), cols: t("position") },
      width: wide ? (width - 48) * 0.46 : width,
      height: height - 90,
      stretch: 1,
      largest: 40,
    });
    light();
  }

  function light() {
    panel.light();
    if (!encodingTable) return;
    canvas.replaceChildren(curve(context, dot() ? "PE · PE" : "cos", fall.mean, reach()));
  }

  const reach = () => (dot() && encodingTable && matrix ? dotReach(encodingTable, matrix) : 1);

  function finding() {
    if (!encodingTable) return [];
    return fall.spread < 1e-3 * reach()
      ? [t("Similarity depends only on the distance: pairs at the same distance differ by at most {spread}.", { spread: tiny(fall.spread) })]
      : [t("Similarity depends on more than the distance: single pairs are up to {spread} away from the mean of their distance.", { spread: four(fall.spread) })];
  }

  return {
    element: h("div", { className: "panels" }, panel.element, section),
    /** @param {Positions} table */
    draw(table) {
      encodingTable = table;
      draw();
    },
    light,
    finding,
    destroy: panel.destroy,
    picture: panel.picture,
  };
}

/**
 * The limit of the scale of dot products.
 * @param {Positions} found
 * @param {import("../../core/wire/safetensors.js").Matrix} matrix
 */
const dotReach = ({ waves, d_model }, { values }) => (waves ? Math.max(1, d_model / 2) : largest(values) || 1);

/**
 * A curve by distance.
 * @param {Context} context
 * @param {string} name
 * @param {number[]} values  one per distance
 * @param {number} limit  largest possible value
 */
function curve({ store, t, theme, room }, name, values, limit) {
  const { width, height, wide } = room();
  const { row, col } = marked(store.get(), store.hovered());
  return plot(
    {
      curves: [{ name, values, colour: theme().attention }],
      range: [Math.min(0, ...values), limit],
      titles: { x: t("distance between the positions"), y: "" },
      width: Math.max(280, wide ? (width - 48) * 0.5 : width),
      height: Math.min(400, Math.max(240, height - 120)),
      markedIndex: row !== null && col !== null ? Math.abs(row - col) : null,
      format: brief,
    },
    theme(),
  );
}
