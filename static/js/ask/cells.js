/**
 * A point on a figure: a question that is answered by choosing a cell of a head's matrix. The matrix
 * is a table, so that it is read row by row, a finger scrolls it, and the arrow keys move in it.
 */

import { quoted, quotedStep } from "../core/draw/token.js";
import { ARROWS } from "../core/figure/pointing.js";
import { attention, axes, place } from "../core/wire/model-description.js";
import { row } from "../core/wire/safetensors.js";
import { two } from "../lib/numbers.js";
import { el } from "../lib/dom.js";

/** @import { Choice, Inquiry } from "./question.js" */
/** @import { Described } from "../lib/dom.js" */
/** @import { Translate } from "../lib/i18n.js" */

/** Rows and columns of a figure that can be pointed at; the server's limit. */
export const MAX_AXIS = 60;

/**
 * @typedef {object} Cell  where a choice is in a matrix
 * @property {number} row
 * @property {number} column
 * @property {Described} rowLabel
 * @property {Described} columnLabel
 * @property {number} weight  NaN: masked, and no choice
 */
/** @typedef {Choice & {cell: Cell}} CellChoice */

/**
 * The cells of the head that a link shows, row by row; none if the figure is too large to point at.
 * @param {Inquiry} inquiry
 * @returns {Promise<CellChoice[]>}
 */
export async function cellsOf({ run, model, state }) {
  const trace = await run((modelInfo) => ["weights", "mask"].map((name) => place(modelInfo, state, name)));
  const modelInfo = await model();
  const { rows, cols } = axes(modelInfo, trace, state.block);
  const matrix = attention(modelInfo, trace, state);
  if (!matrix || rows.length > MAX_AXIS || cols.length > MAX_AXIS) return [];
  return rows.flatMap((query, i) => {
    const weights = row(matrix, i);
    return cols.map(({ writes }, j) => {
      const [rowLabel, columnLabel] = [quotedStep(query), quoted(writes)];
      return { id: `${i} ${j}`, label: el("span", {}, query.reads ? ["(", rowLabel, ")"] : rowLabel, " → ", columnLabel), cell: { row: i, column: j, rowLabel, columnLabel, weight: weights[j] } };
    });
  });
}

/** @param {Choice[]} choices @returns {CellChoice[]} */
const cellChoices = (choices) => choices.flatMap((choice) => ("cell" in choice ? [/** @type {CellChoice} */ (choice)] : []));

/** @param {import("../lib/dom.js").Child} child  @returns {string} */
const textOf = (child) => (typeof child === "string" ? child : child && "tag" in child ? child.children.map(textOf).join("") : "");

/**
 * The tokens along a matrix, as a question has them for the files of answers.
 * @param {CellChoice[]} choices
 */
export const axesOf = (choices) => ({
  rows: choices.filter(({ cell }) => cell.column === 0).map(({ cell }) => textOf(cell.rowLabel)),
  columns: choices.filter(({ cell }) => cell.row === 0).map(({ cell }) => textOf(cell.columnLabel)),
});

/** Move the focus to the next cell in a direction that can be chosen. @param {KeyboardEvent} event */
function moveFocus(event) {
  const [down, across] = ARROWS[event.key] ?? [0, 0];
  const { target, currentTarget } = event;
  const from = target instanceof HTMLElement ? target.dataset.cell : undefined;
  if (!from || !(down || across) || !(currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  event.stopPropagation();
  let [i, j] = from.split(" ").map(Number);
  for (let next = null; (next = currentTarget.querySelector(`[data-cell="${(i += down)} ${(j += across)}"]`)); ) {
    if (next instanceof HTMLButtonElement) return next.focus();
  }
}

/**
 * A matrix with a column for each key and a row for each query.
 * @param {Translate} t
 * @param {Choice[]} choices
 * @param {{key?: string, caption?: string, className?: string}} of
 * @param {(choice: CellChoice) => Described} drawCell  a `td`
 */
function matrixTable(t, choices, { key, caption, className = "" }, drawCell) {
  const cells = cellChoices(choices);
  const columns = cells.filter(({ cell }) => cell.row === 0);
  const rows = Array.from({ length: cells.length / (columns.length || 1) }, (_, i) => cells.slice(i * columns.length, (i + 1) * columns.length));
  return el(
    "div",
    { key, className: `cell-matrix ${className}`, onkeydown: moveFocus, style: { "--rows": String(rows.length), "--columns": String(columns.length) } },
    el(
      "table",
      {},
      caption && el("caption", {}, caption),
      el("thead", {}, el("tr", {}, el("td", { className: "axes" }, el("span", { key: "rows" }, t("query (looks)"), " ↓"), el("span", { key: "columns" }, t("key (looked at)"), " →")), columns.map(({ cell }) => el("th", { key: cell.column, scope: "col" }, el("span", {}, cell.columnLabel))))),
      el("tbody", {}, rows.map((across, i) => el("tr", { key: i }, el("th", { scope: "row" }, across[0].cell.rowLabel), across.map(drawCell)))),
    ),
  );
}

const share = (/** @type {number} */ value) => ({ style: { "--share": String(value) } });

/**
 * A matrix of weights in which cells are chosen.
 * @param {Translate} t
 * @param {Choice[]} choices
 * @param {object} of
 * @param {string[]} of.chosen
 * @param {string[]} [of.right]  once revealed
 * @param {boolean} of.fixed
 * @param {(id: string) => void} of.choose
 */
export function cellPicker(t, choices, { chosen, right, fixed, choose }) {
  const first = chosen[0] ?? cellChoices(choices).find(({ cell }) => !Number.isNaN(cell.weight))?.id;
  const label = (/** @type {CellChoice} */ { label: words, cell }) => t("{cell}: {weight}", { cell: textOf(/** @type {Described} */ (words)), weight: two(cell.weight) });
  return matrixTable(t, choices, { key: "matrix", caption: right && t("Model") }, (choice) => {
    const { id, cell } = choice;
    if (Number.isNaN(cell.weight)) return el("td", { key: id, className: "masked", title: t("masked"), "data-cell": id });
    const isRight = right?.includes(id);
    const button = el(
      "button",
      { type: "button", "data-cell": id, "data-right": right && isRight ? "true" : undefined, "aria-pressed": String(chosen.includes(id)), "aria-label": label(choice), title: label(choice), tabIndex: id === first ? 0 : -1, disabled: fixed, onclick: () => choose(id), ...share(cell.weight) },
      isRight ? "✓" : chosen.includes(id) ? "●" : "",
    );
    return el("td", { key: id }, button);
  });
}

/**
 * How often each cell was chosen, as a heat map of one vote.
 * @param {Translate} t
 * @param {Choice[]} choices
 * @param {{name: string, chosen: Record<string, number>, count: number}} vote
 * @param {string[]} right
 */
export function cellCounts(t, choices, { name, chosen, count }, right) {
  if (!count) return null;
  const maximum = Math.max(1, ...Object.values(chosen));
  return matrixTable(t, choices, { key: name, caption: name, className: "counts" }, ({ id }) => {
    const times = chosen[id] ?? 0;
    const isRight = right.includes(id);
    return el("td", { key: id, "data-right": isRight ? "true" : undefined, title: t("chosen by {count}", { count: times }), ...share(times / maximum) }, times ? String(times) : "", isRight && el("span", { className: "mark-of" }, "✓"));
  });
}
