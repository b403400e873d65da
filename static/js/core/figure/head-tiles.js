/**
 * The thumbnails: all pictures on one canvas, highlights on another, and above both one button per
 * head for pointer, keys and screen readers.
 */

import { el, h, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { COVER } from "../compute/aggregate-attention.js";
import { headThumbnail } from "../compute/computed-tensors.js";
import { measures, patterns } from "../compute/head-pattern-names.js";
import { cellAt, sinkDivision, headGridSvg, tilePaint, writeTile as paintTile } from "../draw/head-grid.js";
import { sharpness } from "../draw/matrix-canvas.js";
import { sequential } from "../draw/colour-scales.js";
import { isOff } from "../store/interventions.js";
import { axes, extent, place } from "../wire/model-description.js";
import { isPlainKey, onArrows, within } from "./pointing.js";
import { meaning } from "./figure-frame.js";

/** @import { Context } from "./types.js" */
/** @import { Layout, Tile } from "../draw/head-grid.js" */
/** @import { Page } from "../store/store.js" */
/** @import { Summary, Trace } from "../wire/safetensors.js" */

/** @typedef {{row: number | null, col: number | null}} Place */
/**
 * @typedef {object} Gestures
 * @property {(cell: {row: number, col: number} | null) => void} onHover
 * @property {(tile: Tile) => void} onOpen
 * @property {(tile: Tile | null) => void} [onPreview]
 */
/** @typedef {{headData: HeadData, tiles: Tile[], layout: Layout, words: Words[]}} Drawn */
/** @typedef {{shortName: string, value: string, pattern: string, label: string}} Words  of a tile */

/**
 * Cap on the device pixel ratio: more is not visible on a thumbnail, and phones have little memory.
 */
const SHARPEST = 2;

/**
 * @param {Context} context
 * @param {string} label  the accessible name, which also says what the keys do
 * @param {Gestures} gestures
 */
export function createTiles(context, label, { onHover, onOpen, onPreview = () => {} }) {
  const pictures = h("canvas", { className: "atlas", "aria-hidden": "true" });
  const marks = h("canvas", { className: "marks", "aria-hidden": "true" });
  const buttons = h("div", {
    className: "tiles",
    role: "group",
    "aria-label": label,
  });
  const element = h("div", { className: "atlas-frame" }, pictures, marks, buttons);
  /** @type {Drawn | null} */
  let drawn = null;
  /** @type {Place} */
  let lit = { row: null, col: null };

  const ratio = () => Math.min(sharpness(document), SHARPEST);
  listen(buttons, () => drawn, { onHover, onOpen, onPreview });

  /** @param {Drawn} next */
  function name({ words, tiles, layout, headData }) {
    render(buttons, words.map((tileWords, i) => tileButton(tileWords, layout, i)));
    const { link } = headData.page;
    const present = tiles.findIndex(({ layer, head }) => layer === link.layer && head === link.head);
    if (!buttons.contains(document.activeElement)) reach(buttons, Math.max(0, present));
  }

  return {
    element,
    width: () => element.clientWidth,

    /**
     * @param {HeadData} headData
     * @param {Tile[]} tiles
     * @param {Layout} layout
     * @param {string} measure  the measure to print
     */
    draw(headData, tiles, layout, measure) {
      drawn = { headData, tiles, layout, words: tiles.map((tile) => worded(context, headData, tile, measure)) };
      element.style.height = `${layout.height}px`;
      resize(pictures, layout, ratio());
      resize(marks, layout, ratio());
      paint(pictures, drawn, ratio());
      name(drawn);
      element.dataset.drawn = String(tiles.length);
    },

    /** @param {Place} place @param {Tile} present */
    light(place, present) {
      lit = place;
      if (!drawn) return;
      mark(marks, drawn, place, context.theme(), ratio());
      drawn.tiles.forEach(({ layer, head }, i) => {
        const isPresent = layer === present.layer && head === present.head;
        if (isPresent) buttons.children[i].setAttribute("aria-current", "true");
        else buttons.children[i].removeAttribute("aria-current");
      });
    },

    /**
     * The drawing with labels, highlights and legend, for an export; null before the first drawing.
     */
    drawing() {
      if (!drawn) return null;
      const theme = context.theme();
      const { headData, tiles } = drawn;
      const masks = tiles.some((tile) => headData.matrix(tile)?.may?.includes(0));
      const shade = { stops: sequential(theme), range: /** @type {[number, number]} */ ([0, 1]) };
      return headGridSvg(drawn, lit, meaning(context.t, { shade, covers: new Set(masks ? [COVER.masked] : []) }), theme);
    },
  };
}

/**
 * Pointer and keys on the tiles.
 * @param {HTMLElement} buttons
 * @param {() => Drawn | null} present
 * @param {Required<Gestures>} gestures
 */
function listen(buttons, present, { onHover, onOpen, onPreview }) {
  const indexOf = (/** @type {Event} */ { target }) =>
    [...buttons.children].indexOf(/** @type {Element} */ (/** @type {Element} */ (target).closest("button")));
  const focus = (/** @type {number} */ index) => /** @type {HTMLElement} */ (buttons.children[index]).focus();

  buttons.addEventListener("pointermove", (event) => {
    const [drawn, index] = [present(), indexOf(event)];
    if (!drawn || index < 0 || event.pointerType === "touch") return;
    const { left, top } = buttons.getBoundingClientRect();
    const matrix = drawn.headData.matrix(drawn.tiles[index]);
    onHover(matrix && cellAt(drawn.layout, index, matrix, event.clientX - left, event.clientY - top));
    onPreview(drawn.tiles[index]);
  });
  // The preview has a link, which must stay that of the tile on the way to it.
  const leave = (/** @type {PointerEvent | FocusEvent} */ { relatedTarget: to }) => {
    if (!(to instanceof Element && to.closest(".preview"))) onPreview(null);
  };
  buttons.addEventListener("pointerleave", (event) => (onHover(null), leave(event)));
  buttons.addEventListener("click", (event) => {
    const [drawn, index] = [present(), indexOf(event)];
    if (drawn && index >= 0) onOpen(drawn.tiles[index]);
  });
  buttons.addEventListener("focusin", (event) => {
    const [drawn, index] = [present(), indexOf(event)];
    if (!drawn || index < 0) return;
    reach(buttons, index);
    onPreview(drawn.tiles[index]);
  });
  buttons.addEventListener("focusout", leave);
  buttons.addEventListener("keydown", (event) => {
    const ends = /** @type {Record<string, number>} */ ({ Home: 0, End: buttons.children.length - 1 });
    if (!isPlainKey(event) || !present() || indexOf(event) < 0 || !(event.key in ends)) return;
    event.preventDefault();
    focus(ends[event.key]);
  });
  onArrows(buttons, (down, right, event) => {
    const [drawn, index] = [present(), indexOf(event)];
    if (!drawn || index < 0) return false;
    focus(neighbour(drawn.layout, index, down, right));
    return true;
  });
}

/**
 * Make one tile the only one reachable by Tab.
 * @param {HTMLElement} buttons
 * @param {number} index
 */
function reach(buttons, index) {
  [...buttons.children].forEach((button, i) => {
    /** @type {HTMLElement} */ (button).tabIndex = i === index ? 0 : -1;
  });
}

/** @param {Words} words @param {Layout} layout @param {number} i */
function tileButton({ shortName, value, pattern, label }, { places, size, wide }, i) {
  const [left, top] = [places[i].left, places[i].top];
  const style = { left: `${left}px`, top: `${top}px`, width: `${wide}px`, "padding-top": `${size + 2}px`, "--picture": `${size}px` };
  return el(
    "button",
    { type: "button", className: "tile", "aria-label": label, style },
    // The spaces are seen by nobody, but divide the words of the name that the button would have.
    el("span", { className: "where" }, shortName),
    " ",
    el("span", { className: "value" }, value),
    " ",
    el("span", { className: "does" }, pattern),
  );
}

/**
 * @param {Context} context
 * @param {HeadData} headData
 * @param {Tile} tile
 * @param {string} measure  of the head's summary, if known
 * @returns {Words}
 */
function worded({ t }, { page, summary }, { layer, head }, measure) {
  const layerSummary = summary(layer);
  const long = t("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
  const shortName = t("L{layer}\u2009H{head}", { layer: layer + 1, head: head + 1 });
  if (!layerSummary) return { shortName, value: "", pattern: "", label: `${shortName} (${long})` };
  const number = layerSummary[measure]?.[head];
  const value = number === null || number === undefined ? "–" : two(number);
  const kind = layerSummary.pattern[head];
  const pattern = kind === "none" && isOff(page, { layer, head }) ? t("off") : patterns(t)[kind].name;
  // The visible text comes first, so that voice control works; then its meaning.
  const visibleText = [shortName, value, pattern].filter(Boolean).join(" ");
  return { shortName, value, pattern, label: `${visibleText} (${long}, ${measures(t)[measure].name})` };
}

/**
 * The tile that an arrow key moves to: the next one, or the one above or below.
 * @param {Layout} layout
 * @param {number} index
 * @param {number} down
 * @param {number} right
 */
function neighbour({ places }, index, down, right) {
  if (right) return within(index + right, places.length);
  const { left, top } = places[index];
  const beyond = [...places.keys()].filter((i) => (places[i].top - top) * down > 0);
  const rows = beyond.map((i) => Math.abs(places[i].top - top));
  const nearest = beyond.filter((_, i) => rows[i] === Math.min(...rows));
  const aside = (/** @type {number} */ i) => Math.abs(places[i].left - left);
  return nearest.sort((a, b) => aside(a) - aside(b))[0] ?? index;
}

/** @param {HTMLCanvasElement} canvas @param {Layout} layout @param {number} ratio */
function resize(canvas, { width, height }, ratio) {
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/** @param {HTMLCanvasElement} canvas @param {Drawn} drawn @param {number} ratio */
function paint(canvas, { headData, tiles, layout }, ratio) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  if (!canvas.width || !canvas.height) return; // no head is drawn while the kind of attention is unknown
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const [size, wide] = [layout.size, layout.wide].map((length) => Math.floor(length * ratio));
  tiles.forEach((tile, i) => {
    const picture = headData.matrix(tile);
    if (!picture) return;
    const [left, top] = [layout.places[i].left, layout.places[i].top].map((length) => Math.round(length * ratio));
    paintTile(pixels, canvas.width, { left, top, size, wide }, picture, headData.paint);
  });
  context.putImageData(image, 0, 0);
}

/**
 * Outline a token's row and column in every tile.
 * @param {HTMLCanvasElement} canvas
 * @param {Drawn} drawn
 * @param {Place} place
 * @param {import("../page/page-context.js").Theme} theme
 * @param {number} ratio
 */
function mark(canvas, { headData, tiles, layout: { places, size, wide: width } }, { row, col }, theme, ratio) {
  const marked = row !== null || col !== null;
  if (!marked && canvas.dataset.marked !== "yes") return;
  canvas.dataset.marked = marked ? "yes" : "no";
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.lineWidth = 1.5;
  tiles.forEach((tile, i) => {
    const matrix = headData.matrix(tile);
    if (!matrix) return;
    const { left, top } = places[i];
    const [high, wide] = [size / matrix.rows, sinkDivision(matrix, width).inner / matrix.cols];
    context.strokeStyle = theme.q;
    if (row !== null && row < matrix.rows) context.strokeRect(left, top + row * high, width, high);
    context.strokeStyle = theme.k;
    if (col !== null && col < matrix.cols) context.strokeRect(left + col * wide, top, wide, size);
  });
}

// The data of thumbnails: all heads of the current block, from one trace.

/**
 * @typedef {object} HeadData  what is shown
 * @property {Page} page
 * @property {Trace} trace  with weights (8 bits are enough) and summaries
 * @property {number} layers
 * @property {number} heads
 * @property {(layer: number) => Summary | undefined} summary
 * @property {(tile: Tile) => import("../draw/head-grid.js").Picture | null} matrix
 * @property {import("../draw/head-grid.js").Paint} paint
 * @property {{rows: import("../wire/tokens.js").Step[], cols: import("../wire/tokens.js").Step[]}} axes
 */

/** @param {Context} context @param {Page} page @param {Trace} trace @returns {HeadData} */
export function readHeads({ theme }, page, trace) {
  const { model, link } = page;
  const { block } = link;
  return {
    page,
    trace,
    ...extent(model, block),
    axes: axes(model, trace, block),
    summary: (layer) => trace.summaries?.[place(model, { block, layer })],
    matrix: (tile) => headThumbnail(model, trace, { block, ...tile }),
    paint: tilePaint(theme()),
  };
}
