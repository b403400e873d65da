/**
 * The one file that touches Plotly. Until its 4.8 MB are here, and while one walks through heads
 * faster than it draws, a chart shows the same cells on plain canvas; then Plotly's figure takes
 * their place, cell on cell.
 */

import { figure, hasRoom, open } from "./plotly-figure.js";
import { settle } from "../lib/pacing.js";
import { cells, covers, numbers } from "./paint.js";

/** @typedef {import("./plotly-figure.js").Picture} Picture */
/**
 * @typedef {object} Plotly  what we use of it
 * @property {(element: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(element: HTMLElement) => void} purge
 */
/** @typedef {ReturnType<typeof createPlotter>} Plotter */

/**
 * plotly.js makes these two style elements, which a strict Content-Security-Policy forbids, unless
 * something with their ids is there. Its rules are in css/draw/plotly.css; the second is for maps.
 */
const NO_STYLES = [
  "plotly.js-style-global",
  "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53",
];

/** How long a hand is still before Plotly draws, in milliseconds: it takes several frames to. */
const REST = 120;

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
  element.append(plot, canvas);
  /** @type {Picture | null} */
  let wanted = null;
  let place = "";
  const rest = settle(show, REST);

  async function show() {
    const plotly = plotter.now();
    const drawn = wanted;
    if (!plotly || !drawn) return;
    const { data, layout, config } = figure(drawn, hatching(element.ownerDocument, drawn));
    await plotly.react(plot, data, layout, config);
    if (drawn !== wanted) return;
    plot.style.visibility = "";
    canvas.hidden = true;
    element.classList.remove("sketched");
  }

  return {
    /** @param {Picture} picture */
    draw(picture) {
      wanted = picture;
      element.style.width = `${picture.geometry.width}px`;
      element.style.height = `${picture.geometry.height}px`;
      sketch(canvas, picture);
      element.classList.add("sketched");
      const now = JSON.stringify([picture.geometry, picture.titles]);
      if (place !== now) plot.style.visibility = "hidden";
      place = now;
      if (plotter.now()) rest.later();
      else plotter.load().then(rest.later, () => {});
    },
    destroy() {
      wanted = null;
      rest.cancel();
      plotter.now()?.purge(plot);
      element.replaceChildren();
    },
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
function sketch(canvas, picture) {
  canvas.hidden = false;
  const { left, top, width, height, rows, cols, cellWidth, cellHeight } = picture.geometry;
  const context = prepare(canvas, width, height);
  paint(context, picture);
  // Plotly's last figure is still behind it, for its titles.
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = picture.theme.paper;
  context.fillRect(left, top, cols * cellWidth, rows * cellHeight);
}

/**
 * All of a picture but its labels.
 * @param {CanvasRenderingContext2D} context  scaled to CSS pixels
 * @param {Picture} picture
 */
export function paint(context, picture) {
  const { geometry, shade, theme } = picture;
  const seen = open(picture);
  cells(context, seen, geometry, shade);
  if (seen.values.some(Number.isNaN)) covers(context, picture, geometry, theme.hatch);
  if (hasRoom(geometry, theme)) numbers(context, seen, geometry, shade, theme);
}

/**
 * @param {Document} document
 * @param {Picture} picture
 * @returns {string | null}  null where nothing is covered
 */
function hatching(document, picture) {
  const { matrix, geometry, theme } = picture;
  if (!open(picture).values.some(Number.isNaN)) return null;
  const canvas = document.createElement("canvas");
  const [across, down] = [matrix.cols * geometry.cellWidth, matrix.rows * geometry.cellHeight];
  covers(prepare(canvas, across, down), picture, { ...geometry, left: 0, top: 0 }, theme.hatch);
  return canvas.toDataURL();
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width  in CSS pixels
 * @param {number} height
 * @param {number} [fine]  pixels for one of CSS, at least
 */
export function prepare(canvas, width, height, fine = 1) {
  const ratio = Math.max(fine, canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(ratio, ratio);
  return context;
}
