/** What attention costs to compute and to write with: a layer's operations, and a cache of keys and values. */

import { plain, raised } from "../../core/compute/formula.js";
import { shareBar } from "../../core/draw/colour-scales.js";
import { plot } from "../../core/draw/line-chart.js";
import { el, render } from "../../lib/dom.js";
import { grouped, hundredths, roughly, short, significant, tiny } from "../../lib/numbers.js";
import { integerText, resultTable } from "./fields.js";

// Two formulas of Vaswani et al. 2017: what a layer costs (section 4 and table 1), and the learning rate
// with warm-up (equation 3).

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

/** Points of the curve, at most. */
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
          el("div", { className: "results" }, resultTable(heads, rows), rateCurve(page, model, warmup)),
        );
      },
    };
  },
};

/** @param {import("../../core/figure/types.js").PageContext} page @param {number} width @param {number} warmup @returns {SVGElement}  up to four times the warm-up */
function rateCurve({ t, theme }, width, warmup) {
  const points = Math.min(CURVE, 4 * warmup); // each a step of its own
  const steps = [...new Set(Array.from({ length: points + 1 }, (_, i) => Math.max(1, Math.round((4 * warmup * i) / points))))];
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

// What writing costs with and without a cache of keys and values, in multiplications and bytes.

/** @typedef {{length: number, layers: number, features: number, heads: number, bytes: number}} Sizes */
/** @typedef {{tokens: number, pairs: number, multiplications: number, pairShare: number}} StepCost */

/** Weights of a layer for each token, in squares of its features: W_Q, W_K, W_V and W_O, and a network that is four times as wide. */
const SQUARES = 4 + 2 * 4;

/**
 * What a decoder does to write one token, without its vocabulary.
 * @param {Sizes} sizes
 * @param {number} tokens  that go through the layers
 * @param {number} pairs  of a query and a key, in one head of one layer
 * @returns {StepCost}  a pair takes a product for each channel of all heads, once with the key and once with the value
 */
function stepCost({ layers, features }, tokens, pairs) {
  const [ofTokens, ofPairs] = [layers * SQUARES * features ** 2 * tokens, layers * 2 * features * pairs];
  return { tokens, pairs, multiplications: ofTokens + ofPairs, pairShare: ofPairs / (ofTokens + ofPairs) };
}

/** Only the new token goes through the layers. @param {Sizes} sizes */
export const cachedStep = (sizes) => stepCost(sizes, 1, sizes.length);

/** All tokens so far go through the layers again. @param {Sizes} sizes */
export const uncachedStep = (sizes) => stepCost(sizes, sizes.length, (sizes.length * (sizes.length + 1)) / 2);

/** Of all tokens from the first to the last. @param {Sizes} sizes */
export function allSteps(sizes) {
  const n = sizes.length;
  const [sum, squares] = [(n * (n + 1)) / 2, (n * (n + 1) * (2 * n + 1)) / 6];
  return { cached: stepCost(sizes, n, sum).multiplications, uncached: stepCost(sizes, sum, (squares + sum) / 2).multiplications };
}

/** Keys and values of all tokens. @param {Sizes} sizes */
export const cacheBytes = ({ length, layers, features, bytes }) => 2 * layers * length * features * bytes;

/** All weights of all heads, if they are kept. @param {Sizes} sizes */
export const weightBytes = ({ length, layers, heads, bytes }) => layers * heads * length ** 2 * bytes;

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** @param {number} bytes */
export function byteText(bytes) {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${unit ? significant(bytes / 1000 ** unit, 3) : bytes} ${UNITS[unit]}`;
}

/** @type {import("./formula.js").TriedFormula} */
export const CACHE = {
  title: (t) => t("What the next token costs"),
  fields: (t) => [
    { name: "length", label: t("n, tokens"), symbol: "n", value: 100, limits: [1, 1e6], stops: [1, 2, 5, 13, 50, 100, 200, 500, 1000, 1536, 2000, 5000, 10000, 100000] },
    { name: "layers", label: t("layers"), value: 3, limits: [1, 1000] },
    { name: "features", label: t("d, features"), symbol: "d", value: 256, limits: [1, 1e5] },
    { name: "heads", label: t("heads"), value: 8, limits: [1, 1000] },
    { name: "bytes", label: t("bytes per number"), value: 4, limits: [1, 8] },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show(values) {
        const sizes = /** @type {Sizes} */ (values);
        const [cached, uncached, all] = [cachedStep(sizes), uncachedStep(sizes), allSteps(sizes)];
        const rows = [
          [t("Tokens that pass through the layers"), integerText(cached.tokens), integerText(uncached.tokens)],
          [t("Pairs that a head compares"), integerText(cached.pairs), integerText(uncached.pairs)],
          [t("Multiplications for token {n}", { n: grouped(sizes.length) }), integerText(cached.multiplications), integerText(uncached.multiplications)],
          [t("of which for pairs"), `${hundredths(cached.pairShare)} %`, `${hundredths(uncached.pairShare)} %`],
          [t("Multiplications for all {n} tokens", { n: grouped(sizes.length) }), integerText(all.cached), integerText(all.uncached)],
          [t("Keys and values that are kept"), byteText(cacheBytes(sizes)), "0"],
        ];
        const finding = t("With the cache, token {n} takes {times} times fewer multiplications, and {memory} hold the keys and values. All weights of this text would take {weights}.", {
          n: grouped(sizes.length),
          times: roughly(uncached.multiplications / cached.multiplications),
          memory: byteText(cacheBytes(sizes)),
          weights: byteText(weightBytes(sizes)),
        });
        render(
          root,
          el("p", { className: "finding" }, finding),
          el("div", { className: "results" }, el("div", { className: "scrolled" }, resultTable(["", t("with the cache"), t("without")], rows)), cacheCurve(page, sizes)),
        );
      },
    };
  },
};

/** Multiplications for each token, up to the last. @param {import("../../core/figure/types.js").PageContext} page @param {Sizes} sizes @returns {SVGElement} */
function cacheCurve({ t, theme }, sizes) {
  const points = Math.min(CURVE, sizes.length);
  const lengths = Array.from({ length: points }, (_, i) => Math.max(1, Math.round((sizes.length * (i + 1)) / points)));
  const costs = (/** @type {(sizes: Sizes) => StepCost} */ step) => lengths.map((length) => step({ ...sizes, length }).multiplications);
  const colours = theme();
  const uncached = costs(uncachedStep);
  return plot(
    {
      curves: [
        { name: t("without"), values: uncached, colour: colours.k, dash: "5 3" },
        { name: t("with the cache"), values: costs(cachedStep), colour: colours.q },
      ],
      range: [0, Math.max(...uncached)],
      titles: { x: t("n, tokens"), y: t("Multiplications") },
      places: lengths.map(integerText),
      width: WIDTH,
      height: HEIGHT,
      markedIndex: null,
      format: (value) => (value ? tiny(value, 0) : "0"),
    },
    colours,
  );
}
