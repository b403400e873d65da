/**
 * The map of a long text: a canvas that can be zoomed and moved, drawn from the available tiles.
 */

import { h } from "../../lib/dom.js";
import { eachFrame } from "../../lib/timing.js";
import { hatching } from "./hatching.js";
import { paintMap } from "./map-picture.js";
import { frameOf, shownSize } from "./map-frame.js";
import { spanOf } from "./map-window.js";
import { bindMapGestures } from "./map-gestures.js";
import { rowName } from "./axes.js";
import { createCamera, focus } from "./camera.js";
import { causal, extentOf, isSharp, layersOf, seenAt } from "./sight.js";
import { createTip } from "./tip.js";
import { tip as tipWords } from "./wording.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Point } from "./map-window.js" */
/** @typedef {{row: number | null, col: number | null}} Place  in units */
/** @typedef {import("./sight.js").Head & {pinned: Place, lit: Place, row: Float32Array | null, col: Float32Array | null}} Shown  lit: what is pinned, or a row to begin with; row, col: its weights */
/**
 * @typedef {object} Actions
 * @property {(place: {row: number, col: number} | null) => void} onHover
 * @property {(place: {row: number, col: number}, how: "click" | "key") => void} onPick
 * @property {() => void} onCamera  called after it was zoomed or moved
 */
/** @typedef {ReturnType<typeof createMap>} LongMap */

/** The smallest size of a unit with a label, in pixels; touch screens need more. */
const NAMED = { wide: 16, narrow: 18 };
const NOWHERE = Object.freeze({ row: null, col: null });

/**
 * @param {Context} context
 * @param {import("./tile-cache.js").TileCache} tiles
 * @param {Actions} actions
 */
export function createMap(context, tiles, { onHover, onPick, onCamera }) {
  const { t } = context;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const tip = createTip();
  const label = t("Attention weights of a long text. Arrow keys move the cell, plus and minus zoom, 0 shows all, Home and End go to the first and the last key, Escape unpins.");
  const element = h("div", { className: "long-map", tabIndex: 0, role: "application", "aria-label": label }, canvas, tip.element);
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {Shown | null} */
  let shown = null;
  let frame = frameOf({ width: 0, height: 0 }, context.theme(), true);
  /** @type {Place} */
  let hovered = NOWHERE;
  const painting = eachFrame(paint, window);
  const extent = () => (shown ? extentOf(shown) : { rows: 1, cols: 1 });
  const camera = createCamera({ extent, size: () => frame, pools: () => shown?.axes.rows.edges === null, changed });

  function changed() {
    element.classList.toggle("zoomed", !camera.isWhole());
    painting.later();
    onCamera();
  }

  /** @param {number} row @param {number} col */
  function sharp(row, col) {
    const found = shown && seenAt(shown, tiles, camera.level(), { row, col });
    return found && isSharp(found) ? found.value : undefined;
  }

  function paint() {
    if (!shown) return;
    const { page, axes, shade, lit, row, col } = shown;
    const theme = context.theme();
    paintMap(brush, {
      frame, camera: camera.now(), extent: extent(), window: camera.window(), theme, shade, pinned: lit, hovered, row, col,
      layers: layersOf(element.ownerDocument, shown, tiles, camera.window(), camera.level()),
      hatch: hatching(brush, theme),
      names: { rows: rowName(axes.rows), cols: axes.cols.label },
      weight: sharp,
      labelled: context.room().wide ? NAMED.wide : NAMED.narrow,
    });
    element.dataset.drawn = `${page.link.layer} ${page.link.head}`;
    element.dataset.level = String(camera.level());
    Object.assign(element, { picture: { frame, window: camera.window(), ...camera.now() } });
  }

  /** @param {Point} point  in pixels of the cells */
  function unitsAt({ x, y }) {
    const { top, left, wide, high } = camera.now();
    const size = shownSize({ frame, camera: camera.now(), extent: extent() });
    if (!shown || x < 0 || y < 0 || x >= size.width || y >= size.height) return null;
    return { row: Math.floor(top + y / high), col: Math.floor(left + x / wide) };
  }

  /** @param {Point | null} point */
  function point(point) {
    const at = point && unitsAt(point);
    light(at ?? NOWHERE);
    onHover(at);
    const found = at && shown && seenAt(shown, tiles, camera.level(), at);
    if (!found || !point || !shown) return tip.hide();
    tip.show(tipWords(context, shown.axes, found), point, frame);
  }

  /** @param {Place} place */
  function light(place) {
    if (place.row === hovered.row && place.col === hovered.col) return;
    hovered = place;
    painting.later();
  }

  /** @param {number} factor @param {Point | null} [at]  null: about what is pinned, or the middle */
  const zoom = (factor, at) => camera.zoom(factor, at ?? focus(camera.now(), frame, shown?.pinned ?? NOWHERE));

  bindMapGestures(element, {
    at({ clientX, clientY }) {
      const box = canvas.getBoundingClientRect();
      return { x: clientX - box.left - frame.left, y: clientY - box.top - frame.top };
    },
    onPoint: point,
    onPick(at) {
      const units = unitsAt(at);
      if (units) onPick(units, "click");
    },
    onMove: camera.move,
    onZoom: zoom,
    onWhole: camera.showAll,
    isWhole: camera.isWhole,
    ...keys(() => shown && { ...shown.pinned, extent: extent(), stride: spanOf(camera.level(), extent()) }, (place) => onPick(place, "key")),
  });

  const { window: sight, level, isWhole, showAll, show, reveal, centre } = camera;
  return {
    ...{ element, canvas, zoom, light, sight, level, isWhole, showAll, show, reveal, centre },
    causal: () => shown !== null && causal(shown.page),

    /** @param {Shown} next  What has come of the same matrix. */
    update(next) {
      shown = next;
      painting.later();
    },

    /** @param {Shown} next @param {{width: number, height: number}} size  of the whole, in pixels */
    draw(next, size) {
      shown = next;
      frame = frameOf(size, context.theme(), context.room().wide);
      sized(canvas, brush, size);
      paint();
    },

    destroy: painting.cancel,
  };
}

/**
 * Arrows, Home and End: move the pinned cell by one drawn cell.
 * @param {() => (Place & {extent: import("./map-window.js").Extent, stride: import("./map-window.js").Extent}) | null} present
 * @param {(place: {row: number, col: number}) => void} pick
 */
function keys(present, pick) {
  /** @param {number} row @param {number} col @param {import("./map-window.js").Extent} extent */
  const within = (row, col, { rows, cols }) => pick({ row: Math.min(Math.max(row, 0), rows - 1), col: Math.min(Math.max(col, 0), cols - 1) });
  return {
    onArrow(/** @type {number} */ down, /** @type {number} */ right) {
      const now = present();
      if (!now) return false;
      const { row, col, extent, stride } = now;
      if (row === null && col === null) within(0, 0, extent);
      else within((row ?? 0) + down * stride.rows, (col ?? 0) + right * stride.cols, extent);
      return true;
    },
    onEnd(/** @type {"start" | "end"} */ end, /** @type {boolean} */ all) {
      const now = present();
      if (!now) return;
      const far = end === "start" ? 0 : Infinity;
      within(all ? far : now.row ?? 0, far, now.extent);
    },
  };
}

/** @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2D} brush @param {{width: number, height: number}} size */
function sized(canvas, brush, { width, height }) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  brush.setTransform(ratio, 0, 0, ratio, 0, 0);
}
