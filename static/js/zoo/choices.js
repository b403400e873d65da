/** Choose a task and its models. */

import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { radios } from "../core/figure/controls.js";
import { changedName, taskDoes, taskName } from "../core/store/zoo-names.js";

/** @import { Zoo, ZooState } from "./link.js" */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {Zoo} zoo
 * @param {{get: () => ZooState, change: (next: ZooState) => void}} desk
 */
export function bindChoices({ t }, zoo, { get, change }) {
  const root = find("#choices");
  const tasks = zoo.tasks.map(({ id }) => id).filter((id) => zoo.models.some(({ task }) => task === id));
  root.addEventListener("change", ({ target }) => {
    const { name, value, checked } = /** @type {HTMLInputElement} */ (target);
    const state = get();
    if (name === "task") return change({ ...state, task: value });
    const models = checked ? [...state.models, value] : state.models.filter((one) => one !== value);
    if (models.length) change({ ...state, models: ordered(zoo, models) });
    else show();
  });

  function show() {
    const { task, models } = get();
    const names = Object.fromEntries(tasks.map((id) => [id, taskName(t, id)]));
    const boxes = zoo.models.filter((one) => one.task === task).map(({ name, changed }) =>
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

/** @param {string} key @param {string} label @param {import("../lib/render.js").Described[]} list */
const group = (key, label, list) =>
  el("fieldset", { key, className: "option" }, el("legend", {}, label), el("div", { className: "choice" }, ...list));
