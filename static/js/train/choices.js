/** The choices for a run (task, mechanisms, training options), and Train. */

import { failure } from "../core/wire/problem.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { remember } from "./keys.js";
import { fields, summary } from "./choice-fields.js";
import { MORE, NUMBERS, asked, taskOf, wrongOf } from "./options.js";

/** @import { RunsReply } from "../core/wire/schemas.d.ts" */
/** @import { Options } from "../core/wire/subject-requests.js" */
/** @import { Problem } from "../core/wire/problem.js" */
/** @typedef {ReturnType<typeof bindChoices>} Choices */

/**
 * @param {import("../workspace/types.js").Desk} desk
 * @param {RunsReply} offered
 * @param {{started: (id: string) => Promise<void>, failed: (problem: Problem) => void, chosen: () => void}} listener
 */
export function bindChoices({ api, t }, offered, { started, failed, chosen }) {
  const form = /** @type {HTMLFormElement} */ (find("#choices"));
  /** The typed values. @type {Record<string, string>} */
  let typed = {};
  /** The server's error for a field. @type {{field: string, words: string} | null} */
  let refused = null;
  /** The snapshot at which the next run starts. @type {{id: string, step: number} | null} */
  let fork = null;
  let busy = false;
  /** Whether the form is collapsed to one line because a run is shown. */
  let folded = false;

  const task = () => taskOf(offered, typed);
  const wrong = (/** @type {string} */ name) => (refused?.field === name ? refused.words : wrongOf(t, { typed, offered, fork }, name));
  const options = () => asked(typed);

  async function train() {
    if (busy) return;
    const bad = [...NUMBERS, ...MORE].find(wrong);
    show();
    if (bad) return focus(bad);
    busy = true;
    show();
    try {
      const made = await (fork ? api.forkRun(fork.id, { step: fork.step, options: options() }) : api.startRun(options()));
      remember(made.id, made.key);
      fork = null;
      void started(made.id);
    } catch (error) {
      const problem = failure(error);
      const field = problem.field.split(".").at(-1) ?? "";
      refused = field in typed ? { field, words: wording(t, problem) } : null;
      if (!refused) failed(problem);
    }
    busy = false;
    show();
  }

  /** @param {string} name */
  function focus(name) {
    const field = find(`[name="${name}"]`, form);
    field.closest("details")?.setAttribute("open", "");
    field.focus();
  }

  /** Collapse to one line; its button has the focus if the one that started the run had it. */
  function fold() {
    const inside = form.contains(document.activeElement);
    render(form, el("p", { key: "summary" }, summary(t, typed, offered)), el("button", { key: "unfold", className: "button", type: "button", "data-unfold": "" }, t("New run…")));
    if (inside) find("button", form).focus();
  }

  function show() {
    form.toggleAttribute("data-folded", folded);
    if (folded) return fold();
    render(form, fields(t, { typed, offered, wrong, fork, busy }));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void train();
  });
  form.addEventListener("input", ({ target }) => {
    const { name, value } = /** @type {HTMLInputElement} */ (target);
    if (!(name in typed)) return;
    if (name === "task" && value !== typed.task) typed.longest = String(offered.tasks[value].usual);
    typed[name] = value;
    refused = null;
    show();
    chosen();
  });
  form.addEventListener("click", ({ target }) => {
    const { cancel, unfold } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    if (cancel === undefined && unfold === undefined) return;
    fork = null;
    folded = cancel !== undefined;
    show();
    if (!folded) focus("task");
  });

  return {
    /**
     * @param {Record<string, string | number | null>} given  unknown values are left out
     * @param {boolean} [fold]  collapse to one line
     */
    fill(given, fold = false) {
      folded = fold;
      const known = Object.entries({ ...offered.defaults, ...given }).filter(([name]) => name in offered.defaults);
      typed = Object.fromEntries(known.map(([name, value]) => [name, value === null ? "" : String(value)]));
      if (!(typed.task in offered.tasks)) typed.task = String(offered.defaults.task);
      typed.longest ||= String(task().usual);
      refused = null;
      show();
    },

    /** The options that differ from the defaults. @returns {Options} */
    changed() {
      /** @type {Options} */
      const usual = { ...offered.defaults, longest: task().usual };
      return Object.fromEntries(Object.entries(typed).filter(([name, value]) => String(usual[name]) !== value));
    },

    /** Let the next run start at a snapshot. @param {{id: string, step: number}} at */
    fork(at) {
      fork = at;
      folded = false;
      if (Number(typed.steps) <= at.step) typed.steps = String(Math.min(at.step * 2, offered.ranges.steps.high));
      show();
      find("[type=submit]", form).focus();
    },
  };
}
