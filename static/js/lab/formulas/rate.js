/** The learning rate with warm-up: Vaswani et al. 2017, equation 3. */

import { plain, raised } from "../../core/compute/formula.js";
import { learningRate, milestones } from "./warm-up.js";
import { plot } from "../../core/draw/curves.js";
import { short, tiny } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { counted } from "./fields.js";
import { resultTable } from "./table.js";

/** Points of the curve. */
const CURVE = 60;
const [WIDTH, HEIGHT] = [420, 210];

/** @type {import("./formula.js").TriedFormula} */
export const RATE = {
  title: (t) => t("Learning rate with warm-up"),
  one: true,
  written: [
    ["lr", "=", raised("d_model", plain("−0.5")), "·", "min", plain("(")],
    [raised("step", plain("−0.5")), ","],
    ["step", "·", raised("warmup", plain("−1.5")), plain(")")],
  ],
  fields: () => [
    { name: "model", label: "d_model", symbol: "d_model", value: 512, limits: [1, 1e6] },
    { name: "warmup", label: "warmup", value: 4000, limits: [1, 1e6], stops: [1, 10, 100, 500, 1000, 2000, 4000, 8000, 16000] },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show({ model, warmup }) {
        const rows = milestones(warmup).map((step) => [counted(step), tiny(learningRate(step, model, warmup), 3), step === warmup ? t("the peak") : ""]);
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
  const look = theme();
  return plot(
    {
      curves: [{ name: "lr", values, colour: look.ink }],
      range: [0, Math.max(...values)],
      titles: { x: t("Step"), y: t("Learning rate") },
      places: steps.map(counted),
      width: WIDTH,
      height: HEIGHT,
      markedIndex: steps.indexOf(warmup),
      format: (value) => (value ? short(value) : "0"),
    },
    look,
  );
}
