/**
 * Two formulas of Vaswani et al. 2017: what a layer costs (section 4 and table 1), and the learning
 * rate with warm-up (equation 3).
 */

import { plain, raised } from "../../core/compute/formula.js";
import { plot } from "../../core/draw/line-chart.js";
import { shareBar } from "../../core/draw/colour-scales.js";
import { short, tiny } from "../../lib/numbers.js";
import { el, render } from "../../lib/dom.js";
import { integerText, resultTable } from "./fields.js";

/** @typedef {{id: string, operations: string, count: number, steps: string, path: string}} Cost */

/**
 * @param {{n: number, d: number, k: number, w: number}} sizes
 * @returns {Cost[]}  operations, sequential steps and the longest path between two tokens, to order
 */
export const layerCosts = ({ n, d, k, w }) => [
  { id: "attention", operations: "n² · d", count: n * n * d, steps: "1", path: "1" },
  { id: "recurrence", operations: "n · d²", count: n * d * d, steps: String(n), path: String(n) },
  { id: "convolution", operations: "k · n · d²", count: k * n * d * d, steps: "1", path: String(convolutions(n, k)) },
  { id: "window", operations: "w · n · d", count: Math.min(w, n) * n * d, steps: "1", path: String(Math.ceil(n / Math.min(w, n))) },
];

/**
 * Layers needed to connect the first token with the last: log_k n.
 * @param {number} n
 * @param {number} k
 */
const convolutions = (n, k) => (k < 2 ? n : Math.max(1, Math.ceil(Math.log(n) / Math.log(k) - 1e-9)));

/** @type {import("./formula.js").TriedFormula} */
export const COSTS = {
  title: (t) => t("What a layer costs"),
  fields: (t) => [
    { name: "n", label: t("n, tokens"), value: 50, limits: [1, 1e6], stops: [5, 10, 20, 50, 100, 200, 512, 1000, 2000, 5000, 10000] },
    { name: "d", label: t("d, features"), value: 512, limits: [1, 1e6] },
    { name: "k", label: t("k, kernel"), value: 3, limits: [1, 1000] },
    { name: "w", label: t("w, window"), value: 8, limits: [1, 1e6] },
  ],
  mount({ page: { t }, root }) {
    return {
      show({ n, d, k, w }) {
        const called = names(t);
        const costs = layerCosts({ n, d, k, w });
        const maxCount = Math.max(...costs.map(({ count }) => count));
        const rows = costs.map(({ id, operations, count, steps, path }) => [called[id], operations, integerText(count), shareBar(count / maxCount), steps, path]);
        const heads = [t("Layer"), t("Operations"), "", "", t("Sequential steps"), t("Longest path")];
        render(
          root,
          el("p", { className: "finding" }, finding(t, n, d)),
          el("div", { className: "scrolled costs", tabIndex: 0, role: "group", "aria-label": t("What a layer costs") }, resultTable(heads, rows)),
        );
      },
    };
  },
};

/** @param {import("../../lib/i18n.js").Translate} t @param {number} n @param {number} d */
const finding = (t, n, d) =>
  n < d
    ? t("n < d: self-attention takes fewer operations than recurrence, and its steps are not sequential.")
    : t("n ≥ d: self-attention takes no fewer operations than recurrence, but its steps are still not " +
      "sequential.");

/** @param {import("../../lib/i18n.js").Translate} t @returns {Record<string, string>} */
const names = (t) => ({
  attention: t("Self-attention"),
  recurrence: t("Recurrence"),
  convolution: t("Convolution"),
  window: t("Attention in a window"),
});

/**
 * d_model^−0.5 · min(step^−0.5, step · warmup^−1.5): it rises linearly and falls as 1 / √step.
 * @param {number} step  from 1
 * @param {number} width  d_model
 * @param {number} warmup  steps
 */
export const learningRate = (step, width, warmup) => width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);

/** Steps to list: the first, halfway up, the peak, and some after it. @param {number} warmup */
export const milestones = (warmup) => [...new Set([1, Math.ceil(warmup / 2), warmup, 2 * warmup, 4 * warmup, 25 * warmup])];

/** Points of the curve. */
const CURVE = 60;
const [WIDTH, HEIGHT] = [420, 210];

/** @type {import("./formula.js").TriedFormula} */
export const RATE = {
  title: (t) => t("Learning rate with warm-up"),
  isOneFormula: true,
  written: [
    ["lr", "=", raised("d_model", plain("−0.5")), "·", "min", plain("(")],
    [raised("step", plain("−0.5")), ","],
    ["step", "·", raised("warmup", plain("−1.5")), plain(")")],
  ],
  fields: (t) => [
    { name: "model", label: t("Features"), symbol: "d_model", value: 512, limits: [1, 1e6] },
    { name: "warmup", label: "warmup", value: 4000, limits: [1, 1e6], stops: [1, 10, 100, 500, 1000, 2000, 4000, 8000, 16000] },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show({ model, warmup }) {
        const rows = milestones(warmup).map((step) => [integerText(step), tiny(learningRate(step, model, warmup), 3), step === warmup ? t("the peak") : ""]);
        const heads = [{ text: t("Step"), symbol: "step" }, { text: t("Learning rate"), symbol: "lr" }, ""];
        render(
          root,
          el("p", { className: "aside" }, t("The rate rises in a straight line during the warm-up, then falls with 1/√step.")),
          el("div", { className: "results" }, resultTable(heads, rows), curve(page, model, warmup)),
        );
      },
    };
  },
};

/** @param {import("../../core/figure/types.js").PageContext} page @param {number} width @param {number} warmup @returns {SVGElement}  up to four times the warm-up */
function curve({ t, theme }, width, warmup) {
  const steps = Array.from({ length: CURVE + 1 }, (_, i) => Math.max(1, Math.round((4 * warmup * i) / CURVE)));
  const values = steps.map((step) => learningRate(step, width, warmup));
  const colours = theme();
  return plot(
    {
      curves: [{ name: "lr", values, colour: colours.ink }],
      range: [0, Math.max(...values)],
      titles: { x: t("Step"), y: t("Learning rate") },
      places: steps.map(integerText),
      width: WIDTH,
      height: HEIGHT,
      markedIndex: steps.indexOf(warmup),
      format: (value) => (value ? short(value) : "0"),
    },
    colours,
  );
}
