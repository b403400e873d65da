/** The cost of a layer: Vaswani et al. 2017, section 4 and table 1. */

import { layerCosts } from "./layer-costs.js";
import { shareBar } from "../../core/draw/scale.js";
import { el, render } from "../../lib/render.js";
import { counted } from "./fields.js";
import { resultTable } from "./table.js";

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
        const most = Math.max(...costs.map(({ count }) => count));
        const rows = costs.map(({ id, operations, count, steps, path }) => [called[id], operations, counted(count), shareBar(count / most), steps, path]);
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
