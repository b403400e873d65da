/**
 * The map of a long text: a canvas that can be zoomed and moved, drawn from the available tiles.
 */

import { onArrows } from "../../core/figure/pointing.js";
import { h, render } from "../../lib/dom.js";
import { eachFrame } from "../../lib/timing.js";
import { rowName, tip as tipWords } from "./axes.js";
import { frameOf, hatching, paintMap, shownSize } from "./map-picture.js";
import { createCamera, zoomCentre, spanOf } from "./map-window.js";
import { isCausal, extentOf, isSharp, layersOf, cellValueAt } from "./tiles.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Point } from "./map-window.js" */

// Pointer, wheel, touch and keys on a map that is zoomed and moved: what they mean, in pixels of its cells.

/**
 * @typedef {object} Gestures
 * @property {(event: {clientX: number, clientY: number}) => Point} pointOf  a point of the window, in pixels of the cells
 * @property {(point: Point | null) => void} onPoint
 * @property {(point: Point) => void} onPick
 * @property {(by: Point) => void} onMove  dragged so far
 * @property {(factor: number, point: Point | null) => void} onZoom  null: about what is pinned, or the middle
 * @property {(down: number, right: number) => boolean} onArrow
 * @property {(end: "start" | "end", all: boolean) => void} onEnd  Home and End; all: with Ctrl
 * @property {() => void} onWhole
 * @property {() => boolean} isWhole  whether all is in sight: then the wheel scrolls the page down
 */

/** Pixels that a pointer may move while it is pressed and still clicks. */
const STILL = 5;
const KEY_FACTOR = 2;

/** @param {HTMLElement} element @param {Gestures} gestures */
function bindMapGestures(element, { pointOf, onPoint, onPick, onMove, onZoom, onArrow, onEnd, onWhole, isWhole }) {
  /** Fingers or the mouse that are down, by pointer. @type {Map<number, Point>} */
  const down = new Map();
  /** @type {Point | null} */
  let pressed = null;
  let dragged = false;

  /** Where two fingers are: their middle, and how far they are apart. */
  function pinch() {
    const [a, b] = [...down.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    down.set(event.pointerId, pointOf(event));
    element.setPointerCapture(event.pointerId);
    pressed = down.size === 1 ? pointOf(event) : null;
    dragged = down.size > 1;
  });
  element.addEventListener("pointermove", (event) => {
    const now = pointOf(event);
    const before = down.get(event.pointerId);
    if (!before) return void (event.pointerType !== "touch" && onPoint(now));
    if (down.size === 2) {
      const was = pinch();
      down.set(event.pointerId, now);
      const is = pinch();
      onZoom(is.apart / Math.max(1, was.apart), is);
      onMove({ x: is.x - was.x, y: is.y - was.y });
    } else if (down.size === 1) {
      if (pressed && Math.hypot(now.x - pressed.x, now.y - pressed.y) > STILL) dragged = true;
      if (!dragged) return;
      onMove({ x: now.x - before.x, y: now.y - before.y });
      down.set(event.pointerId, now);
    }
  });
  /** @param {PointerEvent} event */
  function release(event) {
    if (!down.delete(event.pointerId)) return;
    if (event.type === "pointerup" && pressed && !dragged) onPick(pressed);
    if (!down.size) pressed = null;
  }
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", () => onPoint(null));
  element.addEventListener("dblclick", (event) => onZoom(KEY_FACTOR * KEY_FACTOR, pointOf(event)));
  element.addEventListener("wheel", (event) => {
    if (isWhole() && event.deltaY > 0 && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey) return onMove({ x: -(event.deltaX || event.deltaY) * lines, y: 0 });
    onZoom(Math.exp((-event.deltaY * lines) / 300), pointOf(event));
  }, { passive: false });
  onArrows(element, onArrow);
  element.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (altKey || metaKey) return;
    /** @type {Record<string, () => void>} */
    const tasks = {
      Home: () => onEnd("start", ctrlKey),
      End: () => onEnd("end", ctrlKey),
      ...(!ctrlKey && { "+": () => onZoom(KEY_FACTOR, null), "=": () => onZoom(KEY_FACTOR, null), "-": () => onZoom(1 / KEY_FACTOR, null), 0: onWhole }),
    };
    if (!tasks[key]) return;
    event.preventDefault();
    tasks[key]();
  });
}

// The tooltip of the hovered cell.

/** Within this distance from the top, in pixels, it is shown below the pointer. */
const TOP = 60;

function createTip() {
  const element = h("div", { className: "tip", hidden: true, role: "presentation" });
  return {
    element,
    hide: () => void (element.hidden = true),

    /**
     * @param {import("../../lib/dom.js").Child[]} words
     * @param {import("./map-window.js").Point} point  in pixels of the cells
     * @param {import("./map-picture.js").Frame} frame
     */
    show(words, { x, y }, { left, top, width }) {
      render(element, words);
      element.hidden = false;
      const [end, below] = [x > width / 2, y < TOP];
      element.classList.toggle("end", end);
      element.classList.toggle("below", below);
      element.style.left = `${left + x + (end ? -8 : 8)}px`;
      element.style.top = `${top + y + (below ? 14 : -4)}px`;
    },
  };
}

/** @typedef {{row: number | null, col: number | null}} Place  in units */
/** @typedef {import("./tiles.js").Head & {pinned: Place, lit: Place, row: Float32Array | null, col: Float32Array | null}} MapState  lit: what is pinned, or a row to begin with; row, col: its weights */
/**
 * @typedef {object} Actions
 * @property {(place: {row: number, col: number} | null) => void} onHover
 * @property {(place: {row: number, col: number}, trigger: "click" | "key") => void} onPick
 * @property {() => void} onCamera  called after it was zoomed or moved
 */
/** @typedef {ReturnType<typeof createMap>} LongMap */

/** The smallest size of a unit with a label, in pixels; touch screens need more. */
const NAMED = { wide: 16, narrow: 18 };
const NOWHERE = Object.freeze({ row: null, col: null });

/** @param {Context} context @param {import("./tiles.js").TileCache} tiles @param {Actions} actions */
export function createMap(context, tiles, { onHover, onPick, onCamera }) {
  const { t } = context;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const tip = createTip();
  const label = t("Attention weights of a long text. Arrow keys move the cell, plus and minus zoom, 0 shows all, Home and End go to the first and the last key, Escape unpins.");
  const element = h("div", { className: "long-map", tabIndex: 0, role: "application", "aria-label": label }, canvas, tip.element);
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {MapState | null} */
  let current = null;
  let frame = frameOf({ width: 0, height: 0 }, context.theme(), true);
  /** @type {Place} */
  let hovered = NOWHERE;
  const painting = eachFrame(paint, window);
  const extent = () => (current ? extentOf(current) : { rows: 1, cols: 1 });
  const camera = createCamera({ extent, size: () => frame, pools: () => current?.axes.rows.edges === null, changed });

  function changed() {
    element.classList.toggle("zoomed", !camera.isWhole());
    painting.later();
    onCamera();
  }

  /** @param {number} row @param {number} col */
  function sharp(row, col) {
    const cell = current && cellValueAt(current, tiles, camera.level(), { row, col });
    return cell && isSharp(cell) ? cell.value : undefined;
  }

  function paint() {
    if (!current) return;
    const { page, axes, shade, lit, row, col } = current;
    const theme = context.theme();
    paintMap(brush, {
      frame, camera: camera.now(), extent: extent(), window: camera.window(), theme, shade, pinned: lit, hovered, row, col,
      layers: layersOf(element.ownerDocument, current, tiles, camera.window(), camera.level()),
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
    if (!current || x < 0 || y < 0 || x >= size.width || y >= size.height) return null;
    return { row: Math.floor(top + y / high), col: Math.floor(left + x / wide) };
  }

  /** @param {Point | null} point */
  function point(point) {
    const units = point && unitsAt(point);
    light(units ?? NOWHERE);
    onHover(units);
    const cell = units && current && cellValueAt(current, tiles, camera.level(), units);
    if (!cell || !point || !current) return tip.hide();
    tip.show(tipWords(context, current.axes, cell), point, frame);
  }

  /** @param {Place} place */
  function light(place) {
    if (place.row === hovered.row && place.col === hovered.col) return;
    hovered = place;
    painting.later();
  }

  /** @param {number} factor @param {Point | null} [around]  null: about what is pinned, or the middle */
  const zoom = (factor, around) => camera.zoom(factor, around ?? zoomCentre(camera.now(), frame, current?.pinned ?? NOWHERE));

  bindMapGestures(element, {
    pointOf({ clientX, clientY }) {
      const box = canvas.getBoundingClientRect();
      return { x: clientX - box.left - frame.left, y: clientY - box.top - frame.top };
    },
    onPoint: point,
    onPick(point) {
      const units = unitsAt(point);
      if (units) onPick(units, "click");
    },
    onMove: camera.move,
    onZoom: zoom,
    onWhole: camera.showAll,
    isWhole: camera.isWhole,
    ...keys(() => current && { ...current.pinned, extent: extent(), stride: spanOf(camera.level(), extent()) }, (place) => onPick(place, "key")),
  });

  const { window: sight, level, isWhole, showAll, show, reveal, centre } = camera;
  return {
    ...{ element, canvas, zoom, light, sight, level, isWhole, showAll, show, reveal, centre },
    causal: () => current !== null && isCausal(current.page),

    /** @param {MapState} next  What has come of the same matrix. */
    update(next) {
      current = next;
      painting.later();
    },

    /** @param {MapState} next @param {{width: number, height: number}} size  of the whole, in pixels */
    draw(next, size) {
      current = next;
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
