/** Why scores are divided by √dₖ: scores, weights and gradients of random vectors against d_k. */

import { fraction, root } from "../../core/compute/formula.js";
import { Problem } from "../../core/wire/reply.js";
import { createAsker } from "../../core/wire/connection.js";
import { plot } from "../../core/draw/line-chart.js";
import { el, h, render } from "../../lib/dom.js";
import { brief, significant, two } from "../../lib/numbers.js";
import { numberTable } from "../../core/figure/number-table.js";
import { problemLine } from "../../core/figure/figure-status.js";

/** @import { ScalingReply, ScalingsReply } from "../../core/wire/schemas.d.ts" */

const [WIDTH, HEIGHT] = [340, 200]; // three side by side in a lesson
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
          width: WIDTH,
          height: HEIGHT,
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
