/**
 * Gradient descent on the smallest head: one query, two keys, one weight. The query is 1, the key of
 * A is the weight w, the key of B is 0; the answer should be A. So the weight of the pair is both
 * where the head looks and the probability of the right answer.
 */

import { fraction, plain, raised } from "../../core/compute/formula.js";
import { plot } from "../../core/draw/line-chart.js";
import { plus, two } from "../../lib/numbers.js";
import { el, render } from "../../lib/dom.js";
import { integerText, resultTable } from "./fields.js";

/** @typedef {{w: number, attention: number, loss: number, gradient: number}} Descent */

/** @param {number} w @returns {Descent} */
export function atWeight(w) {
  const attention = 1 / (1 + Math.exp(-w));
  return { w, attention, loss: Math.log1p(Math.exp(-w)), gradient: attention - 1 };
}

/**
 * @param {number} start
 * @param {number} rate
 * @param {number} steps
 * @returns {Descent[]}  before the first step, and after each
 */
export function descend(start, rate, steps) {
  const path = [atWeight(start)];
  for (let i = 0; i < steps; i++) {
    const { w, gradient } = path[i];
    path.push(atWeight(w - rate * gradient));
  }
  return path;
}

const tenths = (/** @type {number} */ value) => two(value / 10);
/** Rows of the table; of more steps, the first and the last ones are listed. */
const LISTED = 6;
const [WIDTH, HEIGHT] = [420, 210];
/** Values of w on the curve, in tenths. */
const [FIRST, LAST] = [-40, 60];

/** @type {import("./formula.js").TriedFormula} */
export const ONE_WEIGHT = {
  title: (t) => t("One parameter learns"),
  written: [
    ["a", "=", fraction(plain("1"), [plain("1"), "+", raised("e", plain("−w"))])],
    ["loss", "=", "−", "ln", "a"],
    ["gradient", "=", fraction("∂loss", "∂w"), "=", "a", "−", plain("1")],
    ["w", "→", "w", "−", "η", "·", "gradient"],
  ],
  fields: (t) => [
    { name: "start", label: t("w at the start"), symbol: "w", value: 0, limits: [FIRST, 40], valueText: tenths },
    { name: "rate", label: t("η, learning rate"), symbol: "η", value: 10, limits: [1, 100], valueText: tenths },
    { name: "steps", label: t("Steps"), value: 1, limits: [0, 20], valueText: integerText },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show({ start, rate, steps }) {
        const path = descend(start / 10, rate / 10, steps);
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
        const finding = t("The gradient is {gradient}: if w grows a little, the loss falls by {fall} times as much. After the steps w has changed by {change}, and the head gives A {weight} of its weight.", {
          gradient: two(first.gradient),
          fall: two(-first.gradient),
          change: plus(last.w - first.w, two),
          weight: two(last.attention),
        });
        render(
          root,
          el("p", { className: "finding" }, finding),
          el("div", { className: "results" }, el("div", { className: "scrolled" }, resultTable(heads, listed)), curve(page, last.w)),
        );
      },
    };
  },
};

/** The loss against the weight. @param {import("../../core/figure/types.js").PageContext} page @param {number} w  to mark @returns {SVGElement} */
function curve({ t, theme }, w) {
  const weights = Array.from({ length: LAST - FIRST + 1 }, (_, i) => (FIRST + i) / 10);
  const values = weights.map((weight) => atWeight(weight).loss);
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
