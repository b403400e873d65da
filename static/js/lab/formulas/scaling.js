/** Why scores are divided by √d_k: scores, weights and gradients of random vectors against d_k. */

import { fraction, root } from "../../core/compute/formula.js";
import { Problem } from "../../core/wire/problem.js";
import { createAsker } from "../../core/wire/connection.js";
import { plot } from "../../core/draw/curves.js";
import { h } from "../../lib/dom.js";
import { brief, significant, two } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { numberTable } from "../../core/figure/number-table.js";
import { trouble } from "../../core/figure/figure-status.js";

/** @import { ScalingReply, ScalingsReply } from "../../core/wire/schemas.d.ts" */

const [WIDTH, HEIGHT] = [340, 200]; // three side by side in a lesson
const SEEDS = 10000;
/** So that no curve touches the title above it. */
const HEADROOM = 1.1;

/** @type {import("./formula.js").TriedFormula} */
export const SCALING = {
  title: (t) => t("Why divide by √d_k?"),
  written: [["S", "=", fraction(["Q", { base: "K", power: "T" }], root("d_k"))]],
  fields: (t) => [
    { name: "dk", label: "d_k", symbol: "d_k", value: 6, limits: [0, 9], says: (at) => String(2 ** at) },
    { name: "keys", label: t("Number of keys"), symbol: "K", value: 6, limits: [2, 32] },
    { name: "seed", label: t("Random seed"), value: 0, limits: [0, SEEDS - 1] },
  ],
  mount: mountScaling,
};

/** @param {import("./formula.js").Desk} desk */
function mountScaling({ page, api, root, type }) {
  const { t, theme } = page;
  const asker = createAsker();
  const failed = trouble(page, () => void ask());
  const stand = h("div", {});
  const other = h("button", { type: "button", className: "button" }, t("Draw other vectors"));
  root.append(h("p", { className: "actions" }, other), failed.element, stand);
  /** @type {Record<string, number>} */
  let values = {};
  /** The reply, and what it answers. @type {{found: ScalingsReply, key: string} | null} */
  let known = null;
  const keyOf = () => `${values.keys} ${values.seed}`;
  other.addEventListener("click", () => type("seed", String((values.seed + 1) % SEEDS)));

  async function ask() {
    const key = keyOf();
    const found = await asker.ask((signal) => api.scaling(values.keys, values.seed, signal), failed.show);
    if (found === null) return;
    failed.show(found instanceof Problem ? found : null);
    if (found instanceof Problem) return;
    known = { found, key };
    draw();
  }

  function draw() {
    if (!known) return;
    const at = values.dk;
    const { d_k, dot, scaled } = known.found;
    const said = { d: d_k[at], root: significant(Math.sqrt(d_k[at]), 3) };
    render(
      stand,
      el("p", { className: "finding" }, sentence(dot, scaled, at, said)),
      el("div", { className: "results" }, example(dot, scaled, at), ...curves(known.found, at)),
    );
  }

  /** @param {ScalingReply} dot @param {ScalingReply} scaled @param {number} at @param {Record<string, string | number>} said */
  const sentence = (dot, scaled, at, said) =>
    t("At d_k = {d} the products have a standard deviation of {spread}, and one key gets {most} of the weight on average; the softmax’s gradient is {gradient}. Divided by √{d} = {root} it is {scaledSpread}, {scaledMost} and {scaledGradient}.", {
      ...said,
      spread: two(dot.spread[at]),
      most: two(dot.largest[at]),
      gradient: two(dot.gradient[at]),
      scaledSpread: two(scaled.spread[at]),
      scaledMost: two(scaled.largest[at]),
      scaledGradient: two(scaled.gradient[at]),
    });

  /**
   * One query: its scores and weights with and without scaling.
   * @param {ScalingReply} dot
   * @param {ScalingReply} scaled
   * @param {number} at
   */
  function example(dot, scaled, at) {
    const rows = ["q · k", "q · k / √d_k"];
    const cols = dot.scores[at].map((_, key) => String(key + 1));
    const [scores, weights] = [[dot.scores[at], scaled.scores[at]], [dot.weights[at], scaled.weights[at]]];
    return el(
      "div",
      { className: "both-ways" },
      numberTable({ title: t("Scores of one query with each key"), values: scores, rows, cols, scale: "signed" }, theme(), t, two),
      numberTable({ title: t("Weights"), values: weights, rows, cols, scale: "share" }, theme(), t, two),
    );
  }

  /** @param {ScalingsReply} all @param {number} at @returns {SVGElement[]} */
  function curves({ d_k, dot, scaled }, at) {
    const look = theme();
    /** @param {keyof ScalingReply} what @param {string} y */
    const drawn = (what, y) =>
      plot(
        {
          curves: [
            { name: "q · k", values: /** @type {number[]} */ (dot[what]), colour: look.k, dash: "5 3" },
            { name: "/ √d_k", values: /** @type {number[]} */ (scaled[what]), colour: look.q },
          ],
          range: [0, HEADROOM * Math.max(.../** @type {number[]} */ (dot[what]), .../** @type {number[]} */ (scaled[what]))],
          titles: { x: "d_k", y },
          places: d_k.map(String),
          width: WIDTH,
          height: HEIGHT,
          markedIndex: at,
          format: brief,
        },
        look,
      );
    return [drawn("spread", t("Standard deviation of the scores")), drawn("largest", t("Largest weight")), drawn("gradient", t("Gradient: ‖∂ weights / ∂ scores‖"))];
  }

  return {
    stop: asker.stop,
    show(/** @type {Record<string, number>} */ next) {
      values = next;
      if (known?.key === keyOf()) draw();
      else void ask();
    },
  };
}
