/** Pointer, wheel, touch and keys on a map that is zoomed and moved: what they mean, in pixels of its cells. */

import { onArrows } from "../../core/figure/arrow-keys.js";

/** @import { Point } from "./map-window.js" */
/**
 * @typedef {object} Gestures
 * @property {(event: {clientX: number, clientY: number}) => Point} at  a point of the window, in pixels of the cells
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

/**
 * @param {HTMLElement} element
 * @param {Gestures} gestures
 */
export function bindMapGestures(element, { at, onPoint, onPick, onMove, onZoom, onArrow, onEnd, onWhole, isWhole }) {
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
    down.set(event.pointerId, at(event));
    element.setPointerCapture(event.pointerId);
    pressed = down.size === 1 ? at(event) : null;
    dragged = down.size > 1;
  });
  element.addEventListener("pointermove", (event) => {
    const now = at(event);
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
  element.addEventListener("dblclick", (event) => onZoom(KEY_FACTOR * KEY_FACTOR, at(event)));
  element.addEventListener("wheel", (event) => {
    if (isWhole() && event.deltaY > 0 && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey) return onMove({ x: -(event.deltaX || event.deltaY) * lines, y: 0 });
    onZoom(Math.exp((-event.deltaY * lines) / 300), at(event));
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
