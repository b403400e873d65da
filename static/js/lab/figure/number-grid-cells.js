/** The elements of an editable matrix. */

import { number } from "../../lib/csv.js";
import { el } from "../../lib/render.js";
import { cellStyle, largest } from "../../core/figure/number-table.js";

/** @import { Translate } from "../../lib/i18n.js" */
/**
 * @typedef {object} Shown
 * @property {import("../../lib/csv.js").Cells} cells
 * @property {string[]} rows  labels
 * @property {string[]} cols
 * @property {"rows" | "cols" | null} [named]  which labels can be edited
 * @property {number} [heads]  number of heads that share the columns, or the rows (see `shared`)
 * @property {"rows" | "cols"} [shared]
 * @property {(row: number, col: number) => string} why  "": valid
 * @property {import("../../core/page/page-context.js").Theme} theme
 * @property {boolean} [fixed]  read-only
 */
/** @typedef {{id: string, name: string, t: Translate, picked: (row: number, col: number) => boolean}} Of */

/** @param {Shown} shown @param {Of} of */
export function described(shown, of) {
  const values = shown.cells.map((row) => row.map((text) => number(text).value));
  const most = largest(values);
  const cols = shown.cols.map((text, j) => heading(text, { key: j, scope: "col", className: begins(shown, "cols", j) }, head(shown, of, text, j, "cols")));
  const rows = shown.cells.map((row, i) =>
    el(
      "tr",
      { key: i, className: begins(shown, "rows", i) },
      heading(shown.rows[i], { scope: "row" }, head(shown, of, shown.rows[i], i, "rows")),
      ...row.map((text, j) => cell(shown, of, { text, i, j, style: cellStyle(shown.theme, values[i][j], most, "signed") })),
    ),
  );
  return [el("thead", {}, el("tr", {}, el("td", {}), ...cols)), el("tbody", {}, rows)];
}

/**
 * A row or column without a name has no header.
 * @param {string} text
 * @param {Record<string, any>} props
 * @param {import("../../lib/render.js").Child} child
 */
const heading = (text, { scope, ...props }, child) => (text || typeof child === "object" ? el("th", { scope, ...props }, child) : el("td", props));

/**
 * Whether the next head's channels begin here.
 * @param {Shown} shown
 * @param {"rows" | "cols"} side
 * @param {number} at
 */
function begins({ heads = 1, shared, cells }, side, at) {
  const count = side === "rows" ? cells.length : cells[0].length;
  return shared === side && at && at % (count / heads) === 0 ? "begins" : "";
}

/** @param {Shown} shown @param {Of} of @param {string} text @param {number} index @param {"rows" | "cols"} side */
function head({ named, fixed }, { t }, text, index, side) {
  if (named !== side) return text;
  const label = t("Name of token {n}", { n: index + 1 });
  return el("input", { className: "name", value: text, readOnly: Boolean(fixed), "data-name": String(index), spellcheck: false, autocomplete: "off", "aria-label": label });
}

/**
 * @param {Shown} shown
 * @param {Of} of
 * @param {{text: string, i: number, j: number, style: Record<string, string>}} at
 */
function cell(shown, { id, name, t, picked }, { text, i, j, style }) {
  const why = shown.why(i, j);
  const row = shown.rows[i] || i + 1;
  const col = shown.cols[j] || j + 1;
  const chosen = picked(i, j);
  return el(
    "td",
    {
      key: j,
      role: "gridcell",
      className: [why && "wrong", chosen && "picked", begins(shown, "cols", j)].filter(Boolean).join(" "),
      "aria-selected": String(chosen),
    },
    el("input", {
      type: "text",
      inputMode: "decimal",
      value: text,
      readOnly: Boolean(shown.fixed),
      "data-at": `${i},${j}`,
      autocomplete: "off",
      style: why ? {} : style,
      "aria-label": t("{matrix}, row {row}, column {col}", { matrix: name, row, col }),
      "aria-invalid": String(Boolean(why)),
      ...(why ? { "aria-describedby": `${id}-${i}-${j}` } : {}),
    }),
    why && el("span", { className: "hidden", id: `${id}-${i}-${j}` }, why),
  );
}
