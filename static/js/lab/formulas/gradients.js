/** Two formulas about gradients of a head: one weight that learns, and why scores are divided by √dₖ. */

import { fraction, plain, raised, root } from "../../core/compute/formula.js";
import { plot } from "../../core/draw/line-chart.js";
import { problemLine } from "../../core/figure/figure-status.js";
import { numberTable } from "../../core/draw/colour-scales.js";
import { createAsker } from "../../core/wire/connection.js";
import { Problem } from "../../core/wire/reply.js";
import { el, h, render } from "../../lib/dom.js";
import { brief, plus, significant, two } from "../../lib/numbers.js";
import { integerText, resultTable } from "./fields.js";

/** @import { ScalingReply, ScalingsReply } from "../../core/wire/schemas.d.ts" */

// Gradient descent on the smallest head: one query, two keys, one weight. The query is 1, the key of A is
// the weight w, the key of B is 0; the answer should be A in a share p of the examples, else B. So the
// weight of the pair is both where the head looks and the probability of the answer A.

/** @typedef {{w: number, attention: number, loss: number, gradient: number}} Descent */

/** @param {number} w @param {number} [share]  p @returns {Descent}  the means over all examples */
export function atWeight(w, share = 1) {
  const attention = 1 / (1 + Math.exp(-w));
  const loss = share * Math.log1p(Math.exp(-w)) + (1 - share) * Math.log1p(Math.exp(w));
  return { w, attention, loss, gradient: attention - share };
}

/**
 * @param {number} start
 * @param {number} rate
 * @param {number} steps
 * @param {number} [share]
 * @returns {Descent[]}  before the first step, and after each
 */
export function descend(start, rate, steps, share = 1) {
  const path = [atWeight(start, share)];
  for (let i = 0; i < steps; i++) {
    const { w, gradient } = path[i];
    path.push(atWeight(w - rate * gradient, share));
  }
  return path;
}

const tenths = (/** @type {number} */ value) => two(value / 10);
/** Rows of the table; of more steps, the first and the last ones are listed. */
const LISTED = 8;
const [WIDTH, HEIGHT] = [420, 210];
/** Values of w on the curve, in tenths. */
const [FIRST, LAST] = [-40, 60];

/** @type {import("./formula.js").TriedFormula} */
export const ONE_WEIGHT = {
  title: (t) => t("One parameter learns"),
  written: [
    ["a", "=", fraction(plain("1"), [plain("1"), "+", raised("e", plain("−w"))])],
    ["loss", "=", "−", "p", "ln", "a"],
    ["−", plain("("), plain("1"), "−", "p", plain(")"), "ln", plain("("), plain("1"), "−", "a", plain(")")],
    ["gradient", "=", fraction("∂loss", "∂w"), "=", "a", "−", "p"],
    ["w", "→", "w", "−", "η", "·", "gradient"],
  ],
  fields: (t) => [
    { name: "start", label: t("w at the start"), symbol: "w", value: 0, limits: [FIRST, 40], valueText: tenths },
    { name: "rate", label: t("η, learning rate"), symbol: "η", value: 10, limits: [1, 100], valueText: tenths },
    { name: "share", label: t("p, how often the answer is A"), symbol: "p", value: 10, limits: [0, 10], valueText: tenths },
    { name: "steps", label: t("Steps"), value: 1, limits: [0, 20], valueText: integerText },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show({ start, rate, share, steps }) {
        const path = descend(start / 10, rate / 10, steps, share / 10);
        const [first, last] = [path[0], path[path.length - 1]];
        const heads = [
          t("Step"),
          { text: "w", symbol: "w" },
          { text: t("a: weight on A"), symbol: "a" },
          { text: t("loss"), symbol: "loss" },
          { text: t("gradient"), symbol: "gradient" },
        ];
        const rows = path.map((descent, i) => [integerText(i), two(descent.w), two(descent.attention), two(descent.loss), two(descent.gradient)]);
        const listed = rows.length <= LISTED ? rows : [...rows.slice(0, LISTED - 2), ["…", "", "", "", ""], rows[rows.length - 1]];
        const gradient = two(first.gradient);
        const slope =
          first.gradient < 0
            ? t("The gradient is {gradient}: if w grows a little, the loss falls by {fall} times as much.", { gradient, fall: two(-first.gradient) })
            : t("The gradient is {gradient}: if w grows a little, the loss grows by {gradient} times as much.", { gradient });
        const moved = t("After the steps w has changed by {change}, and the head gives A {weight} of its weight.", { change: plus(last.w - first.w, two), weight: two(last.attention) });
        render(
          root,
          el("p", { className: "finding" }, slope, " ", moved),
          el("div", { className: "results" }, el("div", { className: "scrolled" }, resultTable(heads, listed)), curve(page, last.w, share / 10)),
        );
      },
    };
  },
};

/** The loss against the weight. @param {import("../../core/figure/types.js").PageContext} page @param {number} w  to mark @param {number} share @returns {SVGElement} */
function curve({ t, theme }, w, share) {
  const weights = Array.from({ length: LAST - FIRST + 1 }, (_, i) => (FIRST + i) / 10);
  const values = weights.map((weight) => atWeight(weight, share).loss);
  const colours = theme();
  return plot(
    {
      curves: [{ name: t("loss"), values, colour: colours.ink }],
      range: [0, Math.max(...values)],
      titles: { x: "w", y: t("loss") },
      places: weights.map(two),
      width: WIDTH,
      height: HEIGHT,
      markedIndex: Math.min(Math.max(Math.round(w * 10) - FIRST, 0), weights.length - 1),
      format: two,
    },
    colours,
  );
}

// Why scores are divided by √dₖ: scores, weights and gradients of random vectors against d_k.

const [PANEL_WIDTH, PANEL_HEIGHT] = [340, 200]; // three side by side in a lesson
const SEEDS = 10000;
/** So that no curve touches the title above it. */
const HEADROOM = 1.1;

/** @type {import("./formula.js").TriedFormula} */
export const SCALING = {
  title: (t) => t("Why divide by √dₖ?"),
  written: [["S", "=", fraction(["Q", { base: "K", power: "T" }], root("d_k"))]],
  fields: (t) => [
    { name: "dk", label: "dₖ", symbol: "d_k", value: 6, limits: [0, 9], valueText: (exponent) => String(2 ** exponent) },
    { name: "keys", label: t("Number of keys"), symbol: "K", value: 6, limits: [2, 32] },
    { name: "seed", label: t("Random seed"), value: 0, limits: [0, SEEDS - 1] },
  ],
  mount: mountScaling,
};

/** @param {import("./formula.js").FormulaContext} context */
function mountScaling({ page, api, root, type }) {
  const { t, theme } = page;
  const asker = createAsker();
  const failed = problemLine(page, () => void ask());
  const stand = h("div", {});
  const drawButton = h("button", { type: "button", className: "button" }, t("Draw other vectors"));
  root.append(h("p", { className: "actions" }, drawButton), failed.element, stand);
  /** @type {Record<string, number>} */
  let values = {};
  /** The reply, and what it answers. @type {{reply: ScalingsReply, key: string} | null} */
  let latest = null;
  const keyOf = () => `${values.keys} ${values.seed}`;
  drawButton.addEventListener("click", () => type("seed", String((values.seed + 1) % SEEDS)));

  async function ask() {
    const key = keyOf();
    const reply = await asker.ask((signal) => api.scaling(values.keys, values.seed, signal), failed.show);
    if (reply === null) return;
    failed.show(reply instanceof Problem ? reply : null);
    if (reply instanceof Problem) return;
    latest = { reply, key };
    draw();
  }

  function draw() {
    if (!latest) return;
    const index = values.dk;
    const { d_k, dot, scaled } = latest.reply;
    const numbers = { d: d_k[index], root: significant(Math.sqrt(d_k[index]), 3) };
    render(
      stand,
      el("p", { className: "finding" }, sentence(dot, scaled, index, numbers)),
      el("div", { className: "results" }, example(dot, scaled, index), ...curves(latest.reply, index)),
    );
  }

  /** @param {ScalingReply} dot @param {ScalingReply} scaled @param {number} index @param {Record<string, string | number>} numbers */
  const sentence = (dot, scaled, index, numbers) =>
    t("At dₖ = {d} the products have a standard deviation of {spread}, and one key gets {most} of the weight on average; the softmax’s gradient is {gradient}. Divided by √{d} = {root} it is {scaledSpread}, {scaledMost} and {scaledGradient}.", {
      ...numbers,
      spread: two(dot.spread[index]),
      most: two(dot.largest[index]),
      gradient: two(dot.gradient[index]),
      scaledSpread: two(scaled.spread[index]),
      scaledMost: two(scaled.largest[index]),
      scaledGradient: two(scaled.gradient[index]),
    });

  /**
   * One query: its scores and weights with and without scaling.
   * @param {ScalingReply} dot
   * @param {ScalingReply} scaled
   * @param {number} index
   */
  function example(dot, scaled, index) {
    const rows = ["q · k", "q · k / √dₖ"];
    const cols = dot.scores[index].map((_, key) => String(key + 1));
    const [scores, weights] = [[dot.scores[index], scaled.scores[index]], [dot.weights[index], scaled.weights[index]]];
    return el(
      "div",
      { className: "both-ways" },
      numberTable({ title: t("Scores of one query with each key"), values: scores, rows, cols, scale: "signed" }, theme(), t, two),
      numberTable({ title: t("Weights"), values: weights, rows, cols, scale: "share" }, theme(), t, two),
    );
  }

  /** @param {ScalingsReply} all @param {number} index @returns {SVGElement[]} */
  function curves({ d_k, dot, scaled }, index) {
    const colours = theme();
    /** @param {keyof ScalingReply} quantity @param {string} y */
    const drawn = (quantity, y) =>
      plot(
        {
          curves: [
            { name: "q · k", values: /** @type {number[]} */ (dot[quantity]), colour: colours.k, dash: "5 3" },
            { name: "/ √dₖ", values: /** @type {number[]} */ (scaled[quantity]), colour: colours.q },
          ],
          range: [0, HEADROOM * Math.max(.../** @type {number[]} */ (dot[quantity]), .../** @type {number[]} */ (scaled[quantity]))],
          titles: { x: "dₖ", y },
          places: d_k.map(String),
          width: PANEL_WIDTH,
          height: PANEL_HEIGHT,
          markedIndex: index,
          format: brief,
        },
        colours,
      );
    return [drawn("spread", t("Standard deviation of the scores")), drawn("largest", t("Largest weight")), drawn("gradient", t("Gradient of the largest weight: a (1 − a)"))];
  }

  return {
    stop: asker.stop,
    show(/** @type {Record<string, number>} */ next) {
      values = next;
      if (latest?.key === keyOf()) draw();
      else void ask();
    },
  };
}
