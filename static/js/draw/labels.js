/** The tokens along both sides of a matrix: words that slant, single characters that stand. */

import { h } from "../lib/dom.js";
import { step } from "./token.js";
import { memo } from "../lib/memo.js";
import { labelSize } from "./theme.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./geometry.js").Place} Place */
/** @typedef {import("../data/tokens.js").Step} Step */

/** A Chinese character or a mark, perhaps with its index: it stands upright. */
const SINGLE = /^[\p{Script=Han}\p{P}][₀-₉]*$/u;

/** @param {string} text */
export const stands = (text) => SINGLE.test(text);

export function createLabels() {
  let written = "";
  const rows = h("div", { className: "labels rows" });
  const cols = h("div", { className: "labels cols" });
  return {
    elements: [rows, cols],

    /**
     * @param {Geometry} geometry
     * @param {{rows: Step[], cols: Step[]}} steps
     * @param {boolean[]} upright  which columns stand
     */
    write(geometry, steps, upright) {
      const now = JSON.stringify([geometry, steps, upright]);
      if (now === written) return;
      written = now;
      rows.replaceChildren(...steps.rows.map((one, i) => beside(geometry, one, i)));
      cols.replaceChildren(...steps.cols.map((one, i) => above(geometry, one, i, upright[i])));
    },

    /** @param {Place} place */
    light({ row, col }) {
      [...rows.children].forEach((label, i) => label.classList.toggle("lit", i === row));
      [...cols.children].forEach((label, i) => label.classList.toggle("lit", i === col));
    },
  };
}

/** @param {Geometry} geometry @param {Step} row @param {number} i */
function beside({ left, top, cellHeight, everyRow }, row, i) {
  const item = h("span", { className: i % everyRow ? "label between" : "label" }, step(row));
  item.classList.toggle("pad", row.writes.pad === true);
  item.style.top = `${top + (i + 0.5) * cellHeight}px`;
  item.style.right = `calc(100% - ${left - 8}px)`;
  return item;
}

/** @param {Geometry} geometry @param {Step} col @param {number} i @param {boolean} upright */
function above({ left, top, cellWidth, slant, everyCol }, col, i, upright) {
  const item = h("span", { className: i % everyCol ? "label between" : "label" }, step(col));
  item.classList.toggle("pad", col.writes.pad === true);
  const slanted = slant > 0 && !upright;
  item.classList.toggle("slanted", slanted);
  if (slanted) item.style.rotate = `-${slant}deg`;
  item.style.left = `${left + (i + 0.5) * cellWidth}px`;
  item.style.top = `${top - 6}px`;
  return item;
}

/**
 * Measures text as a lit label shows it, in its widest form.
 * @param {string} font  a CSS font family
 * @returns {(text: string) => number}
 */
export function ruler(font) {
  const letters = `600 ${labelSize(window)}px ${font}`;
  return (text) => memo(RULER, `${letters} ${text}`, () => measured(letters, text), KEPT);
}

/** Widths that are kept. */
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
