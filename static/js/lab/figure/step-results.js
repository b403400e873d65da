/** The computed steps: name, formula and numbers, or a row to fill in. */

import { mathml } from "../../core/compute/formula.js";
import { onPaper } from "../../core/draw/matrix-canvas.js";
import { numberTable } from "../../core/figure/number-table.js";
import { el, h, render, write } from "../../lib/dom.js";
import { fractional, plainly, two } from "../../lib/numbers.js";
import { debounce } from "../../lib/timing.js";
import { outputChanges } from "../matrices.js";
import { largestWeight, shownSteps } from "../steps.js";
import { createExercise } from "./exercise.js";

/** @import { Answer, Step } from "../steps.js" */
/** @import { Child } from "../../lib/dom.js" */
/** @import { Lab } from "../matrices.js" */

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
