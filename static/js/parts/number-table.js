/** Numbers that were computed, as a table in which each cell has the colour of its number. */

import { plainly } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { cellStyle, largest } from "./number-cell.js";

/**
 * @param {object} of
 * @param {string} of.title
 * @param {number[][]} of.values
 * @param {string[]} of.rows  what they are called
 * @param {string[]} of.cols
 * @param {"signed" | "share" | "mask"} scale
 * @param {import("../draw/theme.js").Theme} theme
 * @param {import("../lib/i18n.js").Translate} t
 */
export function numberTable({ title, values, rows, cols }, scale, theme, t) {
  const most = largest(values);
  const say = (/** @type {number} */ value) => (scale === "mask" ? (value ? "1" : "0") : plainly(value));
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
        values.map((row, i) =>
          el(
            "tr",
            { key: i },
            rows[i] ? el("th", { scope: "row" }, rows[i]) : el("td", {}),
            ...row.map((value, j) => {
              const masked = scale === "mask" && !value;
              const title = scale !== "mask" ? String(value) : masked ? t("masked") : t("not masked");
              return el("td", { key: j, className: masked ? "hatched" : "", style: cellStyle(theme, value, most, scale), title }, say(value));
            }),
          ),
        ),
      ),
    ),
  );
}
