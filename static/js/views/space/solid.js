/**
 * The same points in three dimensions, which can be rotated, drawn by Plotly in place of the plane.
 */

import { blockAt } from "../../core/wire/attentions.js";
import { figure } from "./plotly-space.js";
import { createPlot } from "../../core/draw/plotly.js";
import { h } from "../../lib/dom.js";
import { words } from "../../core/figure/zoom.js";

/** @import { Context } from "../../core/figure/types.js" */

/** @param {Context} context */
export function createSolid({ plotter, store, theme, t }) {
  const plot = h("div", { className: "plot" });
  const problem = h("p", { className: "note", role: "alert", hidden: true }, t("The third dimension did not load; this is the plane."));
  const element = h("div", { className: "qk-solid", hidden: true }, plot, problem);
  const chart = plotter && createPlot(plot, plotter, { plotly_hover: point, plotly_unhover: () => store.hover(null), plotly_click: pin });

  /** @param {any} event  Traces are queries, keys, the origin, lines. */
  function place({ points: [{ curveNumber, pointNumber }] }) {
    if (curveNumber > 1) return null;
    return curveNumber === 0 ? { query: pointNumber, key: null } : { query: null, key: pointNumber };
  }

  /** @param {any} event */
  function point(event) {
    const found = place(event);
    const { query, key } = blockAt(store.get());
    const ref = (/** @type {string} */ side, /** @type {number | null} */ index) => (index === null ? null : { side, index });
    store.hover(found && { query: ref(query, found.query), key: ref(key, found.key) });
  }

  /** @param {any} event */
  function pin(event) {
    const found = place(event);
    if (found) store.go({ ...(found.query === null ? {} : { query: found.query }), key: found.key }, "pinned");
  }

  return {
    element,
    shown: () => !element.hidden && problem.hidden,

    /**
     * @param {import("./qk-plane.js").Space["solid"]} solid
     * @param {import("./scatter.js").Layout} layout
     * @param {import("./scatter.js").Lit} lit
     */
    show({ queries, keys, origin }, { labels, width, height }, lit) {
      const wanted = chart !== null && store.get().link.options.axes === "3d";
      if (!wanted && !element.hidden) chart?.clear();
      element.hidden = !wanted;
      if (!chart || !wanted) return;
      const cloud = {
        queries: { points: queries, names: labels.slice(0, queries.length) },
        keys: { points: keys, names: labels.slice(queries.length) },
        origin,
        lit,
        words: { queries: t("query"), keys: t("key"), origin: t("mean") },
      };
      chart.show(figure(cloud, { width, height }, theme(), words(t))).then(
        () => (problem.hidden = true),
        () => (problem.hidden = false),
      );
    },

    clear: () => chart?.clear(),
  };
}
