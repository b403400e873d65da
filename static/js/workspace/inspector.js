/**
 * The inspector: the pinned or hovered pair with the calculation of its weight; hidden without a
 * pair.
 */

import { attention, attentionAt, ofHead, place } from "../core/wire/attentions.js";
import { Problem } from "../core/wire/problem.js";
import { learned, scorer, scoringOf } from "../core/compute/scoring.js";
import { pair } from "../core/store/highlight.js";
import { factored, four } from "../lib/numbers.js";
import { find, write } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { step } from "../core/draw/token.js";
import { working } from "../core/compute/softmax-row.js";
import { maskedSaid } from "../core/store/mask-wording.js";
import { litIn, pairIn, reading, tokenAt } from "../core/store/heatmap-data.js";
import { COVER } from "../core/compute/aggregate-attention.js";
import { plane, row } from "../core/wire/wire.js";
import { row as vector } from "../lib/vectors.js";
import { isFixed } from "../core/store/share-contents.js";
import { answer, parameters } from "../core/store/view-requests.js";
import { line, scoreLines } from "./score-lines.js";
import { createCalculation } from "./calculation.js";
import { cellBreakdown } from "./cell-breakdown.js";
import { passFocus } from "./pass-focus.js";

/** @import { Desk } from "./types.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Working } from "../core/compute/softmax-row.js" */

const TOP = 5;
/**
 * A larger difference than rounding means that a change to the model acts between the scores and
 * the weight.
 */
const CHANGED = 1e-3;

/** @param {Desk} context */
export function bindInspector(context) {
  const { store } = context;
  const calculation = createCalculation(context, find("#row"));
  const show = () => fill(context, calculation);
  store.subscribe(({ link, trace, model, answers }) => [link, trace, model, answers], show);
  store.watch(show);
  find("#check-cell").addEventListener("click", () =>
    store.go({ view: "worksheet", ...pair(store.get()) }, "chosen"),
  );
  find("#split-score").addEventListener("click", () => {
    const page = store.get();
    store.go({ view: "qkv", ...pair(page), options: { ...page.link.options, terms: true } }, "chosen");
    find(".of-score > summary").focus();
  });
  find("#unpin").addEventListener("click", () => store.go({ query: null, key: null }));
  passFocus(find("#inspector"), () => find("#stage"));
  for (const button of find("#inspector").querySelectorAll("[data-move]")) {
    button.addEventListener("click", () =>
      move(store, /** @type {HTMLElement} */ (button).dataset.move ?? ""),
    );
  }
}

/** @param {import("../core/store/store.js").Store} store @param {string} where  "row,col" to go by */
function move(store, where) {
  const page = store.get();
  const read = reading(page);
  const at = read && pairIn(page, null, read);
  if (!read || !at) return;
  const [down, right] = where.split(",").map(Number);
  const { rows, cols, matrix } = read;
  const query = tokenAt(rows, Math.min(Math.max(at.row + down, 0), matrix.rows - 1));
  const key = tokenAt(cols, Math.min(Math.max(at.col + right, 0), matrix.cols - 1));
  store.go({ query, key });
}

/** @param {Desk} context @param {ReturnType<typeof createCalculation>} calculation */
function fill(context, calculation) {
  const { store, t, figure } = context;
  const page = store.get();
  const read = reading(page);
  const at = read && pairIn(page, store.hovered(), read);
  const panel = find("#inspector");
  panel.hidden = !page.trace;
  // It is shown for a pinned cell and, if there is room beside the figure, for a hovered one.
  panel.dataset.cell = page.link.query !== null ? "pinned" : store.hovered() ? "hovered" : "none";
  const offered = new Set(figure.offer().map(({ id }) => id));
  find("#check-cell").hidden = !offered.has("worksheet");
  find("#split-score").hidden = !offered.has("qkv") || isFixed(page) || !page.model?.capabilities.includes("scores");
  if (!read || !at) return;
  const { matrix, rows, cols, cover } = read;
  if (at.row >= matrix.rows || at.col >= matrix.cols) return;
  const { by } = litIn(page, store.hovered(), read);
  const whole = page.link.key === null; // of a pinned row, its largest weight is shown
  write(find("#pair-title"), by !== "pin" ? t("Pair") : whole ? t("Pinned row") : t("Pinned pair"));
  find("#unpin").toggleAttribute("disabled", page.link.query === null);
  render(find("#pair-query"), step(rows.steps[at.row]));
  render(find("#pair-key"), step(cols.steps[at.col]));
  const cell = at.row * matrix.cols + at.col;
  const weight = matrix.values[cell];
  write(find("#pair-mask"), Number.isNaN(weight)
    ? maskedSaid(t, maskAt(page), { query: tokenAt(rows, at.row), key: tokenAt(cols, at.col) })
    : cover[cell] === COVER.weak
      ? t("not masked; dotted because it is not among the strongest")
      : t("not masked"));
  const parts = cellBreakdown(context, read, at);
  const known = parts ? null : compute(page, read, at);
  const sink = read.sunk ? [line(t("sink"), four(read.sinks[at.row]))] : [];
  render(find("#working"), parts ?? [...steps(context, known, weight), ...sink]);
  render(find("#row-title"), context.say(t("{query} looks at"), { query: step(rows.steps[at.row]) }));
  const work = known?.work ?? null;
  calculation.show({
    of: `${page.trace?.id} ${page.link.block} ${page.link.layer} ${page.link.head} ${at.row}`,
    keys: ranking(work?.row.weights ?? row(matrix, at.row), row(matrix, at.row), at.col),
    names: cols.steps,
    here: at.col,
    weights: row(matrix, at.row),
    work,
  });
}

/** @typedef {{scoring: import("../core/compute/scoring.js").Scoring, work: Working | null, learned: import("./score-lines.js").Learned}} Known */

/** The mask of the current attention. @param {Page} page */
const maskAt = ({ model, link }) => attentionAt(model, place(model, link))?.mask ?? "";

/** The scoring of the current attention. @param {Page} page */
const scoringAt = ({ model, link }) => scoringOf(attentionAt(model, place(model, link)));

/**
 * What the inspector requests besides the run: the learned parameters of the scoring.
 * @param {Page} page
 */
export function asksOf(page) {
  const names = learned(scoringAt(page));
  return names.length ? [parameters(page, names)] : [];
}

/**
 * @param {Page} page
 * @param {import("../core/store/heatmap-data.js").Reading} reading
 * @param {{row: number, col: number}} at
 * @returns {Known | null}  null: it cannot be computed; `work` is null until everything is loaded
 */
function compute(page, { rows, cols }, at) {
  const { model, trace, link } = page;
  const scoring = scoringAt(page);
  if (!scoring) return null;
  const [question] = asksOf(page);
  const found = question ? /** @type {import("../core/store/view-requests.js").Tensors | Problem | undefined} */ (answer(page, question)) : {};
  if (found instanceof Problem) return null;
  const none = { w: null, b: null };
  const waiting = { scoring, work: null, learned: none };
  const whole = trace && attention(model, trace, link);
  const [query, key] = [tokenAt(rows, at.row), tokenAt(cols, at.col)];
  const both = ["q", "k"].map((letter) => trace?.tensors[place(model, link, letter)]);
  const [q, k] = both.map((tensor) => tensor && plane(tensor, ofHead(model, link)));
  if (!found || !whole || query === null || key === null || !q || !k) return waiting;
  const own = (/** @type {string | null} */ name) => (name ? vector(found[name], link.head) : null);
  const may = (/** @type {number} */ other) => !Number.isNaN(whole.values[query * whole.cols + other]);
  return {
    scoring,
    work: working(q, k, query, key, may, scorer(scoring, (name) => found[name], link.head)),
    learned: { w: own(scoring.w), b: own(scoring.b) },
  };
}

/**
 * @param {Desk} context
 * @param {Known | null} known
 * @param {number} weight  the model's weight
 */
function steps({ t }, known, weight) {
  const said = Number.isNaN(weight) ? t("masked") : four(weight);
  const result = line(t("weight"), el("b", {}, said));
  if (!known) return [result];
  const { scoring, work, learned } = known;
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
 * @param {number} here
 * @returns {number[]}
 */
function ranking(by, weights, here) {
  const order = Array.from(weights, (_, key) => key).filter((key) => !Number.isNaN(weights[key]));
  order.sort((a, b) => by[b] - by[a]);
  return order.filter((key, rank) => rank < TOP || key === here);
}
