/**
 * Which source word each written word looks at: lines between the sentence and its translation, and
 * the same as a table. For one head, the mean of its layer, or the mean of all heads.
 */

import { links, wordOf } from "../../core/compute/alignment.js";
import { diverging, sequential } from "../../core/draw/colour-scales.js";
import { file } from "../../core/draw/svg.js";
import { token } from "../../core/draw/token.js";
import { controls } from "../../core/figure/controls.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { highlightOf } from "../../core/store/highlight.js";
import { choiceOption, optionalChoice, integerOption } from "../../core/store/link-options.js";
import { crossBlock, isBetweenTexts, place } from "../../core/wire/model-description.js";
import { h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { four, plus, rounded, two } from "../../lib/numbers.js";
import {
  METHODS, NAMES, attributes, bestAligner, content, layers, methodOf, needed, remarks, rowsOf, sentence, text,
} from "./alignment-data.js";
import { createLines } from "./word-picture.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { AlignmentData } from "./alignment-data.js" */

// Map hovered words to the page's highlighted tokens, and back.

/** @typedef {{target: number | null, source: number | null}} Pointed  words */

/**
 * The highlighted words; −1 if there is none.
 * @param {Context} context
 * @param {AlignmentData | null} state
 */
function litWords({ store }, state) {
  if (!state) return { target: -1, source: -1, by: /** @type {const} */ ("default") };
  const highlight = highlightOf(store.get(), store.hovered());
  const { source, target } = state.alignment;
  // With rows that read, the default row is that of the word that it has read.
  const before = highlight.by === "default" && state.by === "reads" && highlight.query !== null;
  const query = before ? Math.max(Number(highlight.query) - 1, 0) : highlight.query;
  return { target: wordOf(target, query), source: wordOf(source, highlight.key), by: highlight.by };
}

/** @param {Context} context @param {AlignmentData | null} state @param {Pointed} at */
function hover({ store }, state, { target, source }) {
  if (!state || (target === null && source === null)) return store.hover(null);
  const { query, key } = crossBlock(store.get().model);
  const { alignment } = state;
  store.hover({
    query: target === null ? null : { side: query, index: alignment.target.groups[target][0] },
    key: source === null ? null : { side: key, index: alignment.source.groups[source][0] },
  });
}

/** @param {Context} context @param {AlignmentData | null} state @param {Pointed} at @param {"click" | "key"} gesture */
function pick(context, state, { target, source }, gesture) {
  if (!state) return;
  const { store } = context;
  const { alignment } = state;
  const query = target === null ? highlightOf(store.get(), null).query : alignment.target.groups[target][0];
  const key = source === null ? null : alignment.source.groups[source][0];
  store.go({ query, key }, gesture === "click" ? "pinned" : "moved");
  if (target !== null) context.announce(sentence(context, state, target).map(text).join(""));
}

/** @param {Context} context @param {AlignmentData | null} state @param {{row: number, col: number}} cell */
function tip({ t }, state, { row, col }) {
  if (!state) return [];
  const { alignment, method, source, target } = state;
  const value = alignment.soft.values[row * alignment.soft.cols + col];
  const none = Number.isNaN(alignment.special[row]) ? t("no row") : t("masked");
  return [
    h("span", { className: "as-query" }, token(target[row])),
    " ",
    h("span", { className: "as-key" }, token(source[col])),
    " ",
    h("b", {}, Number.isNaN(value) ? none : method === "attention" ? rounded(value, alignment.soft.error) : t("{value} nats", { value: plus(value, four) })),
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
  blocks: isBetweenTexts,
  capabilities: ["alignment"],
  frame: { rail: "both", inspector: false, caption: false, legend: (page) => (methodOf(page) === "attention" ? "attention" : "signed"), tells: true, twice: 460 },
  options: { connects: choiceOption("attention", ...METHODS), of: choiceOption("head", "layer", "all"), rows: optionalChoice("writes", "reads"), least: integerOption(0, 100, 10) },
  needs: (page) => [
    ...layers(page).flatMap((layer) => ["weights", "mask"].map((name) => place(page.model, { block: crossBlock(page.model).id, layer }, name))),
    ...needed(page),
  ],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  /** @type {AlignmentData | null} */
  let state = null;
  const options = controls(context, choices(context));
  const parts = createParts(context, () => state);
  root.append(options, parts.element);

  function draw() {
    options.refresh();
    const page = store.get();
    parts.best.replaceChildren(...(methodOf(page) === "attention" ? bestAligner(context, page) : []));
    const next = content(page);
    if (!next) return;
    state = next;
    parts.element.toggleAttribute("data-empty", empty(state));
    if (empty(state)) return parts.finding.replaceChildren(context.t("There are no words to align: only special tokens."));
    drawIn(context, parts, state);
    light();
  }

  function light() {
    if (!state || empty(state)) return;
    const highlight = litWords(context, state);
    parts.lines.light(highlight);
    parts.table.mark({ row: highlight.target < 0 ? null : highlight.target, col: highlight.source < 0 ? null : highlight.source });
    if (highlight.target >= 0) render(parts.finding, ...sentence(context, state, highlight.target));
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

/** @param {AlignmentData} shown  Whether there is no word on one of its sides. */
const empty = ({ source, target }) => !source.length || !target.length;

/**
 * The fixed elements of the view.
 * @param {Context} context
 * @param {() => AlignmentData | null} currentState
 */
function createParts(context, currentState) {
  const { line: finding, inner } = context.finding();
  const best = h("p", { className: "best" });
  const note = h("p", { className: "note" });
  const lines = createLines(context, {
    hover: (words) => hover(context, currentState(), words),
    pick: (words, gesture) => pick(context, currentState(), words, gesture),
  });
  const table = createMatrix(context, {
    label: context.t("Soft alignment: one row per written word, one column per source word"),
    onHover: (cell) => hover(context, currentState(), { target: cell?.row ?? null, source: cell?.col ?? null }),
    onPick: ({ row, col }, gesture) => pick(context, currentState(), { target: row, source: col }, gesture),
    picked() {
      const { target, source } = litWords(context, currentState());
      return { row: Math.max(target, 0), col: Math.max(source, 0) };
    },
    tip: (cell) => tip(context, currentState(), cell),
  });
  const scroller = (/** @type {HTMLElement} */ wide) => h("div", { className: "scroller" }, wide);
  const element = h("div", { className: "aligned" }, inner, best, scroller(lines.element), scroller(table.element), note);
  return { element, finding, best, note, lines, table };
}

/**
 * Draw lines and table: side by side if there is room, else one above the other.
 * @param {Context} context
 * @param {ReturnType<typeof createParts>} parts
 * @param {AlignmentData} state
 */
function drawIn(context, { element, lines, table, note }, state) {
  const { t } = context;
  const { page, alignment, limit, source, target } = state;
  const { width, height } = context.room();
  const least = page.link.options.least / 100;
  const { links: drawn, faint } = links(limit === 1 ? alignment : { ...alignment, soft: scaled(alignment.soft, 1 / limit) }, least);
  const half = (width - GAP) / 2;
  const picture = { links: drawn, limit, error: alignment.soft.error, source, target };
  const pair = half >= HALF && lines.fits(picture, half);
  note.textContent = prose(remarks(context, state, least * limit, faint));
  // In projector mode only the lines are shown, with large text.
  if (page.link.options.projector) {
    const words = [...element.children].reduce((sum, child) => sum + (child.matches(".scroller") ? 0 : /** @type {HTMLElement} */ (child).offsetHeight + 8), 0);
    lines.draw({ ...picture, width, height: height - words, loose: true });
  } else lines.draw({ ...picture, width: pair ? half : width, height: pair ? height - TEXT : LOW });
  table.draw({
    matrix: alignment.soft,
    shade: shadeOf(context, state),
    rows: target.map(alone),
    cols: source.map(alone),
    titles: { rows: t("written word"), cols: t("source word") },
    width: pair ? half : width,
    height: pair ? Math.max(height - TEXT, target.length * 16 + 90) : target.length * 34 + 90,
    stretch: 1.8,
    largest: 36,
  });
}

/** @param {Context} context @param {AlignmentData} shown @returns {import("../../core/draw/matrix-canvas.js").Shade} */
const shadeOf = (context, { method, limit }) =>
  method === "attention"
    ? { stops: sequential(context.theme()), range: [0, 1] }
    : { stops: diverging(context.theme()), range: [-limit, limit] };

/** @param {import("../../core/wire/safetensors.js").Matrix} matrix @param {number} by */
const scaled = (matrix, by) => ({ ...matrix, values: matrix.values.map((value) => value * by) });

/** @param {import("../../core/wire/tokens.js").Label} label @returns {import("../../core/wire/tokens.js").Step} */
const alone = (label) => ({ reads: null, writes: label });
