/** Points of two measures as a Plotly figure (plain data). */

import { distinct } from "../core/draw/plotly-figure.js";

/** @import { Theme } from "../core/page/page-context.js" */
/** @typedef {{name: string, color: string, symbol: string, points: {x: number, y: number, says: string}[]}} Group */

const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];

/**
 * @param {{groups: Group[], titles: {x: string, y: string}}} shown
 * @param {{width: number, height: number}} size
 * @param {Theme} theme
 * @param {Record<string, string>} dictionary  of the toolbar
 * @returns {import("../core/draw/plotly.js").Figure}
 */
export function figure({ groups, titles }, size, theme, dictionary) {
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  const axis = (/** @type {string} */ text) => ({
    title: { text, standoff: 10, font: { ...font, color: theme.muted } },
    gridcolor: theme.rule,
    zerolinecolor: theme.hatch,
    linecolor: theme.muted,
  });
  return {
    data: groups.map(({ name, color, symbol, points }) => ({
      type: "scatter",
      mode: "markers",
      name,
      x: points.map(({ x }) => x),
      y: points.map(({ y }) => y),
      text: points.map(({ says }) => distinct([says])[0].replaceAll("\n", "<br>")),
      hovertemplate: "%{text}<extra></extra>",
      marker: { color, symbol, size: 11, opacity: 0.85, line: { color: theme.paper, width: 1 } },
    })),
    layout: {
      ...size,
      uirevision: titles.x + titles.y,
      margin: { l: 64, t: 32, r: 16, b: 56 },
      paper_bgcolor: theme.paper,
      plot_bgcolor: theme.paper,
      font,
      hovermode: "closest",
      dragmode: "zoom",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom", itemclick: false, itemdoubleclick: false },
      modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
      hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, align: "left", font },
      xaxis: axis(titles.x),
      yaxis: axis(titles.y),
    },
    config: { displayModeBar: true, displaylogo: false, modeBarButtons: BUTTONS, locale: "own", locales: { own: { dictionary, format: {} } } },
  };
}
