/** Computed numbers as a table in which each cell has the colour of its number. */

import { plainly } from "../../lib/numbers.js";
import { el } from "../../lib/dom.js";
import { colour, contrast, css, diverging, rgb, sequential } from "../draw/colour-scales.js";

/** @import { Child } from "../../lib/dom.js" */
/** @import { Theme } from "../page/page-context.js" */
/** @import { Translate } from "../../lib/i18n.js" */

// The background colour of a number in a table, and a legible text colour.

/** The contrast of WCAG 2 AA; black or white has it on any background. */
const READABLE = 4.5;
/** @type {import("../draw/colour-scales.js").Rgb[]} */
const EXTREMES = [[0, 0, 0], [255, 255, 255]];
/** The part of the scale used for signed numbers, to keep tables with many of them calm. */
const DEPTH = 0.6;

/**
 * @param {Theme} theme
 * @param {number | null} value  null: none
 * @param {number} limit  the largest absolute value of its table
 * @param {"signed" | "share" | "mask"} scale
 * @returns {Record<string, string>}  a style
 */
export function cellStyle(theme, value, limit, scale) {
  if (value === null || scale === "mask" || !limit) return {};
  const fraction = scale === "share" ? value : 0.5 + (DEPTH * value) / limit / 2;
  const ground = colour(scale === "share" ? sequential(theme) : diverging(theme), fraction);
  const letters = [rgb(theme.ink), rgb(theme.paper), ...EXTREMES].find((letterColour) => contrast(ground, letterColour) >= READABLE) ?? EXTREMES[0];
  return { "background-color": css(ground), color: css(letters) };
}

/** @param {(number | null)[][]} rows  The largest number, in size. */
export const largest = (rows) => Math.max(...rows.flat().map((value) => Math.abs(value ?? 0)));

/**
 * @typedef {object} Numbers
 * @property {string} title
 * @property {number[][]} values
 * @property {string[]} rows  labels
 * @property {string[]} cols
 * @property {"signed" | "share" | "mask"} scale
 */

/** What a mask adds to a score. @param {boolean} isOpen  whether the query may look at the key */
export const maskTerm = (isOpen) => (isOpen ? "0" : "−∞");

/** @param {Numbers} of @param {Theme} theme @param {Translate} t @param {(value: number) => string} [format] */
export function numberTable({ title, values, rows, cols, scale }, theme, t, format = plainly) {
  const limit = largest(values);
  return headedTable({ title, rows, cols }, t, (i, j) => {
    const value = values[i][j];
    const masked = scale === "mask" && !value;
    const words = scale !== "mask" ? {} : { title: masked ? t("masked") : t("not masked") };
    const text = scale === "mask" ? maskTerm(Boolean(value)) : format(value);
    return el("td", { key: j, className: masked ? "hatched" : "", style: cellStyle(theme, value, limit, scale), "data-at": `${i},${j}`, ...words }, text);
  });
}

/**
 * @param {Pick<Numbers, "title" | "rows" | "cols">} of
 * @param {Translate} t
 * @param {(row: number, col: number) => Child} cell
 */
export function headedTable({ title, rows, cols }, t, cell) {
  const headed = cols.some(Boolean);
  return el(
    "div",
    { className: "scrolled", tabIndex: 0, role: "group", "aria-label": title || t("Numbers") },
    el(
      "table",
      { className: "number-table" },
      title && el("caption", {}, title),
      headed && el("thead", {}, el("tr", {}, el("td", {}), ...cols.map((name, j) => el("th", { key: j, scope: "col" }, name)))),
      el(
        "tbody",
        {},
        rows.map((name, i) => el("tr", { key: i }, name ? el("th", { scope: "row" }, name) : el("td", {}), ...cols.map((_, j) => cell(i, j)))),
      ),
    ),
  );
}
