/** The zoom and position of a map, and the level that they need. */

import { cameraOf, centred, isWhole, levelOf, moved, revealing, scaleOf, whole, windowOf, zoomed } from "./map-window.js";

/** @import { Camera, Extent, Point, Size, Window } from "./map-window.js" */
/** @typedef {{row: number | null, col: number | null}} Place */
/**
 * @typedef {object} Ground
 * @property {() => Extent} extent
 * @property {() => Size} size  of the view, in pixels
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
    level = levelOf(scaleOf(camera), extent(), pools());
    changed();
  }
  const sight = () => windowOf(camera, extent(), size());

  return {
    now: () => camera,
    level: () => level,
    window: sight,
    isWhole: () => isWhole(sight(), extent()),
    /** @param {number} factor @param {Point} at */
    zoom: (factor, at) => go(zoomed(camera, factor, at, extent(), size())),
    /** @param {Point} by */
    move: (by) => go(moved(camera, by, extent(), size())),
    showAll: () => go(whole(extent(), size())),
    /** @param {Place} place  Brings it into sight. */
    reveal: (place) => go(revealing(camera, place, extent(), size())),
    /** @param {Place} place */
    centre: (place) => go(centred(camera, place, extent(), size())),

    /** @param {Window | null} window  Shows it; null: all. */
    show(window) {
      camera = { top: -1, left: -1, wide: -1, high: -1 };
      go(window ? cameraOf(window, extent(), size()) : whole(extent(), size()));
    },
  };
}

/**
 * The point about which keys and buttons zoom: the pinned cell if visible, else the middle.
 * @param {Camera} camera
 * @param {Size} size
 * @param {Place} pinned
 * @returns {Point}
 */
export function focus({ top, left, wide, high }, { width, height }, { row, col }) {
  const x = col === null ? width / 2 : (col + 0.5 - left) * wide;
  const y = row === null ? height / 2 : (row + 0.5 - top) * high;
  return x >= 0 && y >= 0 && x <= width && y <= height ? { x, y } : { x: width / 2, y: height / 2 };
}
