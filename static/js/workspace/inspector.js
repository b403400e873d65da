/**
 * The inspector: the pinned or hovered pair with the calculation of its weight; hidden without a
 * pair.
 */

import { COVER } from "../core/compute/aggregate-attention.js";
import { isDot, learned, scorer, scoringOf } from "../core/compute/scoring.js";
import { workedCell } from "../core/compute/attention-row.js";
import { thumbnailTensors } from "../core/compute/computed-tensors.js";
import { predictions } from "../core/compute/predictions.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { step, token } from "../core/draw/token.js";
import { makeOneStop } from "../core/figure/pointing.js";
import { highlightIn, pairIn, heatmapOf, tokenAt } from "../core/store/heatmap-data.js";
import { explainedPair } from "../core/store/highlight.js";
import { maskedSaid } from "../core/store/model-part-names.js";
import { isFixed } from "../core/store/share-contents.js";
import { answer, parameters } from "../core/store/view-requests.js";
import { attention, attentionAt, axes, headIndices, place } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { plane, row } from "../core/wire/safetensors.js";
import { el, find, render, write } from "../lib/dom.js";
import { factored, four, rounded } from "../lib/numbers.js";
import { row as vector } from "../lib/vectors.js";
import { view } from "../views/index.js";
import { createCalculation } from "./calculation.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { PageServices } from "./main-figure.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Reading } from "../core/store/heatmap-data.js" */
/** @import { Scoring } from "../core/compute/scoring.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Working } from "../core/compute/attention-row.js" */

// The calculation of a cell's score, line by line, by the model's scoring.

/** @typedef {{w: ArrayLike<number> | null, b: ArrayLike<number> | null}} Learned  of the head */

/** The number of channels of an additive score that are shown separately. */
const CHANNELS = 2;

/** @param {string} name @param {...import("../lib/dom.js").Child} value */
const line = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));

/** @param {Translate} t @param {Scoring} scoring @param {Working} work @param {Learned} learned */
function scoreLines(t, scoring, work, learned) {
  const { scored, score, width } = work;
  const placed = scored.pi !== null;
  const strong = (/** @type {number} */ value) => el("b", {}, four(value));
  const ownLines = isDot(scoring)
    ? dotLines(t, scoring, work, placed)
    : [...channels(t, work, learned), line("w · tanh", t("{sum}, over {count} channels", { sum: four(scored.sum), count: width }))];
  if (!placed) return isDot(scoring) ? ownLines : [...ownLines, line(t("score"), strong(score))];
  const sign = scoring.placed === "relative" ? "+" : "·";
  return [
    ...ownLines,
    line("π", t("{pi}, of this offset", { pi: four(/** @type {number} */ (scored.pi)) })),
    line(t("score"), `${four(scored.plain)} ${sign} ${factored(/** @type {number} */ (scored.pi))} = `, strong(score)),
  ];
}

/** @param {Translate} t @param {Scoring} scoring @param {Working} work @param {boolean} placed */
function dotLines(t, { kind }, { scored, width, score }, placed) {
  const end = placed ? four(scored.plain) : el("b", {}, four(score));
  if (kind === "dot") return placed ? [line("q · k", end)] : [line(t("score"), "q · k = ", end)];
  return [line("q · k", four(scored.sum)), line(placed ? "q · k / √d" : t("score"), `${four(scored.sum)} / √${width} = `, end)];
}

/**
 * The channels that contribute most.
 * @param {Translate} t
 * @param {Working} work
 * @param {Learned} learned
 */
function channels(t, { q, k, scored: { terms } }, { w, b }) {
  if (!w) return [];
  const order = [...terms.keys()].sort((a, c) => Math.abs(terms[c]) - Math.abs(terms[a])).slice(0, CHANNELS);
  return order.map((c) => {
    const sum = [q[c], k[c], ...(b ? [b[c]] : [])].map((value, i) => (i ? factored(value) : four(value))).join(" + ");
    return el(
      "div",
      { className: "long" },
      el("dt", {}, t("channel {n}", { n: c + 1 })),
      el("dd", {}, `${factored(w[c])} · tanh(${sum}) = ${four(terms[c])}`),
    );
  });
}

// The parts of a cell that combines several tokens or several heads.

/**
 * @param {Context} context
 * @param {Reading} reading
 * @param {{row: number, col: number}} at
 * @returns {import("../lib/dom.js").Described[] | null}  null for a single pair of tokens of a
 *   single head
 */
function cellBreakdown(context, reading, { row, col }) {
  const { choice, planes, rows, cols, matrix } = reading;
  const cell = row * matrix.cols + col;
  const [queries, keys] = [rows.axis.groups[row], cols.axis.groups[col]];
  if (choice.pool !== "one") return heads(context, planes.map(({ values }) => values[cell]), planes.map(({ error }) => error), choice.pool);
  if (queries.length === 1 && keys.length === 1) return null;
  return pieces(context, queries, keys, matrix.values[cell], matrix.error);
}

/**
 * @param {Context} context
 * @param {number[]} weights  of each head
 * @param {(number | undefined)[]} errors  by which they may differ
 * @param {"mean" | "max"} pool
 */
function heads({ t }, weights, errors, pool) {
  const masked = weights.some(Number.isNaN);
  const strongest = weights.indexOf(Math.max(...weights));
  const lines = weights.map((weight, head) => {
    const name = t("head {n}", { n: head + 1 });
    const strong = pool === "max" && head === strongest && !masked;
    return el(
      "div",
      { className: strong ? "part strong" : "part" },
      el("dt", {}, name),
      el("dd", {}, shareBar(weight || 0), masked ? t("masked") : rounded(weight, errors[head])),
    );
  });
  const whole = pool === "max" ? weights[strongest] : weights.reduce((a, b) => a + b, 0) / weights.length;
  return [...lines, result(pool === "max" ? t("maximum") : t("mean"), masked ? t("masked") : rounded(whole, Math.max(...errors.map((error) => error ?? 0))))];
}

/**
 * A word's pieces: one line per query with the sum over its keys, and the mean of the lines.
 * @param {Context} context
 * @param {number[]} queries
 * @param {number[]} keys
 * @param {number} weight  the resulting weight
 * @param {number} [error]  by which it may differ
 */
function pieces({ store, t }, queries, keys, weight, error) {
  const { trace, model, link } = store.get();
  const matrix = trace && attention(model, trace, link);
  if (!trace || !matrix) return [];
  const names = axes(model, trace, link.block).rows.map(({ writes }) => writes);
  const lines = queries.map((query) => {
    const open = keys.map((key) => matrix.values[query * matrix.cols + key]).filter((n) => !Number.isNaN(n));
    const sum = open.reduce((a, b) => a + b, 0);
    const terms = open.length > 1 ? `${open.map((value) => rounded(value, error)).join(" + ")} = ` : "";
    const weightText = open.length ? rounded(sum, error) : t("masked");
    return el("div", { className: "part" }, el("dt", {}, token(names[query])), el("dd", {}, terms, el("b", {}, weightText)));
  });
  const name = queries.length > 1 ? t("mean") : t("weight");
  return [...lines, result(name, Number.isNaN(weight) ? t("masked") : rounded(weight, error))];
}

/** @param {string} name @param {string} value */
const result = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value)));

// A button that vanishes when it is pressed would take the focus with it.

/**
 * Pass the focus on from each button that is hidden, disabled or removed by its own click.
 * @param {HTMLElement} root
 * @param {() => HTMLElement} to
 */
function passFocus(root, to) {
  root.addEventListener("click", ({ target }) => {
    const button = /** @type {HTMLElement} */ (target).closest("button");
    const lost = () => document.activeElement === button || document.activeElement === document.body;
    const gone = () => button && (button.disabled || !button.checkVisibility()) && lost();
    // The page is drawn in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => gone() && to().focus({ preventScroll: true })));
  });
}

const TOP = 5;
/**
 * A larger difference than rounding means that a change to the model acts between the scores and
 * the weight.
 */
const CHANGED = 1e-3;

/** @param {PageServices} context */
export function bindInspector(context) {
  const { store } = context;
  const calculation = createCalculation(context, find("#row"));
  const show = () => fill(context, calculation);
  store.subscribe(({ link, trace, model, runs, answers }) => [link, trace, model, runs, answers], show);
  store.watch(show);
  find("#check-cell").addEventListener("click", () =>
    store.go({ view: "worksheet", ...explainedPair(store.get()) }, "chosen"),
  );
  find("#split-score").addEventListener("click", () => {
    const page = store.get();
    store.go({ view: "qkv", ...explainedPair(page), options: { ...page.link.options, terms: true } }, "chosen");
    find(".of-score > summary").focus();
  });
  find("#unpin").addEventListener("click", () => store.go({ query: null, key: null }));
  passFocus(find("#inspector"), () => find("#stage"));
  makeOneStop(find("#inspector .moves"));
  for (const button of find("#inspector").querySelectorAll("[data-move]")) {
    button.addEventListener("click", () =>
      move(store, /** @type {HTMLElement} */ (button).dataset.move ?? ""),
    );
  }
}

/** @param {import("../core/store/store.js").Store} store @param {string} direction  "row,col" to go by */
function move(store, direction) {
  const page = store.get();
  const read = heatmapOf(page);
  const pair = read && pairIn(page, null, read);
  if (!read || !pair) return;
  const [down, right] = direction.split(",").map(Number);
  const { rows, cols, matrix } = read;
  const query = tokenAt(rows, Math.min(Math.max(pair.row + down, 0), matrix.rows - 1));
  const key = tokenAt(cols, Math.min(Math.max(pair.col + right, 0), matrix.cols - 1));
  store.go({ query, key });
}

/** @param {PageServices} context @param {ReturnType<typeof createCalculation>} calculation */
function fill(context, calculation) {
  const { store, t, figure } = context;
  const page = store.get();
  const read = heatmapOf(page);
  const pair = read && pairIn(page, store.hovered(), read);
  const panel = find("#inspector");
  panel.hidden = !page.trace;
  // It is shown for a pinned cell and, if there is room beside the figure, for a hovered one.
  panel.dataset.cell = page.link.query !== null ? "pinned" : store.hovered() ? "hovered" : "none";
  const offered = new Set(figure.offer().map(({ id }) => id));
  find("#check-cell").hidden = !offered.has("worksheet");
  find("#split-score").hidden = !offered.has("qkv") || isFixed(page) || !page.model?.capabilities.includes("scores");
  if (!read || !pair) return;
  const { matrix, rows, cols, cover } = read;
  if (pair.row >= matrix.rows || pair.col >= matrix.cols) return;
  const { by } = highlightIn(page, store.hovered(), read);
  const whole = page.link.key === null; // of a pinned row, its largest weight is shown
  write(find("#pair-title"), by !== "pin" ? t("Pair") : whole ? t("Pinned row") : t("Pinned pair"));
  find("#unpin").toggleAttribute("disabled", page.link.query === null);
  render(find("#pair-query"), step(rows.steps[pair.row]));
  render(find("#pair-key"), step(cols.steps[pair.col]));
  const cell = pair.row * matrix.cols + pair.col;
  const weight = matrix.values[cell];
  write(find("#pair-mask"), Number.isNaN(weight)
    ? maskedSaid(t, maskAt(page), { query: tokenAt(rows, pair.row), key: tokenAt(cols, pair.col) })
    : cover[cell] === COVER.weak
      ? t("not masked; dotted because it is not among the strongest")
      : t("not masked"));
  const parts = cellBreakdown(context, read, pair);
  const calculated = parts ? null : compute(page, read, pair);
  const sink = read.sunk ? [line(t("sink"), four(read.sinks[pair.row]))] : [];
  render(find("#working"), parts ?? [...steps(context, calculated, weight, matrix.error), ...sink]);
  render(find("#row-title"), context.phrase(t("{query} looks at"), { query: step(rows.steps[pair.row]) }));
  const work = calculated?.work ?? null;
  calculation.show({
    of: `${page.trace?.id} ${page.link.block} ${page.link.layer} ${page.link.head} ${pair.row}`,
    keys: ranking(work?.row.weights ?? row(matrix, pair.row), row(matrix, pair.row), pair.col),
    names: cols.steps,
    here: pair.col,
    weights: row(matrix, pair.row),
    work,
  });
}

/** @typedef {{scoring: import("../core/compute/scoring.js").Scoring, work: Working | null, learned: Learned}} Known */

/** The mask of the current attention. @param {Page} page */
const maskAt = ({ model, link }) => attentionAt(model, place(model, link))?.mask ?? "";

/** The scoring of the current attention. @param {Page} page */
const scoringAt = ({ model, link }) => scoringOf(attentionAt(model, place(model, link)));

/**
 * What the inspector requests besides the run: the learned parameters of the scoring.
 * @param {Page} page
 */
function scoringNeeds(page) {
  const names = learned(scoringAt(page));
  return names.length ? [parameters(page, names)] : [];
}

/**
 * What the surroundings of a figure show of its run: the tensors for the caption, the inspector, and
 * the thumbnails of layers and heads; and the inspector's parameters.
 */
export const surroundingNeeds = {
  /** @param {Page} page */
  needs({ model, link }) {
    const vectors = view(link.view).frame.inspector && attentionAt(model, place(model, link))?.qk !== false;
    const names = vectors ? ["weights", "mask", "q", "k"] : ["weights", "mask"];
    return [...names.map((name) => place(model, link, name)), ...thumbnailTensors(model, link.block), ...predictions(model)];
  },
  /** @param {Page} page */
  asks: (page) => (view(page.link.view).frame.inspector ? scoringNeeds(page) : []),
};

/**
 * @param {Page} page
 * @param {import("../core/store/heatmap-data.js").Reading} reading
 * @param {{row: number, col: number}} pair
 * @returns {Known | null}  null: it cannot be computed; `work` is null until everything is loaded
 */
function compute(page, { rows, cols }, pair) {
  const { model, trace, link } = page;
  const scoring = scoringAt(page);
  if (!scoring) return null;
  const [question] = scoringNeeds(page);
  const parameterValues = question ? /** @type {import("../core/store/view-requests.js").Tensors | Problem | undefined} */ (answer(page, question)) : {};
  if (parameterValues instanceof Problem) return null;
  const none = { w: null, b: null };
  const waiting = { scoring, work: null, learned: none };
  const whole = trace && attention(model, trace, link);
  const [query, key] = [tokenAt(rows, pair.row), tokenAt(cols, pair.col)];
  const vectors = ["q", "k"].map((letter) => trace?.tensors[place(model, link, letter)]);
  const [q, k] = vectors.map((tensor) => tensor && plane(tensor, headIndices(model, link)));
  if (!parameterValues || !whole || query === null || key === null || !q || !k) return waiting;
  const ownLines = (/** @type {string | null} */ name) => (name ? vector(parameterValues[name], link.head) : null);
  const may = (/** @type {number} */ keyIndex) => !Number.isNaN(whole.values[query * whole.cols + keyIndex]);
  return {
    scoring,
    work: workedCell(q, k, query, key, may, scorer(scoring, (name) => parameterValues[name], link.head)),
    learned: { w: ownLines(scoring.w), b: ownLines(scoring.b) },
  };
}

/**
 * @param {PageServices} context
 * @param {Known | null} calculated
 * @param {number} weight  the model's weight
 * @param {number} [error]  by which it may differ
 */
function steps({ t }, calculated, weight, error) {
  const weightText = Number.isNaN(weight) ? t("masked") : rounded(weight, error);
  const result = line(t("weight"), el("b", {}, weightText));
  if (!calculated) return [result];
  const { scoring, work, learned } = calculated;
  if (!work) return [line(t("score"), "…"), result];
  const { score, highest, shifted, power, total, masked } = work;
  const lines = scoreLines(t, scoring, work, learned);
  if (masked) return [...lines, line("softmax", t("left out by the mask")), result];
  return [
    ...lines,
    line(t("score − max"), `${four(score)} − ${factored(highest)} = ${four(shifted)}`),
    line("exp", "e", el("sup", {}, four(shifted)), ` = ${four(power)}`),
    line("softmax", `${four(power)} / ${four(total)}`),
    ...(Math.abs(work.weight - weight) > CHANGED
      ? [line(t("changed"), t("{before} without the change here", { before: four(work.weight) }))]
      : []),
    result,
  ];
}

/**
 * The keys that the query looks at most, plus the cell's key if it is not among them.
 * @param {ArrayLike<number>} by  values by which they are ranked
 * @param {ArrayLike<number>} weights  NaN where masked
 * @param {number} cellKey
 * @returns {number[]}
 */
function ranking(by, weights, cellKey) {
  const order = Array.from(weights, (_, key) => key).filter((key) => !Number.isNaN(weights[key]));
  order.sort((a, b) => by[b] - by[a]);
  return order.filter((key, rank) => rank < TOP || key === cellKey);
}
