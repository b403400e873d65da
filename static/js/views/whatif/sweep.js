/**
 * The causal sweep: every head, or another part, changed separately, as a map; a click on a cell
 * makes its change.
 */

import { legible } from "../../core/draw/matrix-canvas.js";
import { colour, css, diverging } from "../../core/draw/colour-scales.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { controls } from "../../core/figure/controls.js";
import { isPlainKey, onArrows } from "../../core/figure/pointing.js";
import { problemLine } from "../../core/figure/figure-status.js";
import { changes, isChanged } from "../../core/store/interventions.js";
import { editModel, offered } from "../../core/figure/change-controls.js";
import { placeOf } from "../../core/wire/model-description.js";
import { h, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { ablations } from "./ablation-sweep.js";
import { remainingTime, sweeper } from "./head-sweep.js";
import { patches, sentencePair, contrastQuestion } from "./patching-sweep.js";
import { pathEnds, endsInHead, partNames, partsOf, sweepRequest } from "./sweep-grids.js";
import { rowPicker } from "./before-after.js";

/** @import { Cell, Section } from "./sweep-grids.js" */
/** @import { Change } from "../../core/store/interventions.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Runs } from "./before-after.js" */
/** @import { Sweep } from "./head-sweep.js" */

/**
 * What is changed part by part, and how its effect is shown.
 * @typedef {object} Kind
 * @property {boolean} whole  whether all written tokens together can be asked about
 * @property {(sweep: Sweep | null, runs: Runs) => number | null} row  that is asked about; null: all of them
 * @property {(sweep: Sweep | null, row: number | null, runs: Runs, list: Change[]) => Scene} scene
 * @property {() => string} note
 * @property {(cell: Cell, sweep: Sweep | null, runs: Runs) => Change} change
 * @property {(sweep: Sweep, row: number | null, runs: Runs) => import("../../lib/dom.js").Child[]} finding  in one sentence
 * @property {(sweep: Sweep) => Record<string, import("../../core/wire/safetensors.js").Tensor>} numbers
 */

/** @param {Context} context @param {() => void} onFinding  called when what it finds may be another */
export function headSweep(context, onFinding) {
  const { store, t } = context;
  const { toggle, fixed } = editModel(context);
  const kinds = { ablation: ablations(context), patch: patches(context) };
  const isPatch = () => store.get().link.options.ablation === "patch";
  const kind = () => (isPatch() ? kinds.patch : kinds.ablation);
  /** @type {Runs | null} */
  let base = null;
  const run = sweeper(context.source, show);
  const again = () => void run.ask(sweepRequest(store.get(), base?.before ?? null), true);
  const options = () => store.get().link.options;
  const bar = controls(context, [
    { option: "ablation", label: t("Each part on its own"), values: () => offered({ zero: t("off"), uniform: t("uniform"), mean: t("mean"), patch: t("other sentence") }, store.get().model) },
    { option: "parts", label: t("Parts"), values: () => partNames(options().ablation, store.get().model, t), effective: () => partsOf(options()) },
    { option: "through", label: t("Acts on"), values: () => (isPatch() ? pathEnds(t, store.get().model) : {}) },
    { option: "over", label: t("on top of the changes") },
  ]);
  const rows = rowPicker(context);
  const pair = sentencePair(context);
  const question = h("div", { className: "sweep-question" }, rows.element);
  const findingLine = h("p", { className: "lead" });
  /** @type {import("../../lib/dom.js").Child[]} */
  let finding = [];
  const wait = waiting(context, run, again, () => partsOf(options()) !== "heads" || isPatch());
  const wrong = problemLine(context, again);
  const map = effectMap(context, (cell) => {
    const { model, link } = store.get();
    if (!base) return;
    const change = kind().change(cell, run.state().sweep, base);
    if (change.do?.patch && !change.do.patch.rows.length) return; // nothing to take, or not yet known
    const place = placeOf(model, cell.place.replace(/\.(mix|output)$/, ""));
    const stays = isPatch() && endsInHead(link);
    const moved = place?.block === link.block ? {} : { query: null, key: null };
    // One batch, so that there is only one run.
    store.batch(() => {
      if (place && !stays) store.go({ ...place, ...(cell.head === null ? {} : { head: cell.head }), ...moved });
      if (!fixed()) toggle(change);
    });
  });
  const note = h("p", { className: "hint-line" });
  const element = h("div", { className: "sweep" }, pair.element, question, findingLine, wait.element, wrong.element, map.element, bar, note);

  function show() {
    const { sweep, problem } = run.state();
    if (!base) return;
    const complete = sweep !== null && sweep.done === sweep.total;
    const row = kind().row(sweep, base);
    wait.show();
    wrong.show(problem);
    rows.show(base.before, row, kind().whole);
    rows.element.hidden = partsOf(options()) === "tokens"; // they are the map's columns
    if (isPatch()) pair.show(sweep, base.before);
    else pair.element.hidden = true;
    render(question, isPatch() && sweep && row !== null ? contrastQuestion(context, sweep, row, base.before, rows.element) : rows.element);
    map.draw(kind().scene(sweep, row, base, changes(store.get().link)));
    finding = complete ? kind().finding(sweep, row, base) : [];
    // Without changes to the model it is the finding of the whole view.
    render(findingLine, isChanged(store.get().link) ? finding : []);
    onFinding();
  }

  return {
    element,
    /** @param {Runs} runs */
    draw(runs) {
      base = runs;
      bar.refresh();
      note.textContent = kind().note();
      if (runs.before.output.tokens.length) void run.ask(sweepRequest(store.get(), runs.before));
      show();
    },
    light() {},
    finding: () => finding,
    destroy: run.stop,
    picture: map.picture,
    numbers() {
      const { sweep } = run.state();
      return sweep && base && { tokens: { written: base.before.output.tokens }, tensors: kind().numbers(sweep) };
    },
  };
}

/**
 * The progress, with buttons to stop and to continue.
 * @param {Context} context
 * @param {ReturnType<typeof sweeper>} run
 * @param {() => void} again
 * @param {() => boolean} ofParts  whether parts are tried, not only heads
 */
function waiting({ t }, run, again, ofParts) {
  const meter = h("progress", { max: 1 });
  const time = h("span", {});
  const stop = h("button", { type: "button", className: "button" }, t("Stop"));
  const start = h("button", { type: "button", className: "button" });
  stop.addEventListener("click", () => {
    run.stop();
    progress.show();
  });
  start.addEventListener("click", again);
  const going = h("div", { className: "sweep-progress" }, meter, time, stop);
  const progress = {
    element: h("div", {}, going, start),
    show() {
      const { sweep, problem, running, since } = run.state();
      const [done, total] = [sweep?.done ?? 0, sweep?.total ?? 0];
      const of = { done, total };
      meter.ariaLabel = ofParts() ? t("Parts tried") : t("Heads tried");
      start.textContent = ofParts() ? t("Try all parts") : t("Try all heads");
      going.hidden = !running;
      start.hidden = running || problem?.kind === "frozen" || (sweep !== null && done === sweep.total);
      meter.value = sweep ? done / sweep.total : 0;
      const seconds = sweep ? remainingTime(sweep, performance.now() - since) / 1000 : Infinity;
      time.textContent = Number.isFinite(seconds)
        ? ofParts() ? t("{done} of {total} parts, {seconds} s left", { ...of, seconds: Math.ceil(seconds) }) : t("{done} of {total} heads, {seconds} s left", { ...of, seconds: Math.ceil(seconds) })
        : t("Starting …");
    },
  };
  return progress;
}

// The effects of a sweep as a map: sections of rows and columns, each cell coloured by its effect.

/**
 * What the map shows.
 * @typedef {object} Scene
 * @property {Section[]} sections
 * @property {(cell: Cell) => number | null} value  null: not known
 * @property {1 | -1} sign  of values that are orange
 * @property {(cell: Cell) => string} describe  the effect in words
 * @property {(cell: Cell) => boolean} on  whether the cell's change is made
 * @property {number} limit  the limit of the colour scale
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
function effectMap(context, pick) {
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
    if (!cell || !isPlainKey(event) || (event.key !== "Enter" && event.key !== " ")) return;
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
    for (const sibling of element.querySelectorAll("[data-at]")) sibling.setAttribute("tabindex", sibling === cell ? "0" : "-1");
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
  const namesWidth = (short ? SHORT : NAMES) * size;
  const count = Math.max(1, ...scene.sections.map(({ columns }) => columns.length));
  const broadest = Math.max(...scene.sections.flatMap(({ columns }) => columns.map(widthOf))) + 0.5;
  const room = (width - namesWidth - 8 - APART * size) / count;
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
    const x = (/** @type {number} */ n) => namesWidth + n * wide + (n >= section.columns.length - (section.apart ?? 0) ? APART * size : 0);
    right = Math.max(right, x(section.columns.length - 1) + wide);
    const named = section.columns.join() !== scene.sections[i - 1]?.columns.join();
    y += (i ? 0.9 : 0) * size;
    // If there is room, the section's name is in the line of its columns' names.
    const hasTitleLine = named && (short || widthOf(section.title) * size > namesWidth);
    parts.push(s("text", { x: 0, y: y + size + (hasTitleLine ? 0 : named ? rise : 0), "font-weight": 600 }, section.title));
    y += hasTitleLine ? 1.4 * size : 0;
    if (named) {
      y += rise;
      section.columns.forEach((column, n) => {
        const middle = x(n) + wide / 2;
        const turned = rise ? { "text-anchor": "start", transform: `rotate(-45 ${middle} ${y + size})` } : { "text-anchor": "middle" };
        parts.push(s("text", { x: middle, y: y + size, fill: theme.muted, ...turned }, column));
        if (rise) right = Math.max(right, middle + widthOf(column) * size * SLANT);
      });
    }
    y += named || !hasTitleLine ? 1.5 * size : 0;
    for (const row of section.rows) {
      parts.push(s("text", { x: 0, y: y + high / 2 + size * 0.35, fill: theme.muted }, short ? row.short : row.name));
      row.cells.forEach((part, n) => part && parts.push(cell(context, scene, part, part.name === focus, { x: x(n), y, wide, high, line })));
      y += high;
      line++;
    }
  });
  return drawing(right + 2, y + 4, theme, ...parts);
}

/**
 * @param {Context} context
 * @param {Scene} scene
 * @param {Cell} part
 * @param {boolean} focused
 * @param {{x: number, y: number, wide: number, high: number, line: number}} box
 */
function cell(context, scene, part, focused, { x, y, wide, high, line }) {
  const theme = context.theme();
  const value = scene.value(part);
  const paint = value === null ? null : colour(diverging(theme), (1 + (scene.sign * value) / scene.limit) / 2);
  const on = scene.on(part);
  const description = scene.describe(part);
  const printedValue = value === null ? "·" : Math.abs(value) < 0.005 ? "0" : two(value);
  return s(
    "g",
    { role: "button", class: on ? "cell off" : "cell", tabindex: focused ? 0 : -1, "aria-label": `${description} ${printedValue}`, "aria-pressed": String(on), "data-at": part.place, "data-head": part.head, "data-name": part.name, "data-row": line },
    s("title", {}, description),
    s("rect", { x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 3, fill: paint ? css(paint) : theme.paper, stroke: on ? theme.ink : paint ? "none" : theme.hatch, "stroke-width": on ? 2.5 : 1, "stroke-dasharray": on ? "4 3" : null }),
    s("text", { x: x + wide / 2, y: y + high / 2 + theme.size * 0.35, "text-anchor": "middle", fill: paint ? legible(paint) : theme.muted, "font-weight": on ? 700 : null, "letter-spacing": wide < TIGHT * theme.size ? "-0.05em" : null }, printedValue),
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
  const row = (/** @type {number} */ n) => all.filter((candidate) => Number(candidate.getAttribute("data-row")) === n);
  const rowIndex = Number(cell.getAttribute("data-row"));
  return row(rowIndex + down)[Math.min(row(rowIndex).indexOf(/** @type {HTMLElement} */ (cell)), row(rowIndex + down).length - 1)] ?? null;
}
