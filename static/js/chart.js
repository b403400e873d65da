/**
 * The one file that touches Plotly. Until its 4.8 MB are here a chart shows the same cells on plain
 * canvas; then Plotly's figure takes their place, cell on cell.
 */

import { figure, hasRoom } from "./figure.js";
import { cells, hatch, numbers } from "./paint.js";

/** @typedef {import("./figure.js").Picture} Picture */
/**
 * @typedef {object} Plotly  what we use of it
 * @property {(element: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(element: HTMLElement) => void} purge
 */
/** @typedef {ReturnType<typeof createPlotter>} Plotter */

/**
 * plotly.js makes these two style elements, which a strict Content-Security-Policy forbids, unless
 * something with their ids is there. Its rules are in css/plotly.css; the second is for maps.
 */
const NO_STYLES = [
  "plotly.js-style-global",
  "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53",
];

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
      coming ??= painted(document)
        .then(() => fetchPlotly(document, url))
        .then((loaded) => (plotly = loaded));
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
  return new Promise((resolve) =>
    view.requestAnimationFrame(() => view.requestAnimationFrame(() => resolve())),
  );
}

/**
 * @param {Document} document
 * @param {string} url
 * @returns {Promise<Plotly>}
 */
function fetchPlotly(document, url) {
  for (const id of NO_STYLES) {
    const stand = Object.assign(document.createElement("template"), {
      id,
      className: "no-inline-styles",
    });
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
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
function sketch(canvas, { matrix, geometry, shade, theme }) {
  canvas.hidden = false;
  const context = prepare(canvas, geometry.width, geometry.height);
  cells(context, matrix, geometry, shade);
  hatch(context, matrix, geometry, theme.hatch);
  if (hasRoom(geometry, theme)) numbers(context, matrix, geometry, shade, theme);
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
