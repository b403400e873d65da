/** The labels along both sides of a matrix: words slant, single characters are upright. */

import { h, write } from "../../lib/dom.js";
import { memo } from "../../lib/memo.js";
import { make } from "../../lib/render.js";
import { plainStep } from "../wire/tokens.js";
import { step } from "./token.js";

/** @import { Geometry, Place } from "./geometry.js" */
/** @import { Step } from "../wire/tokens.js" */

// Choose which labels of a matrix are shown without overlapping. If there is no room for all, the
// order is: changed tokens, special tokens, every n-th label (so that they are evenly spaced), then
// whatever still fits.

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

/** A Chinese character, optionally with the letter of its sentence and an index: shown upright. */
const SINGLE = /^\p{Script=Han}[ᴬᴮ]?[₀-₉]*$/u;

/** @param {string} text */
export const stands = (text) => SINGLE.test(text);

/**
 * @typedef {object} Label
 * @property {Step} step
 * @property {string} look  class names
 * @property {Record<string, string>} at  its position, as style properties
 */

export function createLabels() {
  const rows = createSide("rows");
  const cols = createSide("cols");
  return {
    elements: [rows.element, cols.element],

    /**
     * @param {Geometry} geometry
     * @param {{rows: Step[], cols: Step[]}} steps
     * @param {boolean[]} upright  which columns have upright labels
     * @param {{rows: string, cols: string}} titles  of the axes
     * @param {{rows: Side, cols: Side}} places  which labels are shown, and which overlap
     * @param {number} [seen]  visible width without scrolling
     */
    write(geometry, steps, upright, titles, places, seen = Infinity) {
      const { left, top, cellWidth, cellHeight } = geometry;
      rows.write(steps.rows.map((one, i) => beside(geometry, one, i, places.rows.shown[i])), places.rows);
      cols.write(steps.cols.map((one, i) => above(geometry, one, i, upright[i], places.cols.shown[i])), places.cols);
      rows.element.style.setProperty("--names", `${left - 1}px`);
      rows.call(titles.rows, { top, left: 0, height: geometry.rows * cellHeight });
      cols.call(titles.cols, { top: 0, left, width: Math.min(geometry.cols * cellWidth, seen - left) });
    },

    /** Keep the labels of rows in view while the matrix is scrolled. @param {number} x */
    follow(x) {
      rows.element.style.translate = x ? `${x}px` : "";
    },

    /** @param {Place} place */
    light({ row, col, tall = 1, wide = 1 }) {
      rows.light(row, tall);
      cols.light(col, wide);
    },
  };
}

/**
 * The labels along one side; only those that change are updated.
 * @param {"rows" | "cols"} name
 */
function createSide(name) {
  const title = h("span", { className: "axis" });
  const element = h("div", { className: `labels ${name}` }, title);
  /** @type {{item: HTMLElement, said: string, look: string, at: Record<string, string>}[]} */
  const kept = [];
  /** The position of the title. @type {Record<string, string>} */
  let called = {};
  /** The highlighted labels, which are neighbours. @type {number[]} */
  let lit = [];
  /** @type {Side} */
  let places = { shown: [], clash: () => false };
  /** Labels covered by the highlighted ones. @type {number[]} */
  let under = [];

  function cover() {
    for (const one of under) kept[one]?.item.classList.remove("under");
    const near = lit.filter((at) => at < kept.length).flatMap((at) => neighbours(at, kept.length, places.clash));
    under = near.filter((at) => !lit.includes(at));
    for (const one of under) kept[one].item.classList.add("under");
  }

  return {
    element,

    /** @param {Label[]} labels @param {Side} next */
    write(labels, next) {
      places = next;
      for (const { item } of kept.splice(labels.length)) item.remove();
      while (kept.length < labels.length) {
        const item = h("span", {});
        element.append(item);
        kept.push({ item, said: "", look: "", at: {} });
      }
      labels.forEach(({ step: one, look, at }, i) => {
        const label = kept[i];
        const said = JSON.stringify(one);
        if (said !== label.said) label.item.replaceChildren(make(step(one)));
        if (look !== label.look) label.item.className = lit.includes(i) ? `${look} lit` : look;
        place(label.item, at, label.at);
        Object.assign(label, { said, look, at });
      });
      cover();
    },

    /** @param {string} text @param {Record<string, number>} at  in pixels */
    call(text, at) {
      write(title, text);
      const next = Object.fromEntries(Object.entries(at).map(([side, length]) => [side, `${length}px`]));
      place(title, next, called);
      called = next;
    },

    /** @param {number | null} first  null: none @param {number} count  how many from there */
    light(first, count) {
      const next = first === null ? [] : Array.from({ length: count }, (_, i) => first + i);
      if (String(next) === String(lit)) return;
      for (const one of lit) kept[one]?.item.classList.remove("lit");
      for (const one of next) kept[one]?.item.classList.add("lit");
      lit = next;
      cover();
    },
  };
}

/**
 * @param {HTMLElement} item
 * @param {Record<string, string>} at
 * @param {Record<string, string>} [before]  its previous position
 */
function place(item, at, before = {}) {
  for (const [side, value] of Object.entries(at))
    if (value !== before[side]) item.style.setProperty(side, value);
}

/** @param {Geometry} geometry @param {Step} row @param {number} i @param {boolean} shown @returns {Label} */
function beside({ left, top, cellHeight }, row, i, shown) {
  const at = { top: `${top + (i + 0.5) * cellHeight}px`, right: `calc(100% - ${left - 8}px)` };
  return { step: row, look: looks(row, !shown), at };
}

/** @param {Geometry} geometry @param {Step} col @param {number} i @param {boolean} upright @param {boolean} shown @returns {Label} */
function above({ left, top, cellWidth, slant }, col, i, upright, shown) {
  const slanted = slant > 0 && !upright;
  const at = {
    rotate: slanted ? `-${slant}deg` : "none",
    left: `${left + (i + 0.5) * cellWidth}px`,
    top: `${top - 6}px`,
  };
  return { step: col, look: looks(col, !shown, slanted), at };
}

/** @param {Step} step @param {boolean} between @param {boolean} [slanted] */
function looks({ writes }, between, slanted = false) {
  return ["label", between && "between", writes.pad && "pad", slanted && "slanted"].filter(Boolean).join(" ");
}

/**
 * Measure text in the style of a highlighted label, the widest one.
 * @param {Pick<import("../page/page-context.js").Theme, "font" | "size">} theme
 * @returns {(text: string) => number}
 */
export function ruler({ font, size }) {
  const letters = `600 ${size}px ${font}`;
  return (text) => memo(RULER, `${letters} ${text}`, () => measured(letters, text), KEPT);
}

/** The largest width of a label: a share of its picture's width, but at least so many pixels. */
const LONGEST = { share: 0.24, least: 84 };

/**
 * Cut long labels, such as those of a decoder's byte pieces, so that the cells keep their room.
 * @param {Step[]} steps
 * @param {(text: string) => number} measure
 * @param {number} width  of the picture
 * @returns {Step[]}
 */
export function clipped(steps, measure, width) {
  const most = Math.max(LONGEST.least, LONGEST.share * width);
  return steps.map((one) => (measure(plainStep(one)) > most ? cut(one, (shorter) => measure(plainStep(shorter)) <= most) : one));
}

/** @param {Step} step @param {(step: Step) => boolean} fits @returns {Step} */
function cut({ writes, ...step }, fits) {
  const letters = [...writes.word];
  const upTo = (/** @type {number} */ count) => ({ ...step, writes: { ...writes, word: `${letters.slice(0, count).join("")}…` } });
  let count = letters.length - 1;
  while (count > 1 && !fits(upTo(count))) count--;
  return upTo(count);
}

/** Number of cached widths. */
const KEPT = 4096;
/** @type {{context?: CanvasRenderingContext2D}} */
const RULER = {};

/** @param {string} letters @param {string} text */
function measured(letters, text) {
  const canvas = () => document.createElement("canvas");
  RULER.context ??= /** @type {CanvasRenderingContext2D} */ (canvas().getContext("2d"));
  RULER.context.font = letters;
  return RULER.context.measureText(text).width;
}
