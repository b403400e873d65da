/** The computed steps: name, formula and numbers, or a row to fill in. */

import { mathml } from "../../core/compute/formula.js";
import { onPaper } from "../../core/draw/matrix-canvas.js";
import { headedTable, numberTable } from "../../core/draw/colour-scales.js";
import { within } from "../../core/figure/pointing.js";
import { number } from "../../lib/csv.js";
import { el, h, render, write } from "../../lib/dom.js";
import { fractional, plainly, two } from "../../lib/numbers.js";
import { debounce } from "../../lib/timing.js";
import { outputChanges } from "../matrices.js";
import { largestWeight, shownSteps } from "../steps.js";

/** @import { Child } from "../../lib/dom.js" */
/** @import { Lab } from "../matrices.js" */
/** @import { Answer, Step } from "../steps.js" */

// A hidden step: the reader fills in one of its rows, and each number is checked as it is typed.

/** @typedef {"right" | "wrong" | "text" | "empty"} Verdict */

/** Numbers are rounded to at least two decimals. */
const COARSEST = 0.005;
const ROUNDING = 1e-9;

/**
 * @param {string} text  as typed
 * @param {number} value  the correct value
 * @returns {Verdict}  right: equal when rounded to the typed decimals, at least two
 */
export function judgeNumber(text, value) {
  const { value: typed, wrong } = number(text);
  if (typed === null) return wrong === "empty" ? "empty" : "text";
  const decimals = /[.．]([0-9０-９]*)$/.exec(text.trim())?.[1].length ?? 0;
  const room = Math.min(0.5 * 10 ** -decimals, COARSEST);
  return Math.abs(typed - value) <= room + ROUNDING * Math.max(1, Math.abs(value)) ? "right" : "wrong";
}

/**
 * @param {import("../../core/figure/types.js").PageContext} page
 * @param {object} of
 * @param {() => void} of.again  redraws the steps
 * @param {(step: string, row: number) => void} of.row  chooses another row
 */
function createExercise({ t, announce }, { again, row: choose }) {
  /** The typed text, by step, head, row and column. @type {Map<string, string>} */
  const typed = new Map();

  /** @param {Step} step @param {number} head @param {number} row @param {number} col */
  const key = ({ id }, head, row, col) => `${id} ${head} ${row} ${col}`;
  /** @param {Step} step @param {number} head @param {number} row @param {number} col */
  const verdict = (step, head, row, col) => judgeNumber(typed.get(key(step, head, row, col)) ?? "", Number(step.tables[head].values[row][col]));
  /** @param {Step} step @param {number} chosenRow */
  const rowOf = ({ tables }, chosenRow) => within(chosenRow, tables[0].rows.length);
  /** @param {Step} step @param {number} row */
  const done = (step, row) => step.tables.every(({ cols }, head) => cols.every((_, col) => verdict(step, head, row, col) === "right"));

  /** @returns {Record<Verdict, string>} */
  const words = () => ({ right: t("Correct."), wrong: t("Not yet. Two decimals are enough."), text: t("Not a number. Write 0.5, −2 or 1/3."), empty: "" });

  return {
    /** The task and its progress. @param {Step} step @param {number} chosenRow */
    task(step, chosenRow) {
      const row = rowOf(step, chosenRow);
      const { rows } = step.tables[0];
      const menu = el(
        "select",
        { value: String(row), "aria-label": t("Row"), onchange: (/** @type {Event} */ { target }) => choose(step.id, Number(/** @type {HTMLSelectElement} */ (target).value)) },
        rows.map((name, i) => el("option", { value: String(i) }, name || String(i + 1))),
      );
      const right = done(step, row);
      const wrong = step.tables.some(({ cols }, head) => cols.some((_, col) => ["wrong", "text"].includes(verdict(step, head, row, col))));
      return el(
        "p",
        { className: "task", "data-done": String(right) },
        el("label", { className: "option menu" }, el("span", {}, t("Fill in row")), menu),
        el("span", { role: "status" }, right ? t("Correct, within rounding.") : wrong ? words().wrong : ""),
        right && row + 1 < rows.length && el("button", { key: "next", type: "button", className: "button", onclick: () => choose(step.id, row + 1) }, t("Next row")),
      );
    },

    /**
     * One table per head: the row to fill in has inputs, all others are blank.
     * @param {Step} step
     * @param {number} chosenRow
     */
    tables(step, chosenRow) {
      const row = rowOf(step, chosenRow);
      return step.tables.map((table, head) =>
        headedTable(table, t, (i, j) => {
          if (i !== row && !done(step, i)) return el("td", { key: j, className: "unknown", "data-at": `${i},${j}`, title: t("hidden") });
          const judgement = verdict(step, head, i, j);
          const message = words()[judgement];
          const input = el("input", {
            type: "text",
            inputMode: "decimal",
            autocomplete: "off",
            value: typed.get(key(step, head, i, j)) ?? "",
            title: message,
            "aria-label": t("{matrix}, row {row}, column {col}", { matrix: step.name, row: table.rows[i] || i + 1, col: table.cols[j] || j + 1 }),
            "aria-invalid": String(judgement === "wrong" || judgement === "text"),
            oninput(/** @type {Event} */ { target }) {
              typed.set(key(step, head, i, j), /** @type {HTMLInputElement} */ (target).value);
              again();
              const now = verdict(step, head, i, j);
              if (now !== "empty") announce(words()[now]);
            },
          });
          return el("td", { key: j, className: "fill-in", "data-verdict": judgement, "data-at": `${i},${j}` }, input, judgement === "right" && el("span", { className: "tick", "aria-hidden": "true" }, "✓"));
        }),
      );
    },
  };
}

/** @typedef {{lab: Lab, answer: Answer, before: Answer | null}} Computed  before: of the order as written */

/** The largest number of columns of tables side by side. */
const ROOM = 5;

/** The formatter of numbers. @param {Lab} lab */
export const numberFormat = (lab) => (lab.fractions ? fractional : plainly);

/**
 * @param {import("../../core/figure/types.js").PageContext} page
 * @param {{get: () => Lab, change: (next: Lab, subject?: string) => void, offered: (step: string) => boolean, row?: number}} editor
 *   row: the query that the summary is about, if there is such; absent: that with the largest weight
 * @param {number} idle  milliseconds after which steps out of view are drawn
 */
export function createSteps(page, { get, change, offered, row = Infinity }, idle) {
  const { t, phrase, theme } = page;
  const about = h("div", { className: "lab-finding", role: "status" });
  const list = h("ol", { className: "worked" });
  const old = h("p", { className: "problem", role: "status", hidden: true });
  const element = h("div", { className: "lab-steps", role: "group", "aria-label": t("Steps"), tabIndex: -1 }, old, about, list);
  const exercise = createExercise(page, { again: () => computed && show(computed), row: (step, row) => change({ ...get(), hidden: { ...get().hidden, [step]: row } }) });
  /** @type {Computed | null} */
  let computed = null;
  /** One item per step, by id. @type {Map<string, HTMLLIElement>} */
  const items = new Map();
  /**
   * The formula of each step, rendered again only if it changes.
   * @type {Map<string, {of: string, math: Element}>}
   */
  const set = new Map();
  /** Steps scrolled out of view. @type {Set<string>} */
  const away = new Set();
  // They are drawn when typing pauses, or when they come into view.
  const drawRest = debounce(() => computed && draw(computed, () => true), idle);
  list.addEventListener("contentvisibilityautostatechange", (event) => {
    const { skipped, target } = /** @type {ContentVisibilityAutoStateChangeEvent} */ (event);
    const { of = "" } = /** @type {HTMLElement} */ (target).dataset;
    skipped ? away.add(of) : away.delete(of);
    if (!skipped) drawRest.now();
  });

  element.addEventListener("click", ({ target }) => {
    const { hide, reveal } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    const { hidden } = get();
    if (hide) change({ ...get(), hidden: { ...hidden, [hide]: 0 } });
    if (reveal) change({ ...get(), hidden: Object.fromEntries(Object.entries(hidden).filter(([id]) => id !== reveal)) });
  });

  /** @param {Computed} next */
  function show(next) {
    computed = next;
    const { lab, answer, before } = next;
    render(about, sentences(next).map((words, i) => el("p", { key: i, className: i ? "" : "finding" }, words)), before && shuffleTable(lab, answer, before));
    draw(next, ({ id }) => !away.has(id) || onPaper(document));
    if (away.size) drawRest.later();
  }

  /** @param {Computed} next @param {(step: Step) => boolean} due  whether its numbers are written now */
  function draw({ lab, answer }, due) {
    const steps = shownSteps(lab, answer, t).filter(({ id }) => offered(id));
    render(list, ...steps.map((step) => {
      const old = items.get(step.id);
      return old && !due(step) ? old : item(lab, step, old);
    }));
  }

  /** @param {Computed} next @returns {Child[][]} */
  function sentences({ lab, answer, before }) {
    const { query, key, weight, head } = largestWeight(lab, answer, row < lab.tokens.length ? row : null);
    const values = { query: el("b", { className: "as-query" }, query), key: el("b", { className: "as-key" }, key), weight: two(weight), n: head + 1 };
    const sentence = lab.heads > 1 ? t("In head {n}, {query} looks most at {key}: {weight}.") : t("{query} looks most at {key}: {weight}.");
    const first = "weights" in lab.hidden ? [t("Compute the hidden numbers by hand.")] : phrase(sentence, values);
    if (!before) return offered("weights") ? [first] : [];
    const changed = outputChanges(lab, answer, before).some(Boolean);
    const outcome = changed
      ? t("The words are shuffled and their outputs change: here the order matters.")
      : t("The words are shuffled, and each has the same output as before: attention alone does not know the order.");
    return [[outcome], first];
  }

  /**
   * How much each token's output has changed.
   * @param {Lab} lab
   * @param {Answer} answer
   * @param {Answer} before
   */
  const shuffleTable = (lab, answer, before) =>
    numberTable({ title: t("Largest change of each word’s output"), values: [outputChanges(lab, answer, before)], rows: [""], cols: lab.tokens, scale: "signed" }, theme(), t);

  /** @param {Step} step */
  function math({ id, formula }) {
    const of = JSON.stringify(formula);
    const rendered = set.get(id);
    if (rendered?.of === of) return rendered.math;
    const formulaElement = mathml(document, formula);
    set.set(id, { of, math: formulaElement });
    return formulaElement;
  }

  /** @param {Lab} lab @param {Step} step @param {HTMLLIElement} [li]  as it was drawn before */
  function item(lab, step, li = h("li", { "data-of": step.id })) {
    const { id, name, tables, scale } = step;
    const isExercise = id in lab.hidden && scale !== "mask"; // there is nothing to compute
    const tableElements = isExercise ? exercise.tables(step, lab.hidden[id]) : tables.map((table) => numberTable({ ...table, scale }, theme(), t, numberFormat(lab)));
    items.set(id, li);
    li.className = `step is-${id.replace(".", "-")}${tables[0].cols.length > ROOM ? " wide" : ""}`;
    render(
      li,
      el(
        "div",
        { className: "step-head" },
        el("h2", {}, name),
        math(step),
        isExercise
          ? el("button", { key: "turn", type: "button", className: "button quiet", "data-reveal": id }, t("Reveal"))
          : scale !== "mask" && el("button", { key: "turn", type: "button", className: "button quiet", "data-hide": id, "aria-label": t("Hide {step} as an exercise", { step: name }) }, t("Hide")),
      ),
      isExercise && exercise.task(step, lab.hidden[id]),
      el("div", { className: "heads" }, tableElements.map((table, head) => el("div", { key: head, className: "head", "data-head": head }, table))),
    );
    return li;
  }
  /** Mark the steps as outdated because a cell is not a number. @param {boolean} on */
  function stale(on) {
    old.hidden = !on;
    element.classList.toggle("stale", on);
    write(old, computed ? t("A marked cell cannot be used: the steps still show the previous numbers.") : t("A marked cell cannot be used. Correct it to see the steps."));
  }
  return { element, show, stale, busy: (/** @type {boolean} */ on) => element.setAttribute("aria-busy", String(on)) };
}
