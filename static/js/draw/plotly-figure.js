/** A matrix as a Plotly figure: plain data, which can be drawn, kept or exported by itself. */

import { INKS, inkOf, written } from "./paint.js";
import { COVER } from "../compute/reshape.js";
import { colorscale } from "./scale.js";

/** @typedef {import("../data/wire.js").Matrix} Matrix */
/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./theme.js").Theme} Theme */
/**
 * @typedef {object} Picture
 * @property {Matrix} matrix  NaN where masked
 * @property {Uint8Array} [cover]  why a cell shows no number (`COVER`); absent: NaN is masked
 * @property {Geometry} geometry
 * @property {import("./paint.js").Shade} shade
 * @property {Theme} theme
 * @property {{rows: string[], cols: string[]}} labels  as text, for whoever reads the figure
 * @property {{rows: string, cols: string}} titles
 */
/** @typedef {{data: object[], layout: object, config: object}} Figure */
/** Numbers stand in cells that have room for them: so many times the size of a label. */
const ROOM = { width: 2.6, height: 1.38 };

/**
 * A whole Plotly figure: it can be drawn, kept or exported by itself.
 * @param {Picture} picture
 * @param {string | null} [hatched]  a picture of the masked cells, as a URL
 * @returns {Figure}
 */
export function figure(picture, hatched = null) {
  const { geometry, shade } = picture;
  const trace = {
    type: "heatmap",
    z: nested(open(picture)),
    zmin: shade.range[0],
    zmax: shade.range[1],
    zsmooth: false,
    colorscale: colorscale(shade.stops, shade.floor),
    showscale: false,
    hoverinfo: "none",
    // Any gap at all: without one Plotly scales a small image by a style attribute, which the
    // Content-Security-Policy forbids, and the cells come out blurred.
    xgap: geometry.gap || 0.001,
    ygap: geometry.gap || 0.001,
  };
  const inscribed = hasRoom(geometry, picture.theme)
    ? [...INKS, picture.theme.muted].map((ink) => inscription(picture, trace, ink))
    : [];
  return {
    data: [trace, ...inscribed],
    layout: layout(picture, hatched),
    config: { staticPlot: true, displayModeBar: false, responsive: false },
  };
}

/**
 * The numbers that are written in one ink, with nothing behind them: the ink that Plotly chooses
 * itself falls short of AA on the middle of the scale.
 * @param {Picture} picture
 * @param {object} trace  the heatmap they belong to
 * @param {string} ink
 */
function inscription(picture, trace, ink) {
  const { shade, theme } = picture;
  const matrix = open(picture);
  const suits = (/** @type {number} */ value) =>
    !Number.isNaN(value) && inkOf(shade, value, theme) === ink;
  const values = Float32Array.from(matrix.values, (value) => (suits(value) ? value : NaN));
  const z = nested({ ...matrix, values });
  const words = shade.floor && { text: z.map((row) => Array.from(row, (n) => (Number.isNaN(n) ? "" : written(shade, n)))) };
  return {
    ...trace,
    ...words,
    z,
    colorscale: [
      [0, "rgba(0,0,0,0)"],
      [1, "rgba(0,0,0,0)"],
    ],
    texttemplate: words ? "%{text}" : "%{z:.2f}",
    textfont: { family: theme.font, size: theme.size, color: ink },
  };
}

/**
 * Only the cells that show their number; NaN elsewhere.
 * @param {{matrix: Matrix, cover?: Uint8Array}} covered
 * @returns {Matrix}
 */
export function open({ matrix, cover }) {
  if (!cover?.some((why) => why !== COVER.open)) return matrix;
  return { ...matrix, values: matrix.values.map((value, i) => (cover[i] === COVER.open ? value : NaN)) };
}

/** @param {Matrix} matrix */
function nested({ rows, cols, values }) {
  return Array.from({ length: rows }, (_, i) => values.subarray(i * cols, (i + 1) * cols));
}

/**
 * @param {Picture} picture
 * @param {string | null} hatched
 */
function layout({ matrix, geometry, theme, labels, titles }, hatched) {
  const { left, top, width, height, cellWidth, cellHeight } = geometry;
  const [across, down] = [matrix.cols * cellWidth, matrix.rows * cellHeight];
  const axis = {
    showgrid: false,
    zeroline: false,
    ticks: "",
    showticklabels: false,
    fixedrange: true,
  };
  /** @param {string} text @param {number} room */
  const title = (text, room) => ({
    text,
    standoff: Math.max(0, room - 1.54 * theme.size),
    font: { size: theme.size, color: theme.muted },
  });
  return {
    width,
    height,
    margin: {
      l: left,
      t: top,
      r: Math.max(0, width - left - across),
      b: Math.max(0, height - top - down),
      pad: 0,
    },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: theme.size, color: theme.ink },
    xaxis: {
      ...axis,
      side: "top",
      range: [-0.5, matrix.cols - 0.5],
      tickvals: labels.cols.map((_, i) => i),
      ticktext: labels.cols,
      title: title(titles.cols, top),
    },
    yaxis: {
      ...axis,
      range: [matrix.rows - 0.5, -0.5],
      tickvals: labels.rows.map((_, i) => i),
      ticktext: labels.rows,
      title: title(titles.rows, left),
    },
    images: hatched
      ? [
          {
            source: hatched,
            xref: "paper",
            yref: "paper",
            x: 0,
            y: 1,
            sizex: 1,
            sizey: 1,
            sizing: "stretch",
            layer: "above",
          },
        ]
      : [],
  };
}

/** @param {Geometry} geometry @param {Theme} theme */
export function hasRoom({ cellWidth, cellHeight }, { size }) {
  return cellWidth >= ROOM.width * size && cellHeight >= ROOM.height * size;
}
