/**
 * The lab as a figure: controls, matrices and every step that the server computes from them. A page
 * can have several: all ids are unique, and `destroy` removes all listeners.
 */

import { problemLine } from "../../core/figure/figure-status.js";
import { createAsker } from "../../core/wire/connection.js";
import { Problem } from "../../core/wire/reply.js";
import { h } from "../../lib/dom.js";
import { debounce, throttle } from "../../lib/timing.js";
import { invalidCells, labRequest } from "../lab-link.js";
import { unshuffled } from "../matrices.js";
import { createChoices, createMatrices } from "./controls.js";
import { bindPointing } from "./pointing.js";
import { createSteps } from "./step-results.js";

/** @import { Answer } from "../steps.js" */
/** @import { Computed } from "./step-results.js" */
/** @import { Lab } from "../matrices.js" */

/** Undo and redo for pages with their own state. */

const MAX_STEPS_BACK = 200;

/** @template T @param {T} first */
export function createHistory(first) {
  let present = first;
  let last = "";
  /** @type {T[]} */
  let past = [];
  /** @type {T[]} */
  let future = [];
  return {
    present: () => present,
    /** @param {T} next @param {string} [subject]  changes of the same thing in a row are one */
    change(next, subject = "") {
      if (!subject || subject !== last) past = [...past, present].slice(-MAX_STEPS_BACK);
      [present, last, future] = [next, subject, []];
    },
    undo() {
      if (!past.length) return;
      future.push(present);
      present = /** @type {T} */ (past.pop());
      last = "";
    },
    redo() {
      if (!future.length) return;
      past.push(present);
      present = /** @type {T} */ (future.pop());
      last = "";
    },
    undoable: () => past.length > 0,
    redoable: () => future.length > 0,
  };
}

/**
 * @typedef {object} Plan
 * @property {HTMLElement} root  its container, emptied when it is destroyed
 * @property {import("../../core/figure/types.js").PageContext} page
 * @property {Lab} lab  the initial state
 * @property {((request: object, signal?: AbortSignal) => Promise<Answer>) | null} compute  sends
 *   POST /api/lab; null: no server, and read-only
 * @property {{answer: Answer, before: Answer | null} | null} [known]  the computed steps of `lab`
 * @property {boolean | string[]} [choices]  whether controls are shown, or only which
 * @property {string[]} [about]  the matrices and steps that are shown; empty: all
 * @property {number} [row]  the query that the sentence above the steps is about; absent: that with
 *   the largest weight
 * @property {import("./controls.js").Beside | null} [beside]  more examples for the menu
 * @property {(lab: Lab) => void} [onChange]  called with each state, including the first, and also
 *   if cells are not numbers
 * @property {(problem: Problem | null) => void} [onReply]  called after each request: null, or why
 *   it failed
 */
/** @typedef {ReturnType<typeof createLabFigure>} LabFigure */

/** Milliseconds between two requests while typing. */
const PACE = 60;
/** Milliseconds after the last key until less urgent parts are drawn. */
const IDLE = 120;

let figureCount = 0;

/** @param {Plan} plan */
export function createLabFigure({ root, page, lab, compute, known: knownResult = null, choices: choosing = true, about = [], row, beside = null, onChange = () => {}, onReply = () => {} }) {
  const idPrefix = `lab-${++figureCount}`;
  const past = createHistory(lab);
  const asker = createAsker();
  const failed = problemLine(page, () => void ask());
  const stand = h("div", { className: "lab-figure" });
  const { offered, button: restButton } = choice(about, page.t, redraw);
  const editor = { get: past.present, change, step, again: () => show(), idPrefix, root: stand, fixed: !compute, beside, offered, row, ...(Array.isArray(choosing) ? { only: choosing } : {}) };
  const choices = createChoices(page, editor);
  const matrices = createMatrices(page, editor);
  const steps = createSteps(page, editor, IDLE);
  /** @type {Computed | null} */
  let computed = knownResult && { lab, ...knownResult };
  let computedKey = knownResult ? keyOf(lab) : "";
  let waiting = false;
  stand.append(...(choosing ? [choices.element] : []), failed.element, h("div", { className: "lab-body" }, matrices.element, steps.element));
  root.replaceChildren(stand);
  const pointing = bindPointing(stand, page, () => computed);
  const asking = throttle(() => void ask(), PACE);
  const menus = debounce(() => choices.show(past.present(), past), IDLE);

  /**
   * Send one request at a time; what is typed meanwhile is sent when the reply arrives. If a newer
   * request cancelled the older one, someone who types faster than a busy server replies would see
   * nothing.
   */
  async function ask() {
    if (!compute || waiting || Object.keys(invalidCells(past.present())).length) return;
    if (keyOf(past.present()) === computedKey) return draw();
    waiting = true;
    steps.busy(true);
    let lab = past.present();
    const reply = await asker.ask((signal) => labReplies(compute, (lab = latest(lab)), signal), failed.show);
    waiting = false;
    if (reply === null) return;
    const newer = keyOf(latest(lab)) !== keyOf(lab);
    steps.busy(newer);
    failed.show(reply instanceof Problem ? reply : null);
    if (!(reply instanceof Problem)) {
      computedKey = keyOf(lab);
      computed = { lab, ...reply };
      draw();
    }
    if (newer) asking.later();
    onReply(reply instanceof Problem ? reply : null);
  }

  /**
   * The current state, or `otherwise` if one of its cells is not a number.
   * @param {Lab} otherwise
   */
  function latest(otherwise) {
    const present = past.present();
    return Object.keys(invalidCells(present)).length ? otherwise : present;
  }

  function draw() {
    if (!computed) return;
    const present = past.present();
    // Hidden steps and number formats need no request.
    if (keyOf(present) === computedKey) computed = { ...computed, lab: present };
    steps.show(computed);
    pointing.show();
  }

  /** @param {boolean} [typed]  into a cell */
  function show(typed = false) {
    const present = past.present();
    const wrong = invalidCells(present);
    const right = !Object.keys(wrong).length;
    const away = Boolean(beside?.shown());
    stand.classList.toggle("gives-way", away);
    if (right && !away) asking.later(); // first, so that the server computes while the page is drawn
    matrices.show(present, wrong);
    onChange(present);
    menus.later();
    if (!typed) menus.now();
    steps.stale(!right);
    if (right && keyOf(present) === computedKey) draw();
  }

  /** @param {Lab} next @param {string} [subject]  changes of one thing in a row are undone together */
  function change(next, subject) {
    past.change(next, subject);
    show(Boolean(subject));
  }

  /** @param {"undo" | "redo"} direction */
  function step(direction) {
    past[direction]();
    show();
  }

  function redraw() {
    matrices.show(past.present(), invalidCells(past.present()));
    draw();
  }

  const untheme = page.onTheme(redraw);
  show();
  return {
    lab: past.present,
    /** The button that shows all matrices and steps, for the page to place; hidden if all are shown. */
    rest: restButton,
    /** What is on the screen; null before the first reply. */
    computed: () => computed,
    pointing: pointing.pointing,
    go: change,
    /** Redraw, after another example of `beside` was chosen. */
    again: () => show(),
    /** Remove it from the page with all listeners. */
    destroy() {
      untheme();
      asking.cancel();
      menus.cancel();
      asker.stop();
      stand.remove();
    },
  };
}

/**
 * Which matrices and steps are shown, and the button that shows all.
 * @param {string[]} about
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {() => void} redraw
 */
function choice(about, t, redraw) {
  let whole = !about.length;
  const button = h("button", { type: "button", className: "button quiet", "aria-expanded": "false", hidden: whole }, t("All matrices and steps"));
  button.addEventListener("click", () => {
    whole = !whole;
    button.setAttribute("aria-expanded", String(whole));
    redraw();
  });
  return { offered: (/** @type {string} */ name) => whole || about.includes(name), button };
}

/** The key of a request. @param {Lab} lab */
const keyOf = (lab) => JSON.stringify([labRequest(lab), lab.order]);

/**
 * The reply, and the one for the original order if words are shuffled.
 * @param {NonNullable<Plan["compute"]>} compute
 * @param {Lab} lab
 * @param {AbortSignal} [signal]
 */
export async function labReplies(compute, lab, signal) {
  const labs = lab.order.length ? [lab, unshuffled(lab)] : [lab];
  const [answer, before = null] = await Promise.all(labs.map((state) => compute(labRequest(state), signal)));
  return { answer, before };
}
