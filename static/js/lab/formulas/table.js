/** A plain table of results; a column may name its symbol. */

import { el } from "../../lib/render.js";

/** @import { Child } from "../../lib/render.js" */

/**
 * @param {(string | {text: string, symbol: string})[]} heads  "": no heading
 * @param {Child[][]} rows  the first cell of each is its heading
 */
export const resultTable = (heads, rows) =>
  el(
    "table",
    { className: "number-table" },
    el("thead", {}, el("tr", {}, heads.map(headed))),
    el("tbody", {}, rows.map(([first, ...rest], i) => el("tr", { key: i }, el("th", { scope: "row" }, first), rest.map((cell, j) => el("td", { key: j }, cell))))),
  );

/** @param {string | {text: string, symbol: string}} head @param {number} key */
function headed(head, key) {
  if (!head) return el("td", { key });
  return typeof head === "string" ? el("th", { key, scope: "col" }, head) : el("th", { key, scope: "col", "data-symbol": head.symbol }, head.text);
}
