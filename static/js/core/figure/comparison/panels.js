/** The three pictures A, B and B − A, on the same axes, highlighted together. */

import { abreast } from "../../draw/side-by-side.js";
import { texts } from "../../wire/attentions.js";
import { fit } from "../../draw/geometry.js";
import { clipped, ruler } from "../../draw/labels.js";
import { file } from "../../draw/svg.js";
import { reach } from "../../compute/token-diff.js";
import { two } from "../../../lib/numbers.js";
import { otherPlace, otherSentence } from "../../store/comparison.js";
import { h } from "../../../lib/dom.js";
import { el, render } from "../../../lib/render.js";
import { legend } from "../legend.js";
import { createMatrix } from "../matrix.js";
import { diverging, sequential } from "../../draw/scale.js";

/** @import { Context } from "../types.js" */
/** @import { Comparison } from "../../store/comparison.js" */
/** @typedef {"a" | "b" | "delta"} Which */

const WHICH = /** @type {Which[]} */ (["a", "b", "delta"]);
/** Distance between two pictures. */
const GAP = 28;
/** The height of a row if there are many, and the largest height of such a picture. */
const [THIN, MOST] = [9, 720];
/** The smallest limit of the colour scale, so that small changes do not look large. */
export const FAINT = 0.1;
/** Number of changes whose tokens always keep their labels. */
const NAMED = 4;
/** The smallest width of pictures side by side. */
const LEAST = 300;

/**
 * Names of the pictures.
 * @typedef {object} Names
 * @property {(which: Which) => string} describe
 * @property {(which: Which) => {rows: string, cols: string}} titles  of the axes
 * @property {(which: Which, most: number) => string} heading  of an exported picture
 */

/**
 * @param {Context} context
 * @param {ReturnType<typeof import("./pointing.js").pointing>} points
 * @param {Names} [names]
 */
export function panels(context, points, names = compared(context)) {
  const { t } = context;
  const all = WHICH.map((which) => {
    const title = h("h3", {});
    const matrix = createMatrix(context, { ...points, label: labels(t)[which] });
    const key = legend(context);
    const element = h("section", { className: `trio-${which}` }, title, matrix.element, key.element);
    return { which, title, matrix, key, element };
  });
  let most = FAINT;
  const element = h("div", { className: "trio" }, ...all.map((one) => one.element));

  return {
    element,

    /** @param {Comparison} shown @returns {number}  where B begins, if the pictures are in a row */
    draw(shown) {
      const theme = context.theme();
      most = Math.max(reach(shown.delta.matrix), FAINT);
      const strongest = shown.changes.slice(0, NAMED);
      const [across, room] = layout(context, shown.rows.pairs.length);
      // Three pictures in a row share the labels of their rows if these are the same in all.
      const shared = across === 3 && WHICH.every((which) => names.titles(which).rows === names.titles("a").rows);
      const rows = shared ? shown.rows.steps.map((step) => ({ ...step, short: step.reads !== null })) : shown.rows.steps;
      const gutter = shared ? namesOf(clipped(rows, ruler(theme), room.width), theme) : 0;
      const first = room.width + Math.floor((2 * gutter) / 3);
      element.dataset.across = String(across);
      element.style.gridTemplateColumns = shared ? `${first}px repeat(2, minmax(0, 1fr))` : `repeat(${across}, minmax(0, 1fr))`;
      for (const { which, title, matrix, key } of all) {
        const signed = which === "delta";
        /** @type {import("../../draw/paint.js").Shade} */
        const shade = signed
          ? { stops: diverging(theme), range: [-most, most] }
          : { stops: sequential(theme), range: [0, 1] };
        render(title, el("b", {}, { a: "A", b: "B", delta: "Δ" }[which]), ` ${names.describe(which)}`);
        key.show({ shade, covers: new Set(shown[which].cover) });
        matrix.draw({
          ...shown[which],
          shade,
          rows,
          cols: shown.cols.steps,
          titles: names.titles(which),
          changed: { rows: changed(shown.rows, strongest.map(({ row }) => row)), cols: changed(shown.cols, strongest.map(({ col }) => col)) },
          ...room,
          width: which === "a" ? first : first - gutter,
          bare: shared && which !== "a",
        });
      }
      element.toggleAttribute("data-long", false);
      element.toggleAttribute("data-long", all.some(({ title }) => title.scrollWidth > title.clientWidth));
      return first + GAP;
    },

    /** @param {import("../../draw/geometry.js").Place} place */
    mark: (place) => all.forEach(({ matrix }) => matrix.mark(place)),

    destroy: () => all.forEach(({ matrix }) => matrix.destroy()),

    /** The pictures side by side, each below its title. */
    picture() {
      const theme = context.theme();
      const parts = all.map(({ which, matrix }) => ({ svg: matrix.drawing(), title: names.heading(which, most) }));
      return { svg: file(abreast(parts, theme), theme) };
    },
  };
}

/**
 * Width of the labels of rows, with their title.
 * @param {Comparison["rows"]["steps"]} steps
 * @param {import("../../draw/theme.js").Theme} theme
 */
const namesOf = (steps, theme) => fit({ rowWidths: texts(steps).map(ruler(theme)), colWidths: [], width: 0, height: 0, size: theme.size }).left;

/**
 * Labels to show first: tokens that only one of the two has, then the largest changes.
 * @param {Comparison["rows"]} axis
 * @param {number[]} most
 */
const changed = ({ pairs }, most) => [...pairs.flatMap(({ a, b }, i) => (a === null || b === null ? [i] : [])), ...most];

/** @param {Context} context @returns {Names}  those of what the link compares */
const compared = (context) => ({
  describe: (which) => describe(context, which),
  titles: (which) => titles(context, which),
  heading: (which, most) => heading(context, which, most),
});

/** @param {Context["t"]} t @returns {Record<Which, string>} */
const labels = (t) => ({
  a: t("Attention weights of A. Arrow keys move the cell, Escape unpins."),
  b: t("Attention weights of B. Arrow keys move the cell, Escape unpins."),
  delta: t("B minus A. Arrow keys move the cell, Escape unpins."),
});

/**
 * If the other direction is transposed, its rows are keys.
 * @param {Context} context
 * @param {Which} which
 */
function titles({ store, t }, which) {
  const [query, key] = [t("query (looks)"), t("key (looked at)")];
  const { other } = store.get().link.options;
  if (other !== "direction" || which === "a") return { rows: query, cols: key };
  if (which === "b") return { rows: key, cols: query };
  return { rows: t("A's queries, B's keys"), cols: t("A's keys, B's queries") };
}

/**
 * @param {Context} context
 * @param {Which} which
 */
function describe({ store, t }, which) {
  const page = store.get();
  const { link, trace } = page;
  const { other: by } = link.options;
  if (which === "delta") return t("B minus A");
  const at = which === "a" ? link : otherPlace(page);
  if (by === "head") return t("head {n}", { n: at.head + 1 });
  if (by === "layer") return t("layer {n}", { n: at.layer + 1 });
  if (by === "sentence") return which === "a" ? t("the sentence above") : t("with the word changed");
  const zh = { a: trace?.direction === "en-zh", b: trace?.direction !== "en-zh" }[which];
  const name = zh ? t("English → Chinese") : t("Chinese → English");
  return which === "a" ? name : t("{direction}, transposed", { direction: name });
}

/**
 * The heading of an exported picture: it must say which sentence B is, and the range of Δ.
 * @param {Context} context
 * @param {Which} which
 * @param {number} most
 */
function heading(context, which, most) {
  const page = context.store.get();
  if (which === "delta") return `Δ = B − A, ±${two(most)}`;
  if (page.link.options.other !== "sentence") return `${which.toUpperCase()} ${describe(context, which)}`;
  const said = which === "a" ? page.link.source : otherSentence(page);
  return `${which.toUpperCase()} ${said.trim()}`;
}

/**
 * @param {Context} context
 * @param {number} rows  the largest number of a picture
 * @param {number} [count]  of pictures
 * @returns {[number, {width: number, height: number, stretch: number, largest: number}]}  pictures
 *   per row, and the size of each
 */
export function layout(context, rows, count = 3) {
  const { width, height } = context.room();
  const { size } = context.theme();
  const across = Math.max(1, Math.min(count, Math.floor((width + GAP) / (LEAST + GAP))));
  const each = Math.floor((width - GAP * (across - 1)) / across);
  const shared = { width: each, stretch: 2.6 };
  // In projector mode everything fits on the screen as long as the rows are legible.
  if (context.store.get().link.options.projector)
    return [across, { ...shared, height: Math.max((1.1 * rows + 7) * size, height - 9 * size), largest: 4 * size }];
  const seen = Math.min(Math.max(height - 190, 340), each * 1.1);
  const read = Math.min(rows * THIN + 150, MOST);
  return [across, { ...shared, height: Math.max(seen, read), largest: 52 }];
}
