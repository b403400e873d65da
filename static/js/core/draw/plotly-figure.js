/** A matrix as a Plotly figure that can be zoomed and panned (plain data). */

import { INKS, cellText, colourOf, hasRoom, legible as inkOn, openCells, paintCovers, prepare } from "./matrix-canvas.js";
import { colorscale } from "./colour-scales.js";

/** @import { Picture } from "./matrix-canvas.js" */
/** @import { Figure } from "./plotly.js" */
/** @typedef {{width: number, height: number}} Size */

const CLEAR = /** @type {[number, string][]} */ ([[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]]);
/** The toolbar: only what is needed to zoom and pan, and nothing that sends data elsewhere. */
const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];
/** Angles of column labels: the smallest one that avoids overlaps is used. */
const ANGLES = [0, -45, -65, -90];

/**
 * @param {Picture} picture
 * @param {Size} size  of the figure, in pixels
 * @param {object} [options]
 * @param {string | null} [options.hatched]  a picture of the masked cells, as a URL
 * @param {Record<string, string>} [options.words]  of the toolbar, by Plotly's names
 * @param {boolean} [options.wheel]  whether the mouse wheel zooms
 * @returns {Figure}
 */
export function figure(picture, size, { hatched = null, words = {}, wheel = true } = {}) {
  const { shade, labels } = picture;
  const axes = { rows: distinct(labels.rows), cols: distinct(labels.cols) };
  const trace = {
    type: "heatmap",
    z: nested(openCells(picture)),
    ...(axes.cols.length ? { x: axes.cols } : {}),
    y: axes.rows,
    zmin: shade.range[0],
    zmax: shade.range[1],
    zsmooth: false,
    colorscale: colorscale(shade.stops, shade.floor),
    showscale: false,
    hovertemplate: "%{y} → %{x}<br>%{z:.4f}<extra></extra>",
    // A gap of any size: without one, Plotly scales a small image with a style attribute, which the
    // Content-Security-Policy forbids, and the cells come out blurred.
    xgap: picture.geometry.gap || 0.001,
    ygap: picture.geometry.gap || 0.001,
  };
  return {
    data: [trace, ...INKS.map((ink) => inscription(picture, trace, ink))],
    layout: layout(picture, size, hatched),
    config: {
      displayModeBar: true,
      displaylogo: false,
      modeBarButtons: BUTTONS,
      scrollZoom: wheel,
      responsive: false,
      locale: "own",
      locales: { own: { dictionary: words, format: {} } },
    },
  };
}

/** Indices of the traces with the numbers. */
export const NUMBERS = [1, 2];

/**
 * Whether numbers fit into cells of this size.
 * @param {Picture} picture
 * @param {Size} cell
 */
export const legible = ({ theme }, { width, height }) =>
  hasRoom(/** @type {any} */ ({ cellWidth: width, cellHeight: height }), theme);

/**
 * The numbers in one text colour, as a trace of their own, because the text colours that Plotly
 * chooses do not reach AA in the middle of the scale. Hidden until cells have room for them.
 * @param {Picture} picture
 * @param {object} trace  the heatmap that they belong to
 * @param {string} ink
 */
function inscription(picture, trace, ink) {
  const { shade, theme } = picture;
  const matrix = openCells(picture);
  const suits = (/** @type {number} */ value) =>
    !Number.isNaN(value) && cellText(shade, value) !== "" && inkOn(colourOf(shade, value)) === ink;
  const values = Float32Array.from(matrix.values, (value) => (suits(value) ? value : NaN));
  const z = nested({ ...matrix, values });
  const words = shade.floor && { text: z.map((row) => Array.from(row, (n) => (Number.isNaN(n) ? "" : cellText(shade, n)))) };
  return {
    ...trace,
    ...words,
    z,
    visible: false,
    hoverinfo: "skip",
    hovertemplate: null,
    colorscale: CLEAR,
    texttemplate: words ? "%{text}" : "%{z:.2f}",
    textfont: { family: theme.font, size: theme.size, color: ink },
  };
}

/** @param {import("../wire/safetensors.js").Matrix} matrix */
function nested({ rows, cols, values }) {
  return Array.from({ length: rows }, (_, i) => values.subarray(i * cols, (i + 1) * cols));
}

/**
 * Make axis labels distinct and escape markup for Plotly, which parses markup and merges equal
 * labels.
 * @param {string[]} labels
 */
export function distinct(labels) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return labels.map((label) => {
    const times = counts.get(label) ?? 0;
    counts.set(label, times + 1);
    const plain = label.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    return plain + "\u200b".repeat(times);
  });
}

/** @param {Picture} picture @param {Size} size @param {string | null} hatched */
function layout({ matrix, theme, labels, titles }, size, hatched) {
  const { rows, cols } = matrix;
  const font = { family: theme.font, size: theme.size, color: theme.ink };
  /** @param {string[]} names @param {number} count @param {string} text */
  const axis = (names, count, text) => ({
    ...(names.length ? { type: "category" } : {}),
    showgrid: false,
    zeroline: false,
    ticks: "",
    automargin: true,
    minallowed: -0.5,
    maxallowed: count - 0.5,
    title: { text, standoff: 8, font: { ...font, color: theme.muted } },
  });
  return {
    ...size,
    // Keep the zoomed region when the head changes.
    uirevision: `${rows} ${cols}`,
    margin: { l: 8, t: 8 + 2 * theme.size, r: 8, b: 8, pad: 4 },
    paper_bgcolor: theme.paper,
    plot_bgcolor: theme.paper,
    font,
    dragmode: "zoom",
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.muted, font },
    modebar: { bgcolor: theme.paper, color: theme.muted, activecolor: theme.ink },
    xaxis: { ...axis(labels.cols, cols, titles.cols), autotickangles: ANGLES, side: "top", range: [-0.5, cols - 0.5] },
    yaxis: { ...axis(labels.rows, rows, titles.rows), range: [rows - 0.5, -0.5] },
    images: hatched
      ? [{ source: hatched, xref: "x", yref: "y", x: -0.5, y: -0.5, sizex: cols, sizey: rows, sizing: "stretch", layer: "above" }]
      : [],
  };
}

/**
 * Outlines of what is highlighted, as Plotly shapes.
 * @param {Picture} picture
 * @param {import("./matrix-geometry.js").Place} place
 */
export function frames({ matrix: { rows, cols }, theme }, { row, col, tall = 1, wide = 1 }) {
  /** @param {number | null} index @param {number} size @param {number} count */
  const span = (index, size, count) => (index === null ? [-0.5, count - 0.5] : [index - 0.5, index + size - 0.5]);
  /** @param {number | null} row @param {number | null} col @param {string} color */
  const frame = (row, col, color) => {
    const [[x0, x1], [y0, y1]] = [span(col, wide, cols), span(row, tall, rows)];
    return { type: "rect", x0, x1, y0, y1, line: { color, width: 2 } };
  };
  return [
    ...(row !== null && row < rows ? [frame(row, null, theme.q)] : []),
    ...(col !== null && col < cols ? [frame(null, col, theme.k)] : []),
  ];
}

/**
 * An image of the cells without a number.
 * @param {Document} document
 * @param {Picture} picture
 * @returns {string | null}  null if there are none
 */
export function hatching(document, picture) {
  const { matrix, geometry, theme } = picture;
  if (!openCells(picture).values.some(Number.isNaN)) return null;
  const canvas = document.createElement("canvas");
  const [across, down] = [matrix.cols * geometry.cellWidth, matrix.rows * geometry.cellHeight];
  paintCovers(prepare(canvas, across, down), picture, { ...geometry, left: 0, top: 0 }, theme.hatch);
  return canvas.toDataURL();
}
