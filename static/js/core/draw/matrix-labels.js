/** The labels along both sides of a matrix: words slant, single characters are upright. */

import { h, make, write } from "../../lib/dom.js";
import { memo } from "../../lib/memo.js";
import { plainStep } from "../wire/tokens.js";
import { step } from "./token.js";

/** @import { Geometry, Place } from "./matrix-geometry.js" */
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
export function visibleLabels(count, clash, first = []) {
  const visible = Array(count).fill(false);
  /** @param {number} index @param {boolean} close */
  const free = (index, close) => neighbours(index, count, clash, close).every((neighbour) => !visible[neighbour]);
  let interval = 1;
  while (interval < count && clash(0, interval)) interval++;
  const evenly = Array.from({ length: Math.ceil(count / interval) }, (_, i) => i * interval);
  const preferred = new Set(first);
  for (const index of new Set([...first, ...evenly, ...visible.keys()]))
    if (index < count && free(index, preferred.has(index))) visible[index] = true;
  return visible;
}

/**
 * The positions whose labels overlap a given one.
 * @param {number} index
 * @param {number} count
 * @param {Clash} clash
 * @param {boolean} [close]
 */
export function neighbours(index, count, clash, close = false) {
  const overlapping = [];
  for (let neighbour = index - 1; neighbour >= 0 && clash(neighbour, index, close); neighbour--) overlapping.push(neighbour);
  for (let neighbour = index + 1; neighbour < count && clash(index, neighbour, close); neighbour++) overlapping.push(neighbour);
  return overlapping;
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
  const leans = (/** @type {number} */ index) => slant > 0 && !upright[index];
  return (first, second, close = false) => {
    const [a, b] = [Math.min(first, second), Math.max(first, second)];
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
export const isUpright = (text) => SINGLE.test(text);

/**
 * @typedef {object} Label
 * @property {Step} step
 * @property {string} className
 * @property {Record<string, string>} position  as style properties
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
     * @param {number} [visibleWidth]  visible width without scrolling
     */
    write(geometry, steps, upright, titles, places, visibleWidth = Infinity) {
      const { left, top, cellWidth, cellHeight } = geometry;
      rows.write(steps.rows.map((rowStep, i) => beside(geometry, rowStep, i, places.rows.shown[i])), places.rows);
      cols.write(steps.cols.map((colStep, i) => above(geometry, colStep, i, upright[i], places.cols.shown[i])), places.cols);
      rows.element.style.setProperty("--names", `${left - 1}px`);
      rows.call(titles.rows, { top, left: 0, height: geometry.rows * cellHeight });
      cols.call(titles.cols, { top: 0, left, width: Math.min(geometry.cols * cellWidth, visibleWidth - left) });
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
  /** @type {{item: HTMLElement, written: string, className: string, position: Record<string, string>}[]} */
  const drawnLabels = [];
  /** The position of the title. @type {Record<string, string>} */
  let called = {};
  /** The highlighted labels, which are neighbours. @type {number[]} */
  let lit = [];
  /** @type {Side} */
  let places = { shown: [], clash: () => false };
  /** Labels covered by the highlighted ones. @type {number[]} */
  let under = [];

  function cover() {
    for (const index of under) drawnLabels[index]?.item.classList.remove("under");
    const near = lit.filter((index) => index < drawnLabels.length).flatMap((index) => neighbours(index, drawnLabels.length, places.clash));
    under = near.filter((index) => !lit.includes(index));
    for (const index of under) drawnLabels[index].item.classList.add("under");
  }

  return {
    element,

    /** @param {Label[]} labels @param {Side} next */
    write(labels, next) {
      places = next;
      for (const { item } of drawnLabels.splice(labels.length)) item.remove();
      while (drawnLabels.length < labels.length) {
        const item = h("span", {});
        element.append(item);
        drawnLabels.push({ item, written: "", className: "", position: {} });
      }
      labels.forEach(({ step: labelStep, className, position }, i) => {
        const label = drawnLabels[i];
        const written = JSON.stringify(labelStep);
        if (written !== label.written) label.item.replaceChildren(make(step(labelStep)));
        if (className !== label.className) label.item.className = lit.includes(i) ? `${className} lit` : className;
        place(label.item, position, label.position);
        Object.assign(label, { written, className, position });
      });
      cover();
    },

    /** @param {string} text @param {Record<string, number>} position  in pixels */
    call(text, position) {
      write(title, text);
      const next = Object.fromEntries(Object.entries(position).map(([side, length]) => [side, `${length}px`]));
      place(title, next, called);
      called = next;
    },

    /** @param {number | null} first  null: none @param {number} count  how many from there */
    light(first, count) {
      const next = first === null ? [] : Array.from({ length: count }, (_, i) => first + i);
      if (String(next) === String(lit)) return;
      for (const index of lit) drawnLabels[index]?.item.classList.remove("lit");
      for (const index of next) drawnLabels[index]?.item.classList.add("lit");
      lit = next;
      cover();
    },
  };
}

/**
 * @param {HTMLElement} item
 * @param {Record<string, string>} position
 * @param {Record<string, string>} [before]  its previous position
 */
function place(item, position, before = {}) {
  for (const [side, value] of Object.entries(position))
    if (value !== before[side]) item.style.setProperty(side, value);
}

/** @param {Geometry} geometry @param {Step} row @param {number} i @param {boolean} visible @returns {Label} */
function beside({ left, top, cellHeight }, row, i, visible) {
  const position = { top: `${top + (i + 0.5) * cellHeight}px`, right: `calc(100% - ${left - 8}px)` };
  return { step: row, className: classNames(row, !visible), position };
}

/** @param {Geometry} geometry @param {Step} col @param {number} i @param {boolean} upright @param {boolean} visible @returns {Label} */
function above({ left, top, cellWidth, slant }, col, i, upright, visible) {
  const slanted = slant > 0 && !upright;
  const position = {
    rotate: slanted ? `-${slant}deg` : "none",
    left: `${left + (i + 0.5) * cellWidth}px`,
    top: `${top - 6}px`,
  };
  return { step: col, className: classNames(col, !visible, slanted), position };
}

/** @param {Step} step @param {boolean} between @param {boolean} [slanted] */
function classNames({ writes }, between, slanted = false) {
  return ["label", between && "between", writes.pad && "pad", slanted && "slanted"].filter(Boolean).join(" ");
}

/**
 * Measure text in the style of a highlighted label, the widest one.
 * @param {Pick<import("../page/page-context.js").Theme, "font" | "size">} theme
 * @returns {(text: string) => number}
 */
export function textRuler({ font, size }) {
  const letters = `600 ${size}px ${font}`;
  return (text) => memo(RULER, `${letters} ${text}`, () => measured(letters, text), MAX_MEASURED);
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
export function clippedSteps(steps, measure, width) {
  const maxWidth = Math.max(LONGEST.least, LONGEST.share * width);
  return steps.map((fullStep) => (measure(plainStep(fullStep)) > maxWidth ? shortenedStep(fullStep, (shorter) => measure(plainStep(shorter)) <= maxWidth) : fullStep));
}

/** @param {Step} step @param {(step: Step) => boolean} fits @returns {Step} */
function shortenedStep({ writes, ...step }, fits) {
  const letters = [...writes.word];
  const upTo = (/** @type {number} */ count) => ({ ...step, writes: { ...writes, word: `${letters.slice(0, count).join("")}…` } });
  let count = letters.length - 1;
  while (count > 1 && !fits(upTo(count))) count--;
  return upTo(count);
}

/** Number of cached widths. */
const MAX_MEASURED = 4096;
/** @type {{context?: CanvasRenderingContext2D}} */
const RULER = {};

/** @param {string} letters @param {string} text */
function measured(letters, text) {
  const canvas = () => document.createElement("canvas");
  RULER.context ??= /** @type {CanvasRenderingContext2D} */ (canvas().getContext("2d"));
  RULER.context.font = letters;
  return RULER.context.measureText(text).width;
}
