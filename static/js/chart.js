/**
 * The one file that touches Plotly. Until its 4.8 MB are here a chart shows the same cells on plain
 * canvas; then Plotly's figure takes their place, cell on cell.
 */

import { INKS, cells, hatch, inkOf, numbers } from "./paint.js";
import { colorscale } from "./scale.js";

/** @typedef {import("./wire.js").Matrix} Matrix */
/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./theme.js").Theme} Theme */
/**
 * @typedef {object} Picture
 * @property {Matrix} matrix  NaN where masked
 * @property {Geometry} geometry
 * @property {import("./paint.js").Shade} shade
 * @property {Theme} theme
 * @property {{rows: string[], cols: string[]}} labels  as text, for whoever reads the figure
 * @property {{rows: string, cols: string}} titles
 */
/** @typedef {{data: object[], layout: object, config: object}} Figure */
/**
 * @typedef {object} Plotly  what we use of it
 * @property {(element: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(element: HTMLElement) => void} purge
 */
/** @typedef {ReturnType<typeof createPlotter>} Plotter */

/** Numbers stand in cells that have room for them in 13 px. */
const ROOM = { width: 38, height: 20 };

/**
 * plotly.js makes these two style elements, which a strict Content-Security-Policy forbids, unless
 * something with their ids is there. Its rules are in css/plotly.css; the second is for maps.
 */
const NO_STYLES = ["plotly.js-style-global", "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"];

/**
 * Fetches Plotly once, when first asked for.
 * @param {Document} document
 * @param {string} url
 */
export function createPlotter(document, url) {
  /** @type {Plotly | null} */
  let plotly = null;
  /** @type {Promise<Plotly> | null} */
  let coming = null;
  return {
    now: () => plotly,
    load() {
      coming ??= painted(document).then(() => fetchPlotly(document, url)).then((loaded) => (plotly = loaded));
      coming.catch(() => (coming = null));
      return coming;
    },
  };
}

/**
 * After two frames what was drawn is on the screen, and parsing Plotly cannot hold it up.
 * @param {Document} document
 * @returns {Promise<void>}
 */
function painted(document) {
  const view = /** @type {Window} */ (document.defaultView);
  return new Promise((resolve) => view.requestAnimationFrame(() => view.requestAnimationFrame(() => resolve())));
}

/**
 * @param {Document} document
 * @param {string} url
 * @returns {Promise<Plotly>}
 */
function fetchPlotly(document, url) {
  for (const id of NO_STYLES) {
    const stand = Object.assign(document.createElement("template"), { id, className: "no-inline-styles" });
    document.head.append(stand);
  }
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: url, async: true });
    script.addEventListener("load", () => resolve(/** @type {any} */ (globalThis).Plotly));
    script.addEventListener("error", () => reject(new Error("plotly.js did not load")));
    document.head.append(script);
  });
}

/**
 * @param {HTMLElement} element
 * @param {Plotter} plotter
 */
export function createChart(element, plotter) {
  const canvas = element.ownerDocument.createElement("canvas");
  const plot = element.ownerDocument.createElement("div");
  plot.className = "plot";
  element.append(canvas, plot);
  /** @type {Picture | null} */
  let wanted = null;

  async function show() {
    const plotly = plotter.now();
    if (!plotly || !wanted) return;
    const { data, layout, config } = figure(wanted, hatching(element.ownerDocument, wanted));
    await plotly.react(plot, data, layout, config);
    canvas.hidden = true;
  }

  return {
    /** @param {Picture} picture */
    draw(picture) {
      wanted = picture;
      element.style.width = `${picture.geometry.width}px`;
      element.style.height = `${picture.geometry.height}px`;
      if (plotter.now()) void show();
      else {
        sketch(canvas, picture);
        plotter.load().then(show, () => {});
      }
    },
    destroy() {
      wanted = null;
      plotter.now()?.purge(plot);
      element.replaceChildren();
    },
  };
}

/**
 * A whole Plotly figure: it can be drawn, kept or exported by itself.
 * @param {Picture} picture
 * @param {string | null} [hatched]  a picture of the masked cells, as a URL
 * @returns {Figure}
 */
export function figure(picture, hatched = null) {
  const { matrix, geometry, shade } = picture;
  const trace = {
    type: "heatmap",
    z: nested(matrix),
    zmin: shade.range[0],
    zmax: shade.range[1],
    zsmooth: false,
    colorscale: colorscale(shade.stops),
    showscale: false,
    hoverinfo: "none",
    // Any gap at all: without one Plotly scales a small image by a style attribute, which the
    // Content-Security-Policy forbids, and the cells come out blurred.
    xgap: geometry.gap || 0.001,
    ygap: geometry.gap || 0.001,
  };
  const written = hasRoom(geometry) ? [...INKS, picture.theme.muted].map((ink) => inscription(picture, trace, ink)) : [];
  return {
    data: [trace, ...written],
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
function inscription({ matrix, shade, theme }, trace, ink) {
  const suits = (/** @type {number} */ value) => !Number.isNaN(value) && inkOf(shade, value, theme) === ink;
  const values = Float32Array.from(matrix.values, (value) => (suits(value) ? value : NaN));
  return {
    ...trace,
    z: nested({ ...matrix, values }),
    colorscale: [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
    texttemplate: "%{z:.2f}",
    textfont: { family: theme.font, size: 13, color: ink },
  };
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
  const axis = { showgrid: false, zeroline: false, ticks: "", showticklabels: false, fixedrange: true };
  /** @param {string} text @param {number} room */
  const title = (text, room) => ({ text, standoff: Math.max(0, room - 20), font: { size: 13, color: theme.muted } });
  return {
    width,
    height,
    margin: { l: left, t: top, r: Math.max(0, width - left - across), b: Math.max(0, height - top - down), pad: 0 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: theme.font, size: 13, color: theme.ink },
    xaxis: {
      ...axis, side: "top", range: [-0.5, matrix.cols - 0.5],
      tickvals: labels.cols.map((_, i) => i), ticktext: labels.cols, title: title(titles.cols, top),
    },
    yaxis: {
      ...axis, range: [matrix.rows - 0.5, -0.5],
      tickvals: labels.rows.map((_, i) => i), ticktext: labels.rows, title: title(titles.rows, left),
    },
    images: hatched
      ? [{ source: hatched, xref: "paper", yref: "paper", x: 0, y: 1, sizex: 1, sizey: 1, sizing: "stretch", layer: "above" }]
      : [],
  };
}

/** @param {Geometry} geometry */
function hasRoom({ cellWidth, cellHeight }) {
  return cellWidth >= ROOM.width && cellHeight >= ROOM.height;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
function sketch(canvas, { matrix, geometry, shade, theme }) {
  canvas.hidden = false;
  const context = prepare(canvas, geometry.width, geometry.height);
  cells(context, matrix, geometry, shade);
  hatch(context, matrix, geometry, theme.hatch);
  if (hasRoom(geometry)) numbers(context, matrix, geometry, shade, theme);
}

/**
 * @param {Document} document
 * @param {Picture} picture
 * @returns {string | null}  null where nothing is masked
 */
function hatching(document, { matrix, geometry, theme }) {
  if (!matrix.values.some(Number.isNaN)) return null;
  const canvas = document.createElement("canvas");
  const [across, down] = [matrix.cols * geometry.cellWidth, matrix.rows * geometry.cellHeight];
  hatch(prepare(canvas, across, down), matrix, { ...geometry, left: 0, top: 0 }, theme.hatch);
  return canvas.toDataURL();
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width  in CSS pixels
 * @param {number} height
 */
function prepare(canvas, width, height) {
  const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(ratio, ratio);
  return context;
}
