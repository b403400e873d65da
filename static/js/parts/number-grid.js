/**
 * A matrix that is typed into, as in a spreadsheet: arrows, Tab and Enter move, F2 edits, Shift picks
 * several cells, what is copied from a sheet can be pasted and the other way round. A cell that is no
 * number keeps what was typed and says why.
 */

import { copied, pasted } from "../lib/cells.js";
import { h } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { onArrows, within } from "./arrow-keys.js";
import { described } from "./number-grid-cells.js";

/** @typedef {import("../lib/cells.js").Cells} Cells */
/** @typedef {[number, number]} Place  row, column */
/** @typedef {import("./number-grid-cells.js").Shown} Shown */
/** @typedef {import("../lib/i18n.js").Translate} Translate */
/** @typedef {(row: number, col: number, text: string) => string} Change */
/**
 * @typedef {object} Grid
 * @property {ReturnType<typeof picking>} pick
 * @property {() => Cells} cells
 * @property {(change: Change, at: Place) => void} edit
 * @property {(to: Place, extend: boolean) => void} go  to the nearest cell that is there
 */

/**
 * @param {object} of
 * @param {string} of.id
 * @param {string} of.name  such as W_Q
 * @param {Translate} of.t
 * @param {(cells: Cells, at: Place) => void} of.onEdit
 * @param {(index: number, name: string) => void} [of.onName]
 * @param {(text: string) => void} of.announce
 */
export function numberGrid({ id, name, t, onEdit, onName = () => {}, announce }) {
  const table = h("table", { className: "number-grid", role: "grid", id, "aria-label": name });
  const pick = picking();
  /** @type {Shown} */
  let shown;
  let moving = false;

  /** @param {Shown} next */
  function show(next) {
    shown = next;
    render(table, ...described(next, { id, name, t, picked: pick.holds }));
  }
  /** @type {Grid} */
  const grid = {
    pick,
    cells: () => shown.cells,
    edit: (change, at) => onEdit(shown.cells.map((row, i) => row.map((text, j) => change(i, j, text))), at),
    go(to, extend) {
      pick.move([within(to[0], shown.cells.length), within(to[1], shown.cells[0].length)], extend);
      moving = true;
      /** @type {HTMLInputElement | null} */ (table.querySelector(`input[data-at="${pick.active()}"]`))?.focus();
      moving = false;
      show(shown);
    },
  };
  table.addEventListener("focusin", ({ target }) => {
    const at = placeOf(target);
    if (!at) return;
    const input = /** @type {HTMLInputElement} */ (target);
    pick.enter(input.value);
    input.select();
    if (moving) return;
    pick.move(at, false);
    show(shown);
  });
  table.addEventListener("input", ({ target }) => {
    const { value, dataset } = /** @type {HTMLInputElement} */ (target);
    const at = placeOf(target);
    if (at) grid.edit(only(at, value), at);
    else if (dataset.name) onName(Number(dataset.name), value);
  });
  bindPointer(table, grid);
  bindKeys(table, grid);
  bindClipboard(table, grid, (rows, cols, fits) =>
    announce(fits ? t("{rows} × {cols} pasted", { rows, cols }) : t("{rows} × {cols} pasted: what goes beyond the matrix was left out.", { rows, cols })),
  );
  return { element: table, show };
}

/** Which cells are picked: from where it began to where the focus is. */
function picking() {
  /** @type {Place} */
  let anchor = [0, 0];
  /** @type {Place} */
  let active = [0, 0];
  let [editing, before] = [false, ""];
  const box = () => {
    const [top, bottom] = [anchor[0], active[0]].sort((a, b) => a - b);
    const [left, right] = [anchor[1], active[1]].sort((a, b) => a - b);
    return { top, bottom, left, right, several: top !== bottom || left !== right };
  };
  return {
    box,
    active: () => active,
    before: () => before,
    editing: () => editing,
    edits: () => (editing = true),
    /** @param {string} text  what the cell held when it was entered */
    enter: (text) => void ([before, editing] = [text, false]),
    /** @param {Place} to @param {boolean} extend */
    move(to, extend) {
      active = to;
      if (!extend) anchor = to;
    },
    /** Whether a cell is one of several. @param {number} row @param {number} col */
    holds(row, col) {
      const { top, bottom, left, right, several } = box();
      return several && row >= top && row <= bottom && col >= left && col <= right;
    },
  };
}

/** @param {Place} at @param {string} value @returns {Change} */
const only = (at, value) => (i, j, text) => (i === at[0] && j === at[1] ? value : text);

/** @param {EventTarget | null} target @returns {Place | null} */
function placeOf(target) {
  const at = /** @type {HTMLElement} */ (target)?.dataset?.at;
  return at ? /** @type {Place} */ (at.split(",").map(Number)) : null;
}

/** Shift picks up to a cell; a click into the cell that has the focus edits it. @param {HTMLElement} table @param {Grid} grid */
function bindPointer(table, { pick, go }) {
  table.addEventListener("pointerdown", (event) => {
    const at = placeOf(event.target);
    if (!at) return;
    if (event.shiftKey) {
      event.preventDefault();
      go(at, true);
    } else if (table.ownerDocument.activeElement === event.target) pick.edits();
  });
}

/** @param {HTMLElement} table @param {Grid} grid */
function bindKeys(table, { pick, go, edit, cells }) {
  onArrows(table, (down, right, event) => {
    if (!placeOf(event.target) || (pick.editing() && right)) return false;
    const [row, col] = pick.active();
    go([row + down, col + right], event.shiftKey);
    return true;
  });
  table.addEventListener("keydown", (event) => {
    const at = placeOf(event.target);
    if (!at || event.isComposing) return;
    const input = /** @type {HTMLInputElement} */ (event.target);
    const all = event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey);
    if (event.key === "Enter") go([at[0] + (event.shiftKey ? -1 : 1), at[1]], false);
    else if (event.key === "F2") {
      pick.edits();
      input.setSelectionRange(input.value.length, input.value.length);
    } else if (event.key === "Escape") {
      edit(only(at, pick.before()), at);
      go(at, false);
    } else if (pick.box().several && (event.key === "Delete" || event.key === "Backspace")) {
      edit((i, j, text) => (pick.holds(i, j) ? "0" : text), at);
    } else if (all && !pick.editing()) {
      pick.move([0, 0], false);
      go([cells().length - 1, cells()[0].length - 1], true);
    } else return;
    event.preventDefault();
  });
}

/**
 * @param {HTMLElement} table
 * @param {Grid} grid
 * @param {(rows: number, cols: number, fits: boolean) => void} told
 */
function bindClipboard(table, { pick, edit, cells }, told) {
  table.addEventListener("copy", (event) => {
    const { top, bottom, left, right, several } = pick.box();
    if (!several || !placeOf(event.target)) return;
    event.preventDefault();
    const chosen = cells().slice(top, bottom + 1).map((row) => row.slice(left, right + 1));
    event.clipboardData?.setData("text/plain", copied(chosen));
  });
  table.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!placeOf(event.target) || !/[\t\n,;]|\S\s+\S/.test(text)) return;
    event.preventDefault();
    const { top, left } = pick.box();
    const sheet = pasted(text);
    const [height, width] = [sheet.length, Math.max(...sheet.map((row) => row.length))];
    edit((i, j, old) => sheet[i - top]?.[j - left] ?? old, [top, left]);
    told(height, width, top + height <= cells().length && left + width <= cells()[0].length);
  });
}
