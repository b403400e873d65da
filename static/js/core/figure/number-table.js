/** Computed numbers as a table in which each cell has the colour of its number. */

import { plainly } from "../../lib/numbers.js";
import { el } from "../../lib/render.js";
import { cellStyle, largest } from "./number-cell.js";

/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Theme } from "../draw/theme.js" */
/** @import { Child } from "../../lib/render.js" */
/**
 * @typedef {object} Numbers
 * @property {string} title
 * @property {number[][]} values
 * @property {string[]} rows  labels
 * @property {string[]} cols
 * @property {"signed" | "share" | "mask"} scale
 */

/**
 * @param {Numbers} of
 * @param {Theme} theme
 * @param {Translate} t
 * @param {(value: number) => string} [say]
 */
export function numberTable({ title, values, rows, cols, scale }, theme, t, say = plainly) {
  const most = largest(values);
  return headedTable({ title, rows, cols }, t, (i, j) => {
    const value = values[i][j];
    const masked = scale === "mask" && !value;
    const words = scale !== "mask" ? {} : { title: masked ? t("masked") : t("not masked") };
    const text = scale === "mask" ? String(Number(Boolean(value))) : say(value);
    return el("td", { key: j, className: masked ? "hatched" : "", style: cellStyle(theme, value, most, scale), "data-at": `${i},${j}`, ...words }, text);
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
