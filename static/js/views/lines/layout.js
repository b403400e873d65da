/** The layout of tokens and lines, in pixels. */

import { plainStep } from "../../core/wire/tokens.js";

/** @import { Step } from "../../core/wire/tokens.js" */
/**
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {number} from  x of the lines' start
 * @property {number} to  x of the lines' end
 * @property {number} unit  scale relative to the usual font size of 13 px
 * @property {number} pitch  distance between tokens
 * @property {boolean} short  whether row labels have only the written token
 * @property {boolean} numbers  whether space is reserved for numbers
 * @property {(side: "query" | "key", index: number) => number} y  the middle of a token
 */

/** In multiples of the font size: the largest distance between tokens, and the largest width. */
const [LOOSE, WIDEST] = [2.6, 70];
/** The largest share of the width for the labels of one side. */
const MOST = 0.34;
const GAP = 10;
/** The width of a number with two decimals, in multiples of the font size. */
const NUMBER = 2.8;

/**
 * @param {{rows: Step[], cols: Step[], numbers: boolean, width: number, height: number}} content
 * @param {(text: string) => number} measure
 * @param {number} size  the font size
 * @returns {Layout}
 */
export function lay({ rows, cols, numbers, width, height }, measure, size) {
  const room = Math.min(width, WIDEST * size);
  const longest = (/** @type {Step[]} */ steps) => Math.ceil(Math.max(0, ...steps.map((step) => measure(plainStep(step)))));
  const short = longest(rows) > MOST * room;
  const [left, right] = [longest(short ? rows.map(cut) : rows), longest(cols)];
  const digits = numbers ? Math.ceil(NUMBER * size) : 0;
  const head = 2 * size;
  const most = Math.max(rows.length, cols.length);
  const tight = Math.ceil(1.4 * size);
  const pitch = Math.min(LOOSE * size, Math.max(tight, Math.floor((height - head) / most)));
  const total = most * pitch;
  return {
    width: room,
    height: head + total + 4,
    from: left + digits + 2 * GAP,
    to: room - right - digits - 2 * GAP,
    unit: size / 13,
    pitch,
    short,
    numbers,
    // The shorter side is spread over the length of the longer one.
    y: (side, i) => head + ((i + 0.5) * total) / (side === "query" ? rows : cols).length,
  };
}

/** @param {Step} step  Only what it writes. */
export const cut = (step) => ({ ...step, short: step.reads !== null });
