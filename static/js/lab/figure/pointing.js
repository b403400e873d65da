/**
 * Pointing at a number highlights the cells that it was computed from and shows the calculation
 * below it. A click pins it, arrow keys move, Esc unpins.
 */

import { formulaText, mathml } from "../../core/compute/formula.js";
import { el, h, render } from "../../lib/dom.js";
import { maskTerm } from "../../core/draw/colour-scales.js";
import { significant } from "../../lib/numbers.js";
import { cellOrigins } from "../cell-calculation.js";
import { createPointing, onArrows, within } from "../../core/figure/pointing.js";
import { numberFormat } from "./step-results.js";

/** @import { Computed } from "./step-results.js" */
/** @import { Cells } from "../cell-calculation.js" */
/** @typedef {{of: string, head: number, row: number, col: number}} Pointed */

const LIT = "data-lit";
const DIGITS = 10;

/**
 * @param {HTMLElement} root  of the figure
 * @param {import("../../core/figure/types.js").PageContext} page
 * @param {() => Computed | null} computed
 */
export function bindPointing(root, { announce }, computed) {
  const card = h("p", { className: "arithmetic", hidden: true });
  root.append(card);
  /** @type {Pointed | null} */
  let pinned = null;
  /** @type {Pointed | null} */
  let hovered = null;
  const { move, pointing } = createPointing({ light, write: refs, read: pointedIn });

  /** @type {Pointed | null} */
  let lit = null;

  /** @param {Pointed | null} pointed */
  function light(pointed) {
    lit = pointed ?? pinned;
    show();
  }

  /** @param {boolean} [aloud] */
  function show(aloud = false) {
    root.querySelectorAll(`[${LIT}]`).forEach((element) => element.removeAttribute(LIT));
    const pointed = lit;
    const cell = pointed && cellAt(root, pointed);
    const now = computed();
    card.hidden = true;
    if (!pointed || !cell || !now) return;
    cell.setAttribute(LIT, "self");
    const { lab, answer } = now;
    const origin = cellOrigins(lab, answer, numberFormat(lab))(pointed.of, pointed);
    if (!origin) return;
    origin.from.forEach((cells) => cellsOf(root, cells).forEach((element) => element.setAttribute(LIT, "from")));
    if (pointed.of in lab.hidden) return;
    const value = valueAt(answer, pointed);
    const result = `= ${pointed.of === "mask" ? maskTerm(Boolean(value)) : significant(Number(value), DIGITS)}`;
    render(card, origin.terms.map((term, i) => el("span", { key: i }, mathml(document, term), " ")), el("b", {}, result));
    card.hidden = false;
    place(root, card, cell);
    if (aloud) announce(`${origin.terms.map(formulaText).join(" ")} ${result}`);
  }

  /** @param {EventTarget | null} target @returns {Pointed | null} */
  function pointedAt(target) {
    const cell = /** @type {Element | null} */ (target)?.closest?.("td[data-at]");
    const of = cell?.closest("[data-of]")?.getAttribute("data-of");
    if (!cell || !of) return null;
    const head = Number(cell.closest("[data-head]")?.getAttribute("data-head") ?? 0);
    const [row, col] = (cell.getAttribute("data-at") ?? "").split(",").map(Number);
    return { of, head, row, col };
  }

  root.addEventListener("pointerover", ({ target, pointerType }) => {
    hovered = pointerType === "touch" ? null : pointedAt(target);
    move(hovered ?? pinned);
  });
  root.addEventListener("pointerleave", () => {
    hovered = null;
    move(pinned);
  });
  root.addEventListener("click", ({ target }) => {
    const next = pointedAt(target);
    if (next || pinned) {
      pinned = next && pinned && isSameCell(next, pinned) ? null : next;
      move(hovered ?? pinned);
      show(Boolean(pinned));
    }
  });
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !pinned) return;
    pinned = hovered = null;
    move(null);
  });
  onArrows(root, (down, right, { target }) => {
    const table = /** @type {HTMLElement} */ (target);
    if (!table.matches(".lab-steps .scrolled")) return false;
    const cells = [...table.querySelectorAll("td[data-at]")];
    const start = pinned && cellAt(table, pinned, "") ? pinned : null;
    const last = pointedAt(cells[cells.length - 1]);
    if (!last) return false;
    const [row, col] = start ? [start.row + down, start.col + right] : [0, 0];
    pinned = { ...last, row: within(row, last.row + 1), col: within(col, last.col + 1) };
    hovered = null;
    move(pinned);
    show(true);
    return true;
  });
  return { show: () => show(), pointing };
}

/** As it is sent: the matrix or step with its head, the row and the column. @param {Pointed} at */
function refs({ of, head, row, col }) {
  const side = `${of}.${head}`;
  return { query: { side, index: row }, key: { side, index: col } };
}

/** @param {import("../../core/store/store.js").Highlight} lit @returns {Pointed | null} */
function pointedIn({ query, key }) {
  const [, of, head] = /^(\w+)\.(\d+)$/.exec(query?.side ?? "") ?? [];
  return of && query && key ? { of, head: Number(head), row: query.index, col: key.index } : null;
}

/** @param {Pointed} a @param {Pointed} b */
const isSameCell = (a, b) => a.of === b.of && a.head === b.head && a.row === b.row && a.col === b.col;

/** @param {Computed["answer"]} answer @param {Pointed} at @returns {number} */
function valueAt({ steps, dims }, { of, head, row, col }) {
  const values = dims[of][0] === "head" ? steps[of][head] : steps[of];
  if (!dims[of].length) return values;
  return dims[of].length === 1 ? values[row] : values[row][col];
}

/** @param {ParentNode} root @param {Pointed} at @param {string} [step]  where it is looked for */
function cellAt(root, { of, head, row, col }, step = `[data-of="${of}"] `) {
  return root.querySelector(`${step}[data-head="${head}"] td[data-at="${row},${col}"]`);
}

/** @param {ParentNode} root @param {Cells} cells */
function cellsOf(root, { of, head, row, col }) {
  const headSelector = head === undefined ? "" : `[data-head="${head}"] `;
  const place = row === undefined ? (col === undefined ? "" : `$=",${col}"`) : col === undefined ? `^="${row},"` : `="${row},${col}"`;
  return root.querySelectorAll(`[data-of="${of}"] ${headSelector}[data-at${place}]`);
}

/**
 * Place the card below the table of a cell, within the figure.
 * @param {HTMLElement} root
 * @param {HTMLElement} card
 * @param {Element} cell
 */
function place(root, card, cell) {
  const [outer, inner] = [root.getBoundingClientRect(), cell.getBoundingClientRect()];
  const table = /** @type {Element} */ (cell.closest("table")).getBoundingClientRect();
  card.style.setProperty("top", `${table.bottom - outer.top + 4}px`);
  card.style.setProperty("left", "0px");
  const x = Math.min(inner.left - outer.left, outer.width - card.offsetWidth);
  card.style.setProperty("left", `${Math.max(x, 0)}px`);
}
