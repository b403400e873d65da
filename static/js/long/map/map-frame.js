/** Where the cells of a long text's map are on its canvas. */

/** @import { Theme } from "../../core/draw/theme.js" */
/** @import { Scene, Frame } from "./map-picture.js" */

/**
 * Room for labels at the left and on top, and for bars at the right and below.
 * @param {{width: number, height: number}} canvas  in pixels
 * @param {Theme} theme
 * @param {boolean} wide
 * @returns {Frame}
 */
export function frameOf({ width, height }, { size }, wide) {
  const bars = Math.round((wide ? 4 : 3) * size);
  const [left, top] = [Math.round((wide ? 8 : 5.5) * size), Math.round(5 * size)];
  return { left, top, bars, width: Math.max(40, width - left - bars - 6), height: Math.max(40, height - top - bars - 6) };
}

/** As large as the cells in sight are. @param {Pick<Scene, "frame" | "camera" | "extent">} scene */
export function shownSize({ frame, camera: { top, left, wide, high }, extent }) {
  return { width: Math.min(frame.width, (extent.cols - left) * wide), height: Math.min(frame.height, (extent.rows - top) * high) };
}
