/** What the zoo's models are given: the task, and a typed text or a drawn example. */

import { bindTyping, radios } from "../core/figure/controls.js";
import { wording } from "../core/figure/problem-wording.js";
import { WHO_IS_IT, changedName, taskDoes, taskName, taskTakes, unitName } from "../core/store/examples-and-tasks.js";
import { el, find, render } from "../lib/dom.js";

/** @import { Zoo, ZooState } from "./zoo-link.js" */
/** @import { ZooExampleReply } from "../core/wire/schemas.d.ts" */

/**
 * The first input of each task: a given sentence, or an example of a length.
 * @type {Record<string, {source?: string, length?: number, seed?: number}>}
 */
const FIRST = {
  who: { source: WHO_IS_IT },
  addition: { source: "27+58" },
};
const USUAL = { length: 6, seed: 1 };

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("./zoo-link.js").Zoo} zoo
 * @param {{draw: (length: number) => void, ask: (source: string) => void}} listener
 */
export function bindInput({ t }, zoo, { draw, ask }) {
  const form = /** @type {HTMLFormElement} */ (find("#ask"));
  const box = /** @type {HTMLInputElement} */ (find("#source"));
  const length = /** @type {HTMLSelectElement} */ (find("#length"));
  const message = find("#source-says");
  let task = "";
  bindTyping(box, { submit: () => box.value.trim() && ask(box.value) });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    draw(Number(length.value));
  });

  /** @param {string} next @param {number} chosen  length */
  function lengths(next, chosen) {
    task = next;
    const models = zoo.models.filter((model) => model.task === task);
    const tested = [...new Set(models.flatMap(({ seeds }) => seeds.flatMap(({ accuracy }) => Object.keys(accuracy).map(Number))))];
    const longest = Math.max(...models.map(({ trained }) => trained[1]));
    const named = (/** @type {number} */ n) => (n > longest ? t("{n} (longer than trained)", { n }) : String(n));
    const unit = find("#unit");
    unit.textContent = unitName(t, zoo.tasks.find(({ id }) => id === task)?.unit ?? "");
    render(length, tested.sort((a, b) => a - b).map((n) => el("option", { key: n, value: String(n) }, named(n))));
    length.value = String(tested.includes(chosen) ? chosen : longest);
  }

  return {
    /** @param {string} task */
    first: (task) => FIRST[task] ?? USUAL,
    /** Start with the text of a link. @param {string} task @param {string} source */
    open(task, source) {
      form.hidden = false;
      box.value = source;
      lengths(task, USUAL.length);
    },
    waits: () => form.setAttribute("aria-busy", "true"),
    /** @param {import("../core/wire/reply.js").Problem} problem */
    fails(problem) {
      form.removeAttribute("aria-busy");
      box.setAttribute("aria-invalid", "true");
      const typed = problem.kind === "not-of-task" || problem.kind === "too-long";
      render(message, el("span", { className: "wrong" }, typed ? taskTakes(t, task) : wording(t, problem)));
    },
    /** @param {ZooExampleReply} example */
    show(example) {
      form.removeAttribute("aria-busy");
      box.removeAttribute("aria-invalid");
      // Do not interfere with typing: replace the text only if it differs.
      if (plain(box.value) !== plain(example.source) || document.activeElement !== box) box.value = example.source;
      if (task !== example.task) lengths(example.task, USUAL.length);
      const heldOut = example.held_out ? t("No model was trained on this input.") : t("A model may have been trained on this input.");
      render(message, t("Right answer:"), " ", el("b", { lang: "en", className: "answer" }, example.target), " ", el("span", { className: "note" }, heldOut));
    },
  };
}

/** @param {string} text */
const plain = (text) => text.replace(/\s/g, "").toLowerCase();

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {Zoo} zoo
 * @param {{get: () => ZooState, change: (next: ZooState) => void}} listener
 */
export function bindChoices({ t }, zoo, { get, change }) {
  const root = find("#choices");
  const tasks = zoo.tasks.map(({ id }) => id).filter((id) => zoo.models.some(({ task }) => task === id));
  root.addEventListener("change", ({ target }) => {
    const { name, value, checked } = /** @type {HTMLInputElement} */ (target);
    const state = get();
    if (name === "task") return change({ ...state, task: value });
    const models = checked ? [...state.models, value] : state.models.filter((name) => name !== value);
    if (models.length) change({ ...state, models: ordered(zoo, models) });
    else show();
  });

  function show() {
    const { task, models } = get();
    const names = Object.fromEntries(tasks.map((id) => [id, taskName(t, id)]));
    const boxes = zoo.models.filter((model) => model.task === task).map(({ name, changed }) =>
      el(
        "label",
        { key: name },
        el("input", { type: "checkbox", className: "hidden", name: "model", value: name, checked: models.includes(name) }),
        el("span", {}, changedName(t, changed)),
      ),
    );
    render(
      root,
      group("task", t("Task"), radios("task", names, task)),
      group("model", t("Models"), boxes),
    );
    find("#does").textContent = taskDoes(t, task);
  }
  return { show };
}

/** Sort models in the order of the zoo. @param {Zoo} zoo @param {string[]} models */
const ordered = (zoo, models) => zoo.models.map(({ name }) => name).filter((name) => models.includes(name));

/** @param {string} key @param {string} label @param {import("../lib/dom.js").Described[]} list */
const group = (key, label, list) =>
  el("fieldset", { key, className: "option" }, el("legend", {}, label), el("div", { className: "choice" }, ...list));
