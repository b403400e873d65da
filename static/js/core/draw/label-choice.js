/**
 * Choose which labels of a matrix are shown without overlapping. If there is no room for all, the
 * order is: changed tokens, special tokens, every n-th label (so that they are evenly spaced), then
 * whatever still fits.
 */

/** @import { Geometry } from "./geometry.js" */
/**
 * Whether the labels of two positions overlap; close: so much that they could not be read.
 * @typedef {(a: number, b: number, close?: boolean) => boolean} Clash
 */
/** @typedef {{shown: boolean[], clash: Clash}} Side */

/** The smallest distance at which two labels are legible, as a fraction of the line height. */
const CLOSE = 0.65;

/**
 * @param {number} count
 * @param {Clash} clash
 * @param {number[]} [first]  positions to label first, most important first; they may be closer to
 *   each other than others
 * @returns {boolean[]}
 */
export function chosen(count, clash, first = []) {
  const shown = Array(count).fill(false);
  /** @param {number} at @param {boolean} close */
  const free = (at, close) => neighbours(at, count, clash, close).every((other) => !shown[other]);
  let every = 1;
  while (every < count && clash(0, every)) every++;
  const evenly = Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
  const wanted = new Set(first);
  for (const at of new Set([...first, ...evenly, ...shown.keys()]))
    if (at < count && free(at, wanted.has(at))) shown[at] = true;
  return shown;
}

/**
 * The positions whose labels overlap a given one.
 * @param {number} at
 * @param {number} count
 * @param {Clash} clash
 * @param {boolean} [close]
 */
export function neighbours(at, count, clash, close = false) {
  const found = [];
  for (let other = at - 1; other >= 0 && clash(other, at, close); other--) found.push(other);
  for (let other = at + 1; other < count && clash(at, other, close); other++) found.push(other);
  return found;
}

/** Labels of rows are below each other. @param {Geometry} geometry @returns {Clash} */
export const rowClash = ({ cellHeight, line }) => (a, b, close = false) =>
  Math.abs(a - b) * cellHeight < (close ? CLOSE : 1) * line;

/**
 * Labels of columns: words slant to the right, single characters are upright.
 * @param {Pick<Geometry, "cellWidth" | "line" | "slant">} geometry
 * @param {number[]} widths  of the labels
 * @param {boolean[]} upright
 * @returns {Clash}
 */
export function colClash({ cellWidth, line, slant }, widths, upright) {
  const angle = (slant * Math.PI) / 180;
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const leans = (/** @type {number} */ at) => slant > 0 && !upright[at];
  return (one, other, close = false) => {
    const [a, b] = [Math.min(one, other), Math.max(one, other)];
    const apart = (b - a) * cellWidth;
    const [left, right] = [widths[a] / 2, widths[b] / 2];
    if (!leans(a) && !leans(b)) return apart < left + right + 2;
    if (leans(a) && leans(b)) return apart * sine < (close ? CLOSE : 0.9) * line;
    if (!leans(a)) return apart < left + line / 2;
    // Distance from the upper left corner of the upright label to the slanted label's line.
    return (apart - right) * sine - line * cosine < line / 2;
  };
}
