/**
 * A matrix with its labels: the chart, the tokens along both sides, what is lit in it, a tooltip,
 * and pointer and keys. It knows rows and columns; what they mean the view knows.
 */

import { h, step } from "../dom.js";
import { createChart } from "../chart.js";
import { fit, hit } from "../geometry.js";
import { texts } from "../blocks.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../tokens.js").Step} Step */
/** @typedef {{row: number, col: number}} Cell */
/** @typedef {import("../geometry.js").Place} Place */
/**
 * @typedef {object} Options
 * @property {string} label  says what it is, to a screen reader
 * @property {(place: Place | null) => void} onHover
 * @property {(place: Place, how: "click" | "key") => void} onPick
 * @property {() => Cell | null} picked  where the arrow keys start
 * @property {(cell: Cell) => (Node | string)[]} tip
 */
/**
 * @typedef {object} Content
 * @property {import("../wire.js").Matrix} matrix
 * @property {import("../paint.js").Shade} shade
 * @property {Step[]} rows
 * @property {Step[]} cols  empty: columns are only counted
 * @property {{rows: string, cols: string}} titles
 * @property {number} width  to fit into
 * @property {number} height  to fit into
 * @property {number} [stretch]  how much wider than high a cell may be
 * @property {number} [largest]
 */
/** @typedef {ReturnType<typeof createMatrix>} MatrixPart */

/** A Chinese character or a mark, perhaps with its index: it stands upright. */
const SINGLE = /^[\p{Script=Han}\p{P}][₀-₉]*$/u;

const MOVES = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
});

/**
 * @param {Context} context
 * @param {Options} options
 */
export function createMatrix(context, options) {
  const chartHost = h("div", { className: "chart" });
  const [row, col, cell] = ["row", "col", "cell"].map((which) => h("div", { className: `mark ${which}`, hidden: true }));
  const marks = { row, col, cell };
  const labels = { rows: h("div", { className: "labels rows" }), cols: h("div", { className: "labels cols" }) };
  const tip = h("div", { className: "tip", hidden: true, role: "presentation" });
  const element = h(
    "div",
    { className: "matrix", tabIndex: 0, role: "application", "aria-label": options.label },
    chartHost, marks.row, marks.col, marks.cell, labels.rows, labels.cols, tip,
  );
  const chart = createChart(chartHost, context.plotter);
  /** @type {import("../geometry.js").Geometry | null} */
  let geometry = null;

  /** @param {Content} content */
  function draw(content) {
    const { matrix, shade, rows, cols, titles, width, height, stretch, largest } = content;
    const theme = context.theme();
    const names = { rows: texts(rows), cols: texts(cols) };
    const measure = ruler(`600 13px ${theme.font}`);
    const upright = names.cols.map((text) => SINGLE.test(text));
    geometry = fit({
      rowWidths: names.rows.map(measure), colWidths: names.cols.map(measure), upright,
      cols: matrix.cols, width, height, stretch, largest,
    });
    element.style.width = `${geometry.width}px`;
    element.style.height = `${geometry.height}px`;
    chart.draw({ matrix, geometry, shade, theme, labels: names, titles });
    label(labels, geometry, rows, cols, upright);
  }

  /** @param {{row: number | null, col: number | null}} at */
  function mark({ row, col }) {
    if (!geometry) return;
    const { left, top, cellWidth, cellHeight, rows, cols, gap } = geometry;
    const inside = { row: row !== null && row < rows, col: col !== null && col < cols };
    lay(marks.row, inside.row, left, top + (row ?? 0) * cellHeight, cols * cellWidth - gap, cellHeight - gap);
    lay(marks.col, inside.col, left + (col ?? 0) * cellWidth, top, cellWidth - gap, rows * cellHeight - gap);
    lay(marks.cell, inside.row && inside.col, left + (col ?? 0) * cellWidth, top + (row ?? 0) * cellHeight, cellWidth - gap, cellHeight - gap);
    light(labels.rows, row);
    light(labels.cols, col);
  }

  /** @param {PointerEvent | MouseEvent} event */
  function under(event) {
    const box = element.getBoundingClientRect();
    return geometry && hit(geometry, event.clientX - box.left, event.clientY - box.top);
  }

  /** @param {Place | null} place */
  function point(place) {
    options.onHover(place);
    const { row = null, col = null } = place ?? {};
    tip.hidden = row === null || col === null || !geometry;
    if (row === null || col === null || !geometry) return;
    tip.replaceChildren(...options.tip({ row, col }));
    const { left, top, cellWidth, cellHeight, cols } = geometry;
    const [end, below] = [col >= cols / 2, row < 2];
    tip.classList.toggle("end", end);
    tip.classList.toggle("below", below);
    tip.style.left = `${left + (end ? col + 1 : col) * cellWidth}px`;
    tip.style.top = `${top + (below ? row + 1 : row) * cellHeight}px`;
  }

  element.addEventListener("pointermove", (event) => event.pointerType !== "touch" && point(under(event)));
  element.addEventListener("pointerleave", () => point(null));
  element.addEventListener("click", (event) => {
    const place = under(event);
    if (place) options.onPick(place, "click");
  });
  element.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || !geometry || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { row, col } = options.picked() ?? { row: 0, col: 0 };
    const wrap = (/** @type {number} */ n, /** @type {number} */ size) => Math.min(Math.max(n, 0), size - 1);
    options.onPick({ row: wrap(row + move[0], geometry.rows), col: wrap(col + move[1], geometry.cols) }, "key");
  });

  return { element, draw, mark, destroy: () => (chart.destroy(), element.remove()) };
}

/**
 * @param {HTMLElement} mark
 * @param {boolean} shown
 * @param {...number} box  left, top, width, height
 */
function lay(mark, shown, ...box) {
  mark.hidden = !shown;
  const [left, top, width, height] = box.map((n) => `${n}px`);
  Object.assign(mark.style, { left, top, width, height });
}

/**
 * @param {{rows: HTMLElement, cols: HTMLElement}} labels
 * @param {import("../geometry.js").Geometry} geometry
 * @param {Step[]} rows
 * @param {Step[]} cols
 * @param {boolean[]} upright
 */
function label(labels, { left, top, cellWidth, cellHeight, slant, everyRow, everyCol }, rows, cols, upright) {
  labels.rows.replaceChildren(...rows.map((row, i) => {
    const item = h("span", { className: i % everyRow ? "label between" : "label" }, step(row));
    Object.assign(item.style, { top: `${top + (i + 0.5) * cellHeight}px`, right: `calc(100% - ${left - 8}px)` });
    return item;
  }));
  labels.cols.replaceChildren(...cols.map((col, i) => {
    const slanted = slant > 0 && !upright[i];
    const item = h("span", { className: `label ${slanted ? "slanted" : ""} ${i % everyCol ? "between" : ""}` }, step(col));
    if (slanted) item.style.rotate = `-${slant}deg`;
    Object.assign(item.style, { left: `${left + (i + 0.5) * cellWidth}px`, top: `${top - 6}px` });
    return item;
  }));
}

/** @param {HTMLElement} labels @param {number | null} index */
function light(labels, index) {
  [...labels.children].forEach((label, i) => label.classList.toggle("lit", i === index));
}

/**
 * @param {string} font
 * @returns {(text: string) => number}
 */
function ruler(font) {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  context.font = font;
  return (text) => context.measureText(text).width;
}
