/**
 * A matrix that is edited as in a spreadsheet: arrows, Tab and Enter move, F2 edits, Shift selects
 * several cells, and cells can be copied to and pasted from a spreadsheet. A cell that is not a
 * number keeps its text and shows an error.
 */

import { cellStyle, largest } from "../../core/draw/colour-scales.js";
import { onArrows, within } from "../../core/figure/pointing.js";
import { copied, number, pasted } from "../../lib/csv.js";
import { el, h, render, write } from "../../lib/dom.js";

/** @import { Cells } from "../../lib/csv.js" */
/** @import { Translate } from "../../lib/i18n.js" */

// Why the cell with the focus cannot be used: on top of the page, so that nothing moves.

/** Pixels between the table and the note. */
const GAP = 6;

/**
 * @param {HTMLElement} table
 * @param {(cell: Element) => string} why  "": it can be used, or is not a cell
 */
function createCellNote(table, why) {
  // Screen readers read the description of the cell instead.
  const element = h("p", { className: "cell-note", popover: "manual", "aria-hidden": "true" });

  /** Show the note below the table, or hide it. */
  function refresh() {
    const { activeElement: cell, defaultView: view } = table.ownerDocument;
    const words = cell && table.contains(cell) ? why(cell) : "";
    if (!element.isConnected || !view) return;
    element.togglePopover(Boolean(words));
    if (!cell || !words) return;
    write(element, words);
    const { left: cellLeft } = cell.getBoundingClientRect();
    const low = view.visualViewport?.height ?? view.innerHeight; // above the keyboard of a phone
    const top = Math.min(table.getBoundingClientRect().bottom + GAP, low - element.offsetHeight - GAP);
    const start = Math.max(GAP, Math.min(cellLeft, view.innerWidth - element.offsetWidth - GAP));
    // It scrolls with the page.
    Object.assign(element.style, { left: `${start + view.scrollX}px`, top: `${top + view.scrollY}px` });
  }
  table.addEventListener("focusin", refresh);
  table.addEventListener("focusout", () => element.isConnected && element.togglePopover(false));
  return { element, refresh };
}

/**
 * @typedef {object} GridContent
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
/** @typedef {{id: string, name: string, t: Translate, picked: (row: number, col: number) => boolean, stop: () => Place, nameStop: number}} GridContext  stop: the cell that Tab comes to; nameStop: the name */

/** @param {GridContent} content @param {GridContext} context */
function described(content, context) {
  const values = content.cells.map((row) => row.map((text) => number(text).value));
  const maxValue = largest(values);
  const cols = content.cols.map((text, j) => heading(text, { key: j, scope: "col", className: begins(content, "cols", j) }, head(content, context, text, j, "cols")));
  const rows = content.cells.map((row, i) =>
    el(
      "tr",
      { key: i, className: begins(content, "rows", i) },
      heading(content.rows[i], { scope: "row" }, head(content, context, content.rows[i], i, "rows")),
      ...row.map((text, j) => cell(content, context, { text, i, j, style: cellStyle(content.theme, values[i][j], maxValue, "signed") })),
    ),
  );
  return [el("thead", {}, el("tr", {}, el("td", {}), ...cols)), el("tbody", {}, rows)];
}

/**
 * A row or column without a name has no header.
 * @param {string} text
 * @param {Record<string, any>} props
 * @param {import("../../lib/dom.js").Child} child
 */
const heading = (text, { scope, ...props }, child) => (text || typeof child === "object" ? el("th", { scope, ...props }, child) : el("td", props));

/**
 * Whether the next head's channels begin here.
 * @param {GridContent} content
 * @param {"rows" | "cols"} side
 * @param {number} index
 */
function begins({ heads = 1, shared, cells }, side, index) {
  const count = side === "rows" ? cells.length : cells[0].length;
  return shared === side && index && index % (count / heads) === 0 ? "begins" : "";
}

/** @param {GridContent} content @param {GridContext} context @param {string} text @param {number} index @param {"rows" | "cols"} side */
function head({ named, fixed }, { t, nameStop }, text, index, side) {
  if (named !== side) return text;
  const label = t("Name of token {n}", { n: index + 1 });
  return el("input", { className: "name", value: text, readOnly: Boolean(fixed), "data-name": String(index), tabIndex: index === nameStop ? 0 : -1, spellcheck: false, autocomplete: "off", "aria-label": label });
}

/**
 * @param {GridContent} content
 * @param {GridContext} context
 * @param {{text: string, i: number, j: number, style: Record<string, string>}} at
 */
function cell(content, { id, name, t, picked, stop }, { text, i, j, style }) {
  const why = content.why(i, j);
  const row = content.rows[i] || i + 1;
  const col = content.cols[j] || j + 1;
  const chosen = picked(i, j);
  return el(
    "td",
    {
      key: j,
      role: "gridcell",
      className: [why && "wrong", chosen && "picked", begins(content, "cols", j)].filter(Boolean).join(" "),
      "aria-selected": String(chosen),
    },
    el("input", {
      type: "text",
      inputMode: "decimal",
      value: text,
      readOnly: Boolean(content.fixed),
      "data-at": `${i},${j}`,
      tabIndex: String(stop()) === `${i},${j}` ? 0 : -1,
      autocomplete: "off",
      style: why ? {} : style,
      "aria-label": t("{matrix}, row {row}, column {col}", { matrix: name, row, col }),
      "aria-invalid": String(Boolean(why)),
      ...(why ? { "aria-describedby": `${id}-${i}-${j}` } : {}),
    }),
    why && el("span", { className: "hidden", id: `${id}-${i}-${j}` }, why),
  );
}

/** @typedef {[number, number]} Place  row, column */
/** @typedef {(row: number, col: number, text: string) => string} Change */
/**
 * @typedef {object} Grid
 * @property {ReturnType<typeof picking>} pick
 * @property {() => Cells} cells
 * @property {(change: Change, place: Place) => void} edit
 * @property {(to: Place, extend: boolean) => void} go  to the nearest existing cell
 */

/**
 * @param {object} of
 * @param {string} of.id
 * @param {string} of.name  such as W_Q
 * @param {Translate} of.t
 * @param {(cells: Cells, place: Place) => void} of.onEdit
 * @param {(index: number, name: string) => void} [of.onName]
 * @param {(rows: number, cols: number) => void} [of.onGrow]  called to enlarge the matrix before a
 *   larger table is pasted
 * @param {(text: string) => void} of.announce
 */
export function numberGrid({ id, name, t, onEdit, onName = () => {}, onGrow = () => {}, announce }) {
  const table = h("table", { className: "number-grid", role: "grid", "aria-label": name });
  const pasteNote = h("p", { className: "pasted", hidden: true });
  const pick = picking();
  const note = createCellNote(table, (cell) => {
    const place = placeOf(cell);
    return place ? content.why(...place) : "";
  });
  /** @type {GridContent} */
  let content;
  let moving = false;
  let pressed = false;
  let nameStop = 0;
  table.addEventListener("pointerdown", () => {
    pressed = true;
    setTimeout(() => (pressed = false));
  });

  /** @param {GridContent} next */
  function show(next) {
    content = next;
    const stop = () => nearest(pick.active());
    render(table, ...described(next, { id, name, t, picked: pick.holds, stop, nameStop: within(nameStop, Math.max(next.rows.length, next.cols.length)) }));
    note.refresh();
  }
  /** @param {Place} place @returns {Place} */
  const nearest = ([row, col]) => [within(row, content.cells.length), within(col, content.cells[0].length)];
  /** @type {Grid} */
  const grid = {
    pick,
    cells: () => content.cells,
    edit: (change, place) => onEdit(content.cells.map((row, i) => row.map((text, j) => change(i, j, text))), place),
    go(to, extend) {
      pick.move(nearest(to), extend);
      moving = true;
      /** @type {HTMLInputElement | null} */ (table.querySelector(`input[data-at="${pick.active()}"]`))?.focus();
      moving = false;
      show(content);
    },
  };
  table.addEventListener("focusin", ({ target }) => {
    const place = placeOf(target);
    const input = /** @type {HTMLInputElement} */ (target);
    if (input.dataset.name) nameStop = Number(input.dataset.name);
    if (!place) return;
    pick.enter(input.value);
    input.select();
    if (moving) return;
    pick.works(pressed);
    pick.move(place, false);
    show(content);
  });
  table.addEventListener("input", ({ target }) => {
    tell("");
    const { value, dataset } = /** @type {HTMLInputElement} */ (target);
    const place = placeOf(target);
    if (place) pick.works();
    if (place) grid.edit(only(place, value), place);
    else if (dataset.name) onName(Number(dataset.name), value);
  });
  bindPointer(table, grid);
  bindKeys(table, grid);
  /** @param {string} text  about what was pasted; "": nothing */
  function tell(text) {
    pasteNote.hidden = !text;
    write(pasteNote, text);
  }
  /** @param {Pasted} pasted */
  function reportPaste({ rows, cols, ragged, fits }) {
    const notes = [
      ragged ? t("Row {n} of the pasted table has {found} cells, not {cols}: the other cells do not change.", { n: ragged.row, found: ragged.found, cols }) : "",
      fits ? "" : t("{rows} × {cols} pasted: only {most} fits here, the rest was left out. You can undo this.", { rows, cols, most: sizeOf(content.cells) }),
    ].filter(Boolean);
    tell(notes.join(" "));
    announce([t("{rows} × {cols} pasted", { rows, cols }), ...notes].join(". "));
  }
  bindClipboard(table, grid, onGrow, reportPaste);
  return { element: table, notes: [pasteNote, note.element], show };
}

/** @param {Cells} cells */
const sizeOf = (cells) => `${cells.length} × ${cells[0].length}`;

/** The selected cells: from where the selection began to the focus. */
function picking() {
  /** @type {Place} */
  let anchor = [0, 0];
  /** @type {Place} */
  let active = [0, 0];
  let [editing, before, working] = [false, "", false];
  const box = () => {
    const [topRow, bottomRow] = [anchor[0], active[0]].sort((a, b) => a - b);
    const [leftCol, rightCol] = [anchor[1], active[1]].sort((a, b) => a - b);
    return { topRow, bottomRow, leftCol, rightCol, several: topRow !== bottomRow || leftCol !== rightCol };
  };
  return {
    box,
    active: () => active,
    before: () => before,
    editing: () => editing,
    edits: () => (editing = true),
    /**
     * Whether the reader works in the grid, where Tab goes from cell to cell: after a click, an arrow
     * or a number. Who comes by Tab goes on by Tab, and a grid is one stop.
     */
    working: () => working,
    works: (now = true) => void (working = now),
    /** @param {string} text  what the cell held when it was entered */
    enter: (text) => void ([before, editing] = [text, false]),
    /** @param {Place} to @param {boolean} extend */
    move(to, extend) {
      active = to;
      if (!extend) anchor = to;
    },
    /** Whether a cell is in a selection of several. @param {number} row @param {number} col */
    holds(row, col) {
      const { topRow, bottomRow, leftCol, rightCol, several } = box();
      return several && row >= topRow && row <= bottomRow && col >= leftCol && col <= rightCol;
    },
  };
}

/** @param {Place} place @param {string} value @returns {Change} */
const only = (place, value) => (i, j, text) => (i === place[0] && j === place[1] ? value : text);

/** @param {EventTarget | null} target */
function placeOf(target) {
  const indices = /** @type {HTMLElement} */ (target)?.dataset?.at;
  return indices ? /** @type {Place} */ (indices.split(",").map(Number)) : null;
}

/**
 * Shift extends the selection to a cell; a click into the focused cell edits it.
 * @param {HTMLElement} table
 * @param {Grid} grid
 */
function bindPointer(table, { pick, go }) {
  table.addEventListener("pointerdown", (event) => {
    const place = placeOf(event.target);
    if (!place) return;
    if (event.shiftKey) {
      event.preventDefault();
      go(place, true);
    } else if (table.ownerDocument.activeElement === event.target) pick.edits();
  });
}

/** @param {HTMLElement} table @param {Grid} grid */
function bindKeys(table, { pick, go, edit, cells }) {
  onArrows(table, (down, right, event) => {
    if (stepThroughNames(table, event.target, down)) return true;
    if (!placeOf(event.target) || (pick.editing() && right)) return false;
    const [row, col] = pick.active();
    pick.works();
    go([row + down, col + right], event.shiftKey);
    return true;
  });
  table.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    if (!place || event.isComposing) return;
    const input = /** @type {HTMLInputElement} */ (event.target);
    const all = event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey);
    const next = event.key === "Tab" && pick.working() ? beside(place, cells()[0].length, event.shiftKey ? -1 : 1) : null;
    if (next && cells()[next[0]]) go(next, false);
    else if (event.key === "Enter") go([place[0] + (event.shiftKey ? -1 : 1), place[1]], false);
    else if (event.key === "F2") {
      pick.edits();
      input.setSelectionRange(input.value.length, input.value.length);
    } else if (event.key === "Escape") {
      edit(only(place, pick.before()), place);
      go(place, false);
    } else if (!input.readOnly && pick.box().several && (event.key === "Delete" || event.key === "Backspace")) {
      edit((i, j, text) => (pick.holds(i, j) ? "0" : text), place);
    } else if (all && !pick.editing()) {
      pick.move([0, 0], false);
      go([cells().length - 1, cells()[0].length - 1], true);
    } else return;
    event.preventDefault();
  });
}

/**
 * The names of tokens are one stop of Tab; up and down lead from one to the next.
 * @param {HTMLElement} table
 * @param {EventTarget | null} target
 * @param {number} by
 */
function stepThroughNames(table, target, by) {
  const names = /** @type {HTMLInputElement[]} */ ([...table.querySelectorAll("input[data-name]")]);
  const next = by && target instanceof HTMLInputElement ? names[names.indexOf(target) + by] : null;
  if (!next || !names.some((input) => input === target)) return false;
  for (const input of names) input.tabIndex = input === next ? 0 : -1;
  next.focus();
  next.select();
  return true;
}

/** @param {Place} place @param {number} width @param {number} by @returns {Place}  the next cell in the order of reading */
function beside([row, col], width, by) {
  const index = row * width + col + by;
  return [Math.floor(index / width), ((index % width) + width) % width];
}

/** @typedef {{rows: number, cols: number, fits: boolean, ragged: {row: number, found: number} | null}} Pasted */

/**
 * @param {HTMLElement} table
 * @param {Grid} grid
 * @param {(rows: number, cols: number) => void} grow
 * @param {(pasted: Pasted) => void} onPaste
 */
function bindClipboard(table, { pick, edit, cells }, grow, onPaste) {
  table.addEventListener("copy", (event) => {
    const { topRow, bottomRow, leftCol, rightCol, several } = pick.box();
    if (!several || !placeOf(event.target)) return;
    event.preventDefault();
    const chosen = cells().slice(topRow, bottomRow + 1).map((row) => row.slice(leftCol, rightCol + 1));
    event.clipboardData?.setData("text/plain", copied(chosen));
  });
  table.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const input = /** @type {HTMLInputElement} */ (event.target);
    if (!placeOf(input) || input.readOnly || !/[\t\n,;]|\S\s+\S/.test(text)) return;
    event.preventDefault();
    const { topRow, leftCol } = pick.box();
    const sheet = pasted(text);
    const [rows, cols] = [sheet.length, Math.max(...sheet.map((row) => row.length))];
    grow(topRow + rows, leftCol + cols);
    edit((i, j, old) => sheet[i - topRow]?.[j - leftCol] ?? old, [topRow, leftCol]);
    const short = sheet.findIndex((row) => row.length < cols);
    const ragged = short < 0 ? null : { row: short + 1, found: sheet[short].length };
    onPaste({ rows, cols, ragged, fits: topRow + rows <= cells().length && leftCol + cols <= cells()[0].length });
  });
}
