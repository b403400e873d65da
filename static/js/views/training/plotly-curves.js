/** Curves over training steps as a zoomable Plotly figure (plain data). */

/** @import { Theme } from "../../core/page/page-context.js" */
/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {number[]} values  one per step
 * @property {string} color
 * @property {string} [dash]  one of Plotly's names
 * @property {boolean} [right]  whether it uses the right axis
 */
/**
 * @typedef {object} Curves
 * @property {number[]} steps
 * @property {Curve[]} curves
 * @property {number} at  index of the selected step
 * @property {{x: string, left: string, right: string}} titles
 */

const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];

/**
 * @param {Curves} shown
 * @param {{width: number, height: number}} size
 * @param {Theme} theme
 * @param {Record<string, string>} dictionary  of the toolbar
 * @returns {import("../../core/draw/plotly.js").Figure}
 */
export function figure({ steps, curves, at, titles }, size, theme, dictionary) {
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  const title = (/** @type {string} */ text) => ({ text, standoff: 8, font: { ...font, color: theme.muted } });
  const axis = { gridcolor: theme.hatch, zeroline: false, linecolor: theme.muted };
  return {
    data: curves.map(({ name, values, color, dash = "solid", right }) => ({
      type: "scatter",
      mode: "lines+markers",
      name,
      x: steps,
      y: values,
      ...(right ? { yaxis: "y2" } : {}),
      line: { color, dash, width: 2 },
      marker: { color, symbol: right ? "square" : "circle", size: steps.map((_, i) => (i === at ? 10 : 5)) },
      hovertemplate: "%{y:.2f}",
    })),
    layout: {
      ...size,
      uirevision: String(steps),
      margin: { l: 48, t: 36, r: 48, b: 84 },
      paper_bgcolor: theme.paper,
      plot_bgcolor: theme.paper,
      font,
      hovermode: "x unified",
      dragmode: "zoom",
      legend: { orientation: "h", x: 0, y: -0.25, xanchor: "left", yanchor: "top" },
      modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, font },
      xaxis: { ...axis, title: title(titles.x), tickformat: ",d" },
      yaxis: { ...axis, title: title(titles.left), rangemode: "tozero" },
      yaxis2: { ...axis, title: title(titles.right), overlaying: "y", side: "right", tickmode: "auto", rangemode: "tozero", showgrid: false },
      shapes: [{ type: "line", x0: steps[at], x1: steps[at], yref: "paper", y0: 0, y1: 1, line: { color: theme.muted, width: 1, dash: "dot" } }],
    },
    config: { displayModeBar: true, displaylogo: false, modeBarButtons: BUTTONS, scrollZoom: true, locale: "own", locales: { own: { dictionary, format: {} } } },
  };
}
