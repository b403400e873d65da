/** Works of members as small figures with their sentence and place: on the wall, and in a gallery. */

import { headThumbnail, thumbnailTensors } from "../core/compute/computed-tensors.js";
import { tilePaint, writeTile } from "../core/draw/head-grid.js";
import { sharpness } from "../core/draw/matrix-canvas.js";
import { DEFAULTS, fittedLink, mergeStates, parse } from "../core/store/link.js";
import { mayBeLong } from "../core/wire/long-texts.js";
import { pairOf, request } from "../core/wire/request.js";
import { invalidCells, labRequest, parse as parseLab, preset } from "../lab/lab-link.js";
import { el, h } from "../lib/dom.js";

/** @import { State } from "../core/store/link.js" */
/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @import { Trace } from "../core/wire/safetensors.js" */
/** @import { Lab } from "../lab/matrices.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Child } from "../lib/dom.js" */

// Small figures: a head's weights, or those of attention by hand, drawn from a link. A run gives the
// thumbnails of all heads of a block, so that another head or layer of the same sentence requests nothing.

/** Runs that are kept. */
const MAX_RUNS = 80;
/**
 * Runs that may be requested at once, as when a wall is opened, and again for each second after that:
 * what a class explores by itself comes first.
 */
export const BURST = 40;
export const PER_SECOND = 0.8;
/** In CSS pixels. */
const [WIDTH, HEIGHT] = [220, 150];

/**
 * Attention by hand that a link shows; null: it is of another page.
 * @param {string} link
 * @returns {Lab | null}
 */
export function labOf(link) {
  const { pathname, search } = new URL(link, "http://room");
  const none = preset("identity");
  const lab = pathname === "/lab" ? parseLab(search, none) : none;
  return lab === none || Object.keys(invalidCells(lab)).length ? null : lab;
}

/**
 * The weights of the first head of a step by hand, with queries as rows.
 * @param {import("../lab/steps.js").Answer} answer
 * @returns {import("../core/draw/head-grid.js").Picture | null}
 */
export function labPicture({ steps, dims }) {
  const weights = dims.weights?.[0] === "head" ? steps.weights[0] : steps.weights;
  if (!weights) return null;
  const turned = dims.weights.filter((name) => name !== "head")[0] === "key";
  const rows = turned ? weights[0].map((/** @type {number} */ _, /** @type {number} */ i) => weights.map((/** @type {number[]} */ row) => row[i])) : weights;
  return { rows: rows.length, cols: rows[0].length, values: Float32Array.from(rows.flat()), may: null };
}

/**
 * The state of a figure that a link shows, of the workspace or within a lesson; null: without a sentence.
 * @param {string} link
 * @returns {State | null}
 */
export function figureState(link) {
  const { search, hash } = new URL(link, "http://room");
  const shows = new URLSearchParams(search).get("shows");
  const state = mergeStates(DEFAULTS, parse(shows ?? search + (hash.startsWith("#source=") ? hash : "")));
  return state.source.trim() ? state : null;
}

/**
 * How many runs may be requested now.
 * @param {() => number} now  in milliseconds
 */
export function createBudget(now) {
  let [left, since] = [BURST, now()];
  return () => {
    const time = now();
    left = Math.min(BURST, left + ((time - since) / 1000) * PER_SECOND);
    since = time;
    if (left < 1) return false;
    left--;
    return true;
  };
}

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "theme">} page
 * @param {Pick<import("../core/wire/api.js").Api, "models" | "trace" | "lab" | "pace">} api
 * @param {() => void} arrived  called when a figure that was asked for can be drawn
 */
function createSmallFigures({ theme }, api, arrived) {
  /** By request; null: it is on its way, or has failed. @type {Map<string, Trace | null>} */
  const runs = new Map();
  /** Weights by hand, by request; null as above. @type {Map<string, import("../core/draw/head-grid.js").Picture | null>} */
  const labs = new Map();
  /** @type {ModelInfo[]} */
  let models = [];
  const allows = createBudget(() => performance.now());
  void api.models().then((list) => ((models = list), arrived()), () => {});

  /** @param {string} key @param {object} body */
  async function read(key, body) {
    runs.set(key, null);
    for (const old of [...runs.keys()].slice(0, -MAX_RUNS)) runs.delete(old);
    const trace = await api.trace(body).catch(() => null);
    if (trace) runs.set(key, trace);
    if (trace) arrived();
  }

  /** @param {State} state  @returns {{model: ModelInfo, place: State, body: object} | null}  null: it has no small figure */
  function figureOf(state) {
    const model = models.find(({ id }) => id === (state.model ?? models[0].id));
    if (!model || mayBeLong(model, [state.source, state.target, pairOf({ model, link: state })])) return null;
    const place = fittedLink(state, model);
    return { model, place, body: request(model, place, thumbnailTensors(model, place.block)) };
  }

  /** @param {string} key @param {object} body */
  async function compute(key, body) {
    labs.set(key, null);
    for (const old of [...labs.keys()].slice(0, -MAX_RUNS)) labs.delete(old);
    const answer = await api.lab(body).catch(() => null);
    const picture = answer && labPicture(answer);
    if (picture) labs.set(key, picture);
    if (picture) arrived();
  }

  return {
    /**
     * Draw the weights of attention by hand; they are requested first if need be.
     * @param {HTMLCanvasElement} canvas
     * @param {Lab} lab
     * @returns {boolean}  whether they were drawn
     */
    drawLab(canvas, lab) {
      const body = labRequest(lab);
      const key = JSON.stringify(body);
      const picture = labs.get(key);
      if (picture === undefined && !api.pace.busy() && allows()) void compute(key, body);
      if (picture) paint(canvas, picture, { query: null, key: null }, theme());
      return Boolean(picture);
    },
    /**
     * Draw a figure; it is requested first if need be.
     * @param {HTMLCanvasElement} canvas
     * @param {State} state
     * @returns {boolean}  whether it was drawn
     */
    draw(canvas, state) {
      const figure = figureOf(state);
      if (!figure) return false;
      const key = JSON.stringify(figure.body);
      const trace = runs.get(key);
      if (trace === undefined && !api.pace.busy() && allows()) void read(key, figure.body);
      const picture = trace && headThumbnail(figure.model, trace, figure.place);
      if (picture) paint(canvas, picture, figure.place, theme());
      return Boolean(picture);
    },
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("../core/draw/head-grid.js").Picture} picture
 * @param {Pick<State, "query" | "key">} pinned
 * @param {import("../core/page/page-context.js").Theme} theme
 */
function paint(canvas, picture, { query, key }, theme) {
  const ratio = Math.min(sharpness(document), 2);
  const [wide, size] = [WIDTH * ratio, HEIGHT * ratio].map(Math.round);
  const context = canvas.getContext("2d");
  if (!context) return;
  Object.assign(canvas, { width: wide, height: size });
  const image = context.createImageData(wide, size);
  writeTile(new Uint32Array(image.data.buffer), wide, { left: 0, top: 0, size, wide }, picture, tilePaint(theme));
  context.putImageData(image, 0, 0);
  const [high, across] = [size / picture.rows, wide / picture.cols];
  context.lineWidth = 2 * ratio;
  context.strokeStyle = theme.q;
  if (query !== null && query < picture.rows) context.strokeRect(0, query * high, wide, high);
  context.strokeStyle = theme.k;
  if (key !== null && key < picture.cols) context.strokeRect(key * across, 0, across, size);
}

// The tiles: a figure with the words around it.

/** @typedef {Pick<import("./room.js").Presentable, "says" | "place">} Placing */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {Placing} presented
 * @param {() => void} arrived  called when a figure can be drawn
 */
export function createWorkTiles(page, api, presented, arrived) {
  const { t } = page;
  /** @type {Map<string, HTMLCanvasElement>} */
  const canvases = new Map();
  /** @type {ReturnType<typeof createSmallFigures> | null} */
  let figures = null;

  /**
   * @param {{id: string, link: string}} work
   * @param {Child[]} notes  beside the place
   * @param {Child[]} below
   * @param {object} [attributes]
   */
  return function tile({ id, link }, notes, below, attributes = {}) {
    figures ??= createSmallFigures(page, api, arrived);
    const canvas = canvases.get(id) ?? h("canvas", { "aria-hidden": "true" });
    canvases.set(id, canvas);
    const lab = labOf(link);
    const figure = lab ? null : figureState(link);
    const isDrawn = Boolean(lab ? figures.drawLab(canvas, lab) : figure && figures.draw(canvas, figure));
    canvas.classList.toggle("pending", !isDrawn);
    return el(
      "li",
      { key: id, ...attributes },
      el("div", { className: "picture" }, (figure || lab) && canvas),
      el("p", { className: "sentence" }, figure ? figure.source : presented.says(link)),
      el("p", { className: "place" }, [figure && placeOf(t, presented, link, figure), ...notes]),
      ...below,
    );
  };
}

/** Where a figure is, and what was changed in it. @param {Translate} t @param {Placing} presented @param {string} link @param {NonNullable<ReturnType<typeof figureState>>} figure */
function placeOf(t, presented, link, { layer, head, interventions }) {
  const place = presented.place?.(link) ?? t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
  const count = Array.isArray(interventions) ? interventions.length : 0;
  const changes = count === 1 ? t("1 change of the model") : t("{count} changes of the model", { count });
  return count === 0 ? place : `${place} · ${changes}`;
}

/**
 * Where a word of thanks is written before a work is shown to everyone.
 * @param {Translate} t @param {(words: string) => void} take @param {() => void} cancel
 */
export function thanking(t, take, cancel) {
  const field = h("input", { type: "text", maxLength: MAX_THANKS, placeholder: t("Thank you!") });
  const form = h("form", {}, h("label", {}, h("span", {}, t("A word of thanks, for everyone")), field), h("button", { type: "submit", className: "button strong" }, t("Show everyone")), " ", h("button", { type: "button", className: "button quiet", onclick: cancel }, t("Cancel")));
  form.addEventListener("submit", (event) => (event.preventDefault(), take(field.value.trim())));
  return form;
}

const MAX_THANKS = 120;
