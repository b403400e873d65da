/**
 * The same points in three dimensions, which can be rotated, drawn by Plotly in place of the plane.
 */

import { distinct } from "../../core/draw/plotly-figure.js";
import { createPlot } from "../../core/draw/plotly.js";
import { words } from "../../core/figure/zoom.js";
import { blockAt } from "../../core/wire/model-description.js";
import { h } from "../../lib/dom.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

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
    const pointed = place(event);
    const { query, key } = blockAt(store.get());
    const ref = (/** @type {string} */ side, /** @type {number | null} */ index) => (index === null ? null : { side, index });
    store.hover(pointed && { query: ref(query, pointed.query), key: ref(key, pointed.key) });
  }

  /** @param {any} event */
  function pin(event) {
    const pointed = place(event);
    if (pointed) store.go({ ...(pointed.query === null ? {} : { query: pointed.query }), key: pointed.key }, "pinned");
  }

  return {
    element,
    shown: () => !element.hidden && problem.hidden,

    /**
     * @param {import("./qk-plane.js").Space["solid"]} solid
     * @param {import("./scatter.js").Layout} layout
     * @param {import("./scatter.js").PointHighlight} lit
     */
    show({ queries, keys, origin }, { labels, width, height }, lit) {
      const isSolid = chart !== null && store.get().link.options.axes === "3d";
      if (!isSolid && !element.hidden) chart?.clear();
      element.hidden = !isSolid;
      if (!chart || !isSolid) return;
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

// Queries and keys in three dimensions as a Plotly figure that can be rotated (plain data).

/**
 * @typedef {object} Cloud
 * @property {{points: number[][], names: string[]}} queries  [x, y, z] of each
 * @property {{points: number[][], names: string[]}} keys
 * @property {number[]} origin
 * @property {{query: number, key: number | null, best: {key: number, weight: number}[]}} lit
 * @property {{queries: string, keys: string, origin: string}} words
 */

const BUTTONS = [["toImage"], ["zoom3d", "pan3d", "orbitRotation"], ["resetCameraDefault3d"]];

/**
 * @param {Cloud} cloud
 * @param {{width: number, height: number}} size
 * @param {Theme} theme
 * @param {Record<string, string>} dictionary  of the toolbar
 * @returns {import("../../core/draw/plotly.js").Figure}
 */
function figure({ queries, keys, origin, lit, words }, size, theme, dictionary) {
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  const strongKeys = new Set([...lit.best.map(({ key }) => key), ...(lit.key === null ? [] : [lit.key])]);
  /** @param {{points: number[][], names: string[]}} side @param {(i: number) => boolean} strong @param {string} name @param {string} color @param {string} symbol */
  const cloud = ({ points, names }, strong, name, color, symbol) => ({
    ...scatter(points),
    mode: "markers+text",
    name,
    text: names.map((label, i) => (strong(i) ? distinct([label])[0] : "")),
    hovertext: names.map((label) => distinct([label])[0]),
    hoverinfo: "text",
    textposition: "top center",
    textfont: { ...font, color },
    marker: { color, symbol, size: points.map((_, i) => (strong(i) ? 8 : 4)), line: { width: 0 } },
  });
  const lines = lit.best.map(({ key, weight }) => ({
    ...scatter([queries.points[lit.query], keys.points[key]]),
    mode: "lines",
    hoverinfo: "skip",
    line: { color: theme.attention, width: 2 + 8 * weight },
  }));
  const axis = (/** @type {string} */ text) => ({ title: { text, font }, showticklabels: false, gridcolor: theme.hatch, zeroline: false, showspikes: false, backgroundcolor: theme.paper });
  return {
    data: [
      cloud(queries, (i) => i === lit.query, words.queries, theme.q, "circle"),
      cloud(keys, (i) => strongKeys.has(i), words.keys, theme.k, "square"),
      { ...scatter([origin]), mode: "markers", name: words.origin, hoverinfo: "name", marker: { color: theme.muted, symbol: "cross", size: 4 } },
      ...lines,
    ],
    layout: {
      ...size,
      uirevision: "camera",
      margin: { l: 0, t: 0, r: 0, b: 0 },
      showlegend: false,
      paper_bgcolor: theme.paper,
      font,
      modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, font },
      scene: { aspectmode: "data", dragmode: "orbit", xaxis: axis("1"), yaxis: axis("2"), zaxis: axis("3") },
    },
    config: { displayModeBar: true, displaylogo: false, modeBarButtons: BUTTONS, locale: "own", locales: { own: { dictionary, format: {} } } },
  };
}

/** @param {number[][]} points */
const scatter = (points) => ({ type: "scatter3d", x: points.map(([x]) => x), y: points.map(([, y]) => y), z: points.map(([, , z = 0]) => z) });
