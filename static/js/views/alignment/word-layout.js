/**
 * The layout of the words of a sentence and its translation, in pixels: above each other or side by
 * side.
 */

import { plain } from "../../core/wire/tokens.js";

/** @import { Label } from "../../core/wire/tokens.js" */
/** @typedef {"source" | "target"} Side */
/** @typedef {{x: number, y: number, width: number}} Spot  the middle of a word */
/** @typedef {{spots: Record<Side, Spot[]>, width: number, height: number, along: "x" | "y"}} Layout  along: the axis that lines cross */
/** @typedef {Record<Side, Label[]>} Words */

/** Padding around a word. */
export const PAD = 8;
export const ROW = 28;
/** The largest size of a picture in pixels, unless it is loose. */
const MOST = { width: 1100, height: 380, gap: 56 };
const LOOSE = { width: Infinity, height: Infinity, gap: Infinity };

/**
 * Put the sentence above its translation if both fit, else beside it.
 * @param {Words & {width: number, height: number, loose?: boolean}} content  with the available
 *   space; loose: use all of it
 * @param {(text: string) => number} measure
 * @returns {Layout}
 */
export function lay(content, measure) {
  const all = widths(content, measure);
  const most = content.loose ? LOOSE : MOST;
  const room = Math.min(content.width - 2, most.width);
  return across(all, room) ? above(all, room, content.height, most) : besides(all, Math.min(room, 560));
}

/**
 * Whether both lines of words fit above each other.
 * @param {Words} words
 * @param {number} width
 * @param {(text: string) => number} measure
 */
export const fits = (words, width, measure) => across(widths(words, measure), width);

/** The text of a word. @param {Label} label */
export const spelled = (label) => plain({ ...label, space: "" });

/**
 * @param {Words} words
 * @param {(text: string) => number} measure
 * @returns {Record<Side, number[]>}
 */
function widths({ source, target }, measure) {
  const wide = (/** @type {Label[]} */ words) => words.map((label) => measure(spelled(label)));
  return { source: wide(source), target: wide(target) };
}

/** @param {Record<Side, number[]>} widths @param {number} room */
const across = (widths, room) => Object.values(widths).every((all) => sum(all) + all.length * 2 * PAD <= room);

/** @param {Record<Side, number[]>} widths @param {number} room @param {number} high @param {typeof MOST} most @returns {Layout} */
function above(widths, room, high, most) {
  const height = Math.min(Math.max(high, 220), most.height);
  const gap = Math.min(most.gap, ...Object.values(widths).map((all) => (room - sum(all)) / all.length));
  const total = Math.max(...Object.values(widths).map((all) => sum(all) + all.length * gap));
  /** @param {number[]} all @param {number} y */
  const row = (all, y) => {
    // The shorter line is stretched to the length of the longer one.
    const step = (total - sum(all)) / all.length;
    let x = 0;
    return all.map((width) => {
      const spot = { x: x + (width + step) / 2, y, width };
      x += width + step;
      return spot;
    });
  };
  const spots = { source: row(widths.source, 42), target: row(widths.target, height - 42) };
  return { spots, width: Math.ceil(total), height, along: "y" };
}

/** @param {Record<Side, number[]>} widths @param {number} room @returns {Layout} */
function besides(widths, room) {
  const [left, right] = [Math.max(...widths.source), Math.max(...widths.target)];
  const share = 44;
  const total = Math.max(room, left + right + 2 * share + 120);
  const rows = Math.max(widths.source.length, widths.target.length);
  /** @param {number[]} all @param {(width: number) => number} x */
  const column = (all, x) =>
    all.map((width, i) => ({ x: x(width), y: ((i + 0.5) * rows * ROW) / all.length, width }));
  const spots = {
    source: column(widths.source, (width) => share + left - width / 2),
    target: column(widths.target, (width) => total - share - right + width / 2),
  };
  return { spots, width: Math.ceil(total), height: rows * ROW, along: "x" };
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);
