/** The effects of a sweep as a map: sections of rows and columns, each cell coloured by its effect. */

import { alone, onArrows } from "../../core/figure/pointing.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { legible } from "../../core/draw/paint.js";
import { colour, css, diverging } from "../../core/draw/scale.js";
import { drawing, file, s } from "../../core/draw/svg.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Section, Cell } from "./sweep-grids.js" */
/**
 * What the map shows.
 * @typedef {object} Scene
 * @property {Section[]} sections
 * @property {(cell: Cell) => number | null} value  null: not known
 * @property {1 | -1} sign  of values that are orange
 * @property {(cell: Cell) => string} says  the effect in words
 * @property {(cell: Cell) => boolean} on  whether the cell's change is made
 * @property {number} most  the limit of the colour scale
 * @property {string} label
 */

/**
 * In multiples of the font size: the height of a row, the smallest and largest width of a cell, the
 * width of the rows' names.
 */
const [HIGH, NARROW, WIDE, NAMES, SHORT] = [2.3, 2.9, 5.4, 5, 1.4];
/** Below this width of a cell, in multiples of the font size, numbers are set more tightly. */
const TIGHT = 3.4;
/** Below this total width, in multiples of the font size, rows are labelled only with their number. */
const PHONE = 36;
/** In multiples of the font size: the width of a letter, and of a Chinese character; above a cell, slanted. */
const [LETTER, HAN, SLANT] = [0.53, 1, 0.71];
/** In multiples of the font size: the gap before columns that are set apart. */
const APART = 0.5;

/** @param {Context} context @param {(cell: Cell) => void} pick */
export function effectMap(context, pick) {
  const element = h("div", { className: "head-map scroller" });
  let focus = "";
  /** @type {SVGSVGElement | null} */
  let drawn = null;
  /** @type {Cell[]} */
  let cells = [];

  const cellAt = (/** @type {EventTarget | null} */ target) => /** @type {Element} */ (target).closest("[data-at]");
  element.addEventListener("click", ({ target }) => choose(cellAt(target)));
  element.addEventListener("focusin", ({ target }) => reachable(/** @type {Element} */ (target)));
  element.addEventListener("keydown", (event) => {
    const cell = cellAt(event.target);
    if (!cell || !alone(event) || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(cell);
  });
  onArrows(element, (down, right, { target }) => {
    const cell = cellAt(target);
    const next = cell && neighbour(element, cell, down, right);
    if (!next) return false;
    next.focus();
    return true;
  });

  /** @param {Element | null} place */
  function choose(place) {
    const cell = cells.find(({ name }) => name === place?.getAttribute("data-name"));
    if (!place || !cell) return;
    reachable(place);
    pick(cell);
  }

  /** @param {Element} cell  The one that Tab comes to. */
  function reachable(cell) {
    const name = cell.getAttribute("data-name");
    if (!name) return;
    focus = name;
    for (const one of element.querySelectorAll("[data-at]")) one.setAttribute("tabindex", one === cell ? "0" : "-1");
  }

  return {
    element,

    /** @param {Scene} scene */
    draw(scene) {
      const focused = element.contains(document.activeElement);
      cells = scene.sections.flatMap(({ rows }) => rows.flatMap((row) => row.cells.filter((cell) => cell !== null)));
      if (!cells.some(({ name }) => name === focus)) focus = cells[0]?.name ?? "";
      drawn = picture(context, scene, focus, element.clientWidth);
      drawn.setAttribute("role", "group");
      drawn.setAttribute("aria-label", scene.label);
      element.replaceChildren(drawn);
      element.dataset.drawn = String(cells.filter((cell) => scene.value(cell) !== null).length);
      if (focused) /** @type {HTMLElement | null} */ (element.querySelector('[tabindex="0"]'))?.focus();
    },

    picture: () => drawn && { svg: file(drawn, context.theme()) },
  };
}

/** @param {string} text @returns {number}  its width, in multiples of the font size */
const widthOf = (text) => [...text].reduce((sum, letter) => sum + (/[\u2e80-\uffff]/.test(letter) ? HAN : LETTER), 0);

/** @param {Context} context @param {Scene} scene @param {string} focus @param {number} width */
function picture(context, scene, focus, width) {
  const theme = context.theme();
  const { size } = theme;
  const short = width < PHONE * size;
  const left = (short ? SHORT : NAMES) * size;
  const count = Math.max(1, ...scene.sections.map(({ columns }) => columns.length));
  const broadest = Math.max(...scene.sections.flatMap(({ columns }) => columns.map(widthOf))) + 0.5;
  const room = (width - left - 8 - APART * size) / count;
  const wide = Math.min(Math.max(room, NARROW * size), Math.max(WIDE, Math.min(broadest, 2 * WIDE)) * size);
  const high = Math.max(HIGH * size, 26);
  /** How far above its cell the end of a slanted label is. */
  const rise = broadest * size > wide ? broadest * size * SLANT : 0;
  let y = 0;
  /** @type {SVGElement[]} */
  const parts = [];
  let right = 0;
  let line = 0;
  scene.sections.forEach((section, i) => {
    const x = (/** @type {number} */ n) => left + n * wide + (n >= section.columns.length - (section.apart ?? 0) ? APART * size : 0);
    right = Math.max(right, x(section.columns.length - 1) + wide);
    const named = section.columns.join() !== scene.sections[i - 1]?.columns.join();
    y += (i ? 0.9 : 0) * size;
    // If there is room, the section's name is in the line of its columns' names.
    const own = named && (short || widthOf(section.title) * size > left);
    parts.push(s("text", { x: 0, y: y + size + (own ? 0 : named ? rise : 0), "font-weight": 600 }, section.title));
    y += own ? 1.4 * size : 0;
    if (named) {
      y += rise;
      section.columns.forEach((column, n) => {
        const middle = x(n) + wide / 2;
        const turned = rise ? { "text-anchor": "start", transform: `rotate(-45 ${middle} ${y + size})` } : { "text-anchor": "middle" };
        parts.push(s("text", { x: middle, y: y + size, fill: theme.muted, ...turned }, column));
        if (rise) right = Math.max(right, middle + widthOf(column) * size * SLANT);
      });
    }
    y += named || !own ? 1.5 * size : 0;
    for (const row of section.rows) {
      parts.push(s("text", { x: 0, y: y + high / 2 + size * 0.35, fill: theme.muted }, short ? row.short : row.name));
      row.cells.forEach((one, n) => one && parts.push(cell(context, scene, one, one.name === focus, { x: x(n), y, wide, high, line })));
      y += high;
      line++;
    }
  });
  return drawing(right + 2, y + 4, theme, ...parts);
}

/**
 * @param {Context} context
 * @param {Scene} scene
 * @param {Cell} one
 * @param {boolean} focused
 * @param {{x: number, y: number, wide: number, high: number, line: number}} box
 */
function cell(context, scene, one, focused, { x, y, wide, high, line }) {
  const theme = context.theme();
  const value = scene.value(one);
  const paint = value === null ? null : colour(diverging(theme), (1 + (scene.sign * value) / scene.most) / 2);
  const on = scene.on(one);
  const says = scene.says(one);
  return s(
    "g",
    { role: "button", class: on ? "cell off" : "cell", tabindex: focused ? 0 : -1, "aria-label": says, "aria-pressed": String(on), "data-at": one.at, "data-head": one.head, "data-name": one.name, "data-row": line },
    s("title", {}, says),
    s("rect", { x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 3, fill: paint ? css(paint) : theme.paper, stroke: on ? theme.ink : paint ? "none" : theme.hatch, "stroke-width": on ? 2.5 : 1, "stroke-dasharray": on ? "4 3" : null }),
    s("text", { x: x + wide / 2, y: y + high / 2 + theme.size * 0.35, "text-anchor": "middle", fill: paint ? legible(paint) : theme.muted, "font-weight": on ? 700 : null, "letter-spacing": wide < TIGHT * theme.size ? "-0.05em" : null }, value === null ? "·" : Math.abs(value) < 0.005 ? "0" : two(value)),
  );
}

/**
 * The cell that an arrow key moves to.
 * @param {Element} element
 * @param {Element} cell
 * @param {number} down
 * @param {number} right
 * @returns {HTMLElement | null}
 */
function neighbour(element, cell, down, right) {
  const all = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("[data-at]")]);
  if (right) return all[all.indexOf(/** @type {HTMLElement} */ (cell)) + right] ?? null;
  const row = (/** @type {number} */ n) => all.filter((one) => Number(one.getAttribute("data-row")) === n);
  const at = Number(cell.getAttribute("data-row"));
  return row(at + down)[Math.min(row(at).indexOf(/** @type {HTMLElement} */ (cell)), row(at + down).length - 1)] ?? null;
}
