/** What stands at each row's end: a share of the row as a bar, with its number where there is room. */

import { prepare } from "./chart.js";
import { h, write } from "../lib/dom.js";
import { barsAt, paintBars, ROOM_FOR_WORDS } from "./matrix-image.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */
/**
 * @typedef {object} Ends
 * @property {Float32Array} shares  of each row, from 0 to 1
 * @property {string} label  what they are the share of
 */

/** Where there is less, the bars stand without their name: what they are is said below. */
const NARROW = 480;

/**
 * @param {Ends} ends
 * @param {number} width  of all there is
 * @param {(text: string) => number} measure
 * @returns {number}  how much of it the ends take
 */
export function roomForEnds({ label }, width, measure) {
  const words = measure(label);
  // Slanted from the middle of the bar, as high as a letter; or straight from its beginning.
  return width < NARROW ? 44 : Math.ceil(Math.max(ROOM_FOR_WORDS, 46 + (words + measure("字")) * Math.SQRT1_2, 24 + words));
}

export function createEnds() {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const label = h("span", { className: "label" });
  const element = h("div", { className: "ends labels", hidden: true }, canvas, label);
  return {
    element,

    /**
     * @param {Geometry} geometry
     * @param {Ends | null} ends
     * @param {import("./theme.js").Theme} theme
     * @param {number} room  that they have
     * @returns {number}  how much wider all becomes
     */
    draw(geometry, ends, theme, room) {
      element.hidden = !ends;
      if (!ends) return 0;
      const { left, width, wider } = barsAt(geometry, theme, room);
      write(label, room < ROOM_FOR_WORDS ? "" : ends.label);
      label.classList.toggle("slanted", geometry.slant > 0);
      label.style.rotate = geometry.slant ? `-${geometry.slant}deg` : "";
      label.style.left = `${left + (geometry.slant ? width / 2 : 0)}px`;
      label.style.top = `${geometry.top - 6}px`;
      const context = prepare(canvas, geometry.width + wider, geometry.height);
      paintBars(context, ends.shares, geometry, theme, room);
      const right = geometry.left + geometry.cols * geometry.cellWidth + room;
      return Math.max(wider, right - geometry.width);
    },
  };
}
