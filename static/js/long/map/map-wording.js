/** Texts about a long text's matrix; for a pooled cell, that it is the largest of several. */

import { findingOf } from "../../core/compute/attention-row.js";
import { el } from "../../lib/dom.js";
import { significant, tiny, two } from "../../lib/numbers.js";
import { sentence } from "../../core/figure/row-wording.js";
import { levelOf, quoted } from "./axes.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Axis } from "./axes.js" */
/** @import { Child } from "../../lib/dom.js" */
/** @import { CellValue } from "./tiles.js" */

/** Three digits: the server keeps queries and keys in 16 bits, from which weights are good to some tenths of a percent. @param {number} value */
const about = (value) => (value >= 1e-4 ? significant(value, 3) : tiny(value));

/** @param {Context["t"]} t @param {Page} page */
const whereabouts = (t, { link }) => t("Layer {layer}, head {head}", { layer: link.layer + 1, head: link.head + 1 });

/**
 * A unit of an axis in a sentence: its text and its position.
 * @param {Context["t"]} t
 * @param {Axis} axis
 * @param {number} unit
 * @param {string} as
 */
function unit(t, axis, unit, as) {
  return el("span", { className: as }, el("span", { className: "token" }, quoted(axis, unit)), el("sub", { title: t("number {n} of {count}", { n: unit + 1, count: axis.count }) }, String(unit + 1)));
}

/**
 * Describe the pinned row or, without one, what a cell is.
 * @param {Context} context
 * @param {Page} page
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {{row: number | null, col: number | null}} pinned
 * @param {Float32Array | null} weights  of that row; null: not loaded yet
 * @returns {Child[]}
 */
export function caption({ t, phrase }, page, axes, { row, col }, weights) {
  const place = el("span", { className: "place" }, whereabouts(t, page));
  if (row !== null && weights) {
    const rowFinding = findingOf(weights);
    const keys = "keys" in rowFinding ? rowFinding.keys.map((key) => unit(t, axes.cols, key, "as-key")) : [];
    const cell = col === null || ("keys" in rowFinding && rowFinding.keys.includes(col)) ? [] : [" ", ...phrase(Number.isNaN(weights[col]) ? t("{key} is masked.") : t("{key} gets {weight}."), { key: unit(t, axes.cols, col, "as-key"), weight: about(weights[col]) })];
    return [...phrase(sentence(rowFinding, false, t), {
      place,
      query: unit(t, axes.rows, row, "as-query"),
      key: keys[0],
      other: keys[1],
      count: keys.length,
      weight: "weight" in rowFinding ? two(rowFinding.weight) : "",
    }), ...cell];
  }
  return phrase(extents(t, page), { place, rows: axes.rows.count, cols: axes.cols.count });
}

/** @param {Context["t"]} t @param {Page} page  Marks the messages; their places are filled by the caller. */
function extents(t, page) {
  const level = levelOf(page);
  if (level === "sentences") return t("{place}: {rows} × {cols} sentences.");
  if (level === "paragraphs") return t("{place}: {rows} × {cols} paragraphs.");
  return t("{place}: {rows} × {cols} tokens.");
}

/**
 * Describe what a drawn cell is.
 * @param {Context["t"]} t
 * @param {Page} page
 * @param {{rows: number, cols: number}} span  tokens of a cell
 */
export function cellsSaid(t, page, { rows, cols }) {
  if (levelOf(page) !== "tokens") return t("A cell is the share of its attention that a row gives to a column: weights are summed over the column's tokens and averaged over the row's.");
  if (rows * cols === 1) return t("Each cell is one weight.");
  return t("Each cell is the largest of {rows} × {cols} weights: zoom in to see each of them.", { rows, cols });
}

/**
 * Describe what a share, or a handout, without its model does not have.
 * @param {Context["t"]} t
 * @param {{cells: boolean, lines: boolean}} unsaved
 * @returns {string}  "" if nothing is missing
 */
export function unsavedSaid(t, { cells, lines }) {
  const sentences = [...(cells ? [t("Finer cells than these were not saved here.")] : []), ...(lines ? [t("The weights of this row or column were not saved here.")] : [])];
  return sentences.join(" ");
}

/**
 * The tooltip of a cell.
 * @param {Context} context
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {CellValue} cell
 * @returns {Child[]}
 */
export function tip({ t }, { rows, cols }, { value, units }) {
  const [height, width] = [units.rows[1] - units.rows[0], units.cols[1] - units.cols[0]];
  const weightText = Number.isNaN(value) ? t("masked") : about(value);
  if (height * width === 1)
    return [unit(t, rows, units.rows[0], "as-query"), " ", unit(t, cols, units.cols[0], "as-key"), " ", el("b", {}, weightText)];
  const range = (/** @type {[number, number]} */ [from, to]) => (to - from === 1 ? String(from + 1) : `${from + 1}–${to}`);
  return [
    t("queries {queries}, keys {keys}", { queries: range(units.rows), keys: range(units.cols) }),
    " ",
    el("b", {}, Number.isNaN(value) ? weightText : t("largest of {rows} × {cols}: {weight}", { rows: height, cols: width, weight: about(value) })),
  ];
}

/**
 * The announcement of the pinned cell.
 * @param {Context["t"]} t
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {number} row
 * @param {number | null} col
 * @param {Float32Array} weights  of the row
 */
export function spoken(t, { rows, cols }, row, col, weights) {
  const named = (/** @type {Axis} */ axis, /** @type {number} */ index) => `${quoted(axis, index)} ${index + 1}`;
  if (col === null) {
    const rowFinding = findingOf(weights);
    const key = rowFinding.kind === "most" || rowFinding.kind === "only" ? named(cols, rowFinding.keys[0]) : "";
    return key ? t("query {query} looks most at key {key}: {weight}", { query: named(rows, row), key, weight: "weight" in rowFinding ? about(rowFinding.weight) : "" }) : named(rows, row);
  }
  return t("query {query}, key {key}: {weight}", { query: named(rows, row), key: named(cols, col), weight: Number.isNaN(weights[col]) ? t("masked") : about(weights[col]) });
}
