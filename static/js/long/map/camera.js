/** The zoom and position of a map, and the level that they need. */

import * as windows from "./map-window.js";

/** @import { Camera, Window, Point } from "./map-window.js" */
/** @typedef {{row: number | null, col: number | null}} Place */
/**
 * @typedef {object} Ground
 * @property {() => windows.Extent} extent
 * @property {() => windows.Size} size  of the view, in pixels
 * @property {() => boolean} pools  whether small cells are pooled
 * @property {() => void} changed
 */

/** @param {Ground} ground */
export function createCamera({ extent, size, pools, changed }) {
  /** @type {Camera} */
  let camera = { top: 0, left: 0, wide: 1, high: 1 };
  let level = 0;

  /** @param {Camera} next */
  function go(next) {
    if (next.top === camera.top && next.left === camera.left && next.wide === camera.wide && next.high === camera.high) return;
    camera = next;
    level = windows.levelOf(windows.scaleOf(camera), extent(), pools());
    changed();
  }
  const sight = () => windows.windowOf(camera, extent(), size());

  return {
    now: () => camera,
    level: () => level,
    window: sight,
    isWhole: () => windows.isWhole(sight(), extent()),
    /** @param {number} factor @param {Point} at */
    zoom: (factor, at) => go(windows.zoomed(camera, factor, at, extent(), size())),
    /** @param {Point} by */
    move: (by) => go(windows.moved(camera, by, extent(), size())),
    showAll: () => go(windows.whole(extent(), size())),
    /** @param {Place} place  Brings it into sight. */
    reveal: (place) => go(windows.revealing(camera, place, extent(), size())),
    /** @param {Place} place */
    centre: (place) => go(windows.centred(camera, place, extent(), size())),

    /** @param {Window | null} window  Shows it; null: all. */
    show(window) {
      camera = { top: -1, left: -1, wide: -1, high: -1 };
      go(window ? windows.cameraOf(window, extent(), size()) : windows.whole(extent(), size()));
    },
  };
}

/**
 * The point about which keys and buttons zoom: the pinned cell if visible, else the middle.
 * @param {Camera} camera
 * @param {windows.Size} size
 * @param {Place} pinned
 * @returns {Point}
 */
export function focus({ top, left, wide, high }, { width, height }, { row, col }) {
  const x = col === null ? width / 2 : (col + 0.5 - left) * wide;
  const y = row === null ? height / 2 : (row + 0.5 - top) * high;
  return x >= 0 && y >= 0 && x <= width && y <= height ? { x, y } : { x: width / 2, y: height / 2 };
}
