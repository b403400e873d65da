/**
 * Which source word each written word looks at: lines between the sentence and its translation, and
 * the same as a table. For one head, the mean of its layer, or the mean of all heads.
 */

import { links, wordOf } from "../../core/compute/alignment.js";
import { diverging, sequential } from "../../core/draw/scale.js";
import { file } from "../../core/draw/svg.js";
import { token } from "../../core/draw/token.js";
import { controls } from "../../core/figure/controls.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { highlightOf } from "../../core/store/highlight.js";
import { choice, some, whole } from "../../core/store/options.js";
import { across, between, place } from "../../core/wire/attentions.js";
import { h } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { four, plus, two } from "../../lib/numbers.js";
import { render } from "../../lib/render.js";
import { METHODS, attributes, content, layers, methodOf, needed, rowsOf } from "./alignment-data.js";
import { createLines } from "./word-picture.js";
import { NAMES, nearest, remarks, sentence, text } from "./wording.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Shown } from "./alignment-data.js" */

// Map hovered words to the page's highlighted tokens, and back.

/** @typedef {{target: number | null, source: number | null}} Pointed  words */

/**
 * The highlighted words; −1 if there is none.
 * @param {Context} context
 * @param {Shown | null} shown
 */
function litWords({ store }, shown) {
  if (!shown) return { target: -1, source: -1, by: /** @type {const} */ ("default") };
  const at = highlightOf(store.get(), store.hovered());
  const { source, target } = shown.found;
  // With rows that read, the default row is that of the word that it has read.
  const before = at.by === "default" && shown.by === "reads" && at.query !== null;
  const query = before ? Math.max(Number(at.query) - 1, 0) : at.query;
  return { target: wordOf(target, query), source: wordOf(source, at.key), by: at.by };
}

/** @param {Context} context @param {Shown | null} shown @param {Pointed} at */
function hover({ store }, shown, { target, source }) {
  if (!shown || (target === null && source === null)) return store.hover(null);
  const { query, key } = across(store.get().model);
  const { found } = shown;
  store.hover({
    query: target === null ? null : { side: query, index: found.target.groups[target][0] },
    key: source === null ? null : { side: key, index: found.source.groups[source][0] },
  });
}

/** @param {Context} context @param {Shown | null} shown @param {Pointed} at @param {"click" | "key"} how */
function pick(context, shown, { target, source }, how) {
  if (!shown) return;
  const { store } = context;
  const { found } = shown;
  const query = target === null ? highlightOf(store.get(), null).query : found.target.groups[target][0];
  const key = source === null ? null : found.source.groups[source][0];
  store.go({ query, key }, how === "click" ? "pinned" : "moved");
  if (target !== null) context.announce(sentence(context, shown, target).map(text).join(""));
}

/** @param {Context} context @param {Shown | null} shown @param {{row: number, col: number}} cell */
function tip({ t }, shown, { row, col }) {
  if (!shown) return [];
  const { found, method, source, target } = shown;
  const value = found.soft.values[row * found.soft.cols + col];
  const none = Number.isNaN(found.special[row]) ? t("no row") : t("masked");
  return [
    h("span", { className: "as-query" }, token(target[row])),
    " ",
    h("span", { className: "as-key" }, token(source[col])),
    " ",
    h("b", {}, Number.isNaN(value) ? none : method === "attention" ? four(value) : t("{value} nats", { value: plus(value, four) })),
  ];
}

/**
 * In pixels: the gap between lines and table, the smallest width of each side by side, and margins.
 */
const [GAP, HALF, TEXT, LOW] = [32, 460, 150, 240];

/** @type {View} */
export const alignment = {
  id: "alignment",
  name: (t) => t("Alignment"),
  about: (t) =>
    t(
      "Lines connect each written word with the source words that the model looks at while writing it (or just after, " +
      "when reading it); thicker means more. The dark line is the largest weight of its word. The table has " +
      "the same numbers.",
    ),
  blocks: between,
  capabilities: ["alignment"],
  frame: { rail: "both", inspector: false, caption: false, legend: (page) => (methodOf(page) === "attention" ? "attention" : "signed"), tells: true, twice: 460 },
  options: { connects: choice("attention", ...METHODS), of: choice("head", "layer", "all"), rows: some("writes", "reads"), least: whole(0, 100, 10) },
  needs: (page) => [
    ...layers(page).flatMap((layer) => ["weights", "mask"].map((name) => place(page.model, { block: across(page.model).id, layer }, name))),
    ...needed(page),
  ],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  /** @type {Shown | null} */
  let shown = null;
  const options = controls(context, choices(context));
  const parts = furnish(context, () => shown);
  root.append(options, parts.element);

  function draw() {
    options.refresh();
    const page = store.get();
    parts.best.replaceChildren(...(methodOf(page) === "attention" ? nearest(context, page) : []));
    const next = content(page);
    if (!next) return;
    shown = next;
    parts.element.toggleAttribute("data-empty", empty(shown));
    if (empty(shown)) return parts.finding.replaceChildren(context.t("There are no words to align: only special tokens."));
    drawIn(context, parts, shown);
    light();
  }

  function light() {
    if (!shown || empty(shown)) return;
    const at = litWords(context, shown);
    parts.lines.light(at);
    parts.table.mark({ row: at.target < 0 ? null : at.target, col: at.source < 0 ? null : at.source });
    if (at.target >= 0) render(parts.finding, ...sentence(context, shown, at.target));
  }

  return {
    draw,
    light,
    destroy: () => (parts.table.destroy(), root.replaceChildren()),
    picture: () => ({ svg: file(parts.lines.drawing(), context.theme()) }),
  };
}

/** @param {Context} context @returns {import("../../core/figure/controls.js").Control[]} */
const choices = ({ store, t }) => [
  {
    option: "connects",
    label: t("Connected by"),
    values: () => ({
      attention: t("attention"),
      ...(attributes(store.get()) ? Object.fromEntries(METHODS.map((method) => [method, NAMES[method](t)])) : {}),
    }),
  },
  {
    option: "of",
    label: t("Attention of"),
    values: { head: t("this head"), layer: t("this layer"), all: t("all layers") },
  },
  {
    option: "rows",
    label: t("Row used"),
    values: { writes: t("predicting it"), reads: t("reading it") },
    otherwise: () => rowsOf(store.get()),
  },
  {
    option: "least",
    label: t("Hide below"),
    range: [0, 50, 1],
    format: (value) => two(value / 100),
  },
];

/** @param {Shown} shown  Whether there is no word on one of its sides. */
const empty = ({ source, target }) => !source.length || !target.length;

/**
 * The fixed elements of the view.
 * @param {Context} context
 * @param {() => Shown | null} shown
 */
function furnish(context, shown) {
  const { line: finding, inner } = context.finding();
  const best = h("p", { className: "best" });
  const note = h("p", { className: "note" });
  const lines = createLines(context, {
    hover: (at) => hover(context, shown(), at),
    pick: (at, how) => pick(context, shown(), at, how),
  });
  const table = createMatrix(context, {
    label: context.t("Soft alignment: one row per written word, one column per source word"),
    onHover: (at) => hover(context, shown(), { target: at?.row ?? null, source: at?.col ?? null }),
    onPick: ({ row, col }, how) => pick(context, shown(), { target: row, source: col }, how),
    picked() {
      const { target, source } = litWords(context, shown());
      return { row: Math.max(target, 0), col: Math.max(source, 0) };
    },
    tip: (cell) => tip(context, shown(), cell),
  });
  const scroller = (/** @type {HTMLElement} */ wide) => h("div", { className: "scroller" }, wide);
  const element = h("div", { className: "aligned" }, inner, best, scroller(lines.element), scroller(table.element), note);
  return { element, finding, best, note, lines, table };
}

/**
 * Draw lines and table: side by side if there is room, else one above the other.
 * @param {Context} context
 * @param {ReturnType<typeof furnish>} parts
 * @param {Shown} shown
 */
function drawIn(context, { element, lines, table, note }, shown) {
  const { t } = context;
  const { page, found, most, source, target } = shown;
  const { width, height } = context.room();
  const least = page.link.options.least / 100;
  const { links: drawn, faint } = links(most === 1 ? found : { ...found, soft: scaled(found.soft, 1 / most) }, least);
  const half = (width - GAP) / 2;
  const picture = { links: drawn, most, source, target };
  const pair = half >= HALF && lines.fits(picture, half);
  note.textContent = prose(remarks(context, shown, least * most, faint));
  // In projector mode only the lines are shown, with large text.
  if (page.link.options.projector) {
    const words = [...element.children].reduce((sum, one) => sum + (one.matches(".scroller") ? 0 : /** @type {HTMLElement} */ (one).offsetHeight + 8), 0);
    lines.draw({ ...picture, width, height: height - words, loose: true });
  } else lines.draw({ ...picture, width: pair ? half : width, height: pair ? height - TEXT : LOW });
  table.draw({
    matrix: found.soft,
    shade: shadeOf(context, shown),
    rows: target.map(alone),
    cols: source.map(alone),
    titles: { rows: t("written word"), cols: t("source word") },
    width: pair ? half : width,
    height: pair ? Math.max(height - TEXT, target.length * 16 + 90) : target.length * 34 + 90,
    stretch: 1.8,
    largest: 36,
  });
}

/** @param {Context} context @param {Shown} shown @returns {import("../../core/draw/matrix-canvas.js").Shade} */
const shadeOf = (context, { method, most }) =>
  method === "attention"
    ? { stops: sequential(context.theme()), range: [0, 1] }
    : { stops: diverging(context.theme()), range: [-most, most] };

/** @param {import("../../core/wire/wire.js").Matrix} matrix @param {number} by */
const scaled = (matrix, by) => ({ ...matrix, values: matrix.values.map((value) => value * by) });

/** @param {import("../../core/wire/tokens.js").Label} label @returns {import("../../core/wire/tokens.js").Step} */
const alone = (label) => ({ reads: null, writes: label });
