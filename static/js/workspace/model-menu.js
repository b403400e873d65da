/** Choose the model: those that translate, and those of the zoo, grouped by task. */

import { examplesOf } from "../core/store/examples.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { NO_B } from "../compare-models/model-comparison.js";
import { called, grouped, headed, taskOf } from "../core/store/model-names.js";
import { taskDoes } from "../core/store/zoo-names.js";

/** @import { Desk } from "./types.js" */
/** @import { ModelInfo } from "../core/wire/model.js" */

/**
 * @param {Desk} context
 * @param {() => Promise<ModelInfo[]>} models  all models being served, the default first
 */
export function bindModelMenu({ store, t }, models) {
  const menu = /** @type {HTMLSelectElement} */ (find("#model"));
  const does = find(".tagline");
  const plain = does.textContent ?? "";
  const sides = [find("label[for='source']"), document.querySelector(".band .side + .side .name")];
  const usual = sides.map((one) => one?.textContent ?? "");
  /** @type {ModelInfo[]} */
  let list = [];

  menu.addEventListener("change", () => {
    const [before, after] = [store.get().model, list.find(({ id }) => id === menu.value)];
    if (after) store.go({ ...linkTo(store.get().link, before, after), model: after.id === list[0].id ? null : after.id }, "chosen");
  });

  function show() {
    const { model, share, link } = store.get();
    const zoo = model?.zoo;
    does.textContent = does.title = zoo ? taskDoes(t, zoo.task) : plain;
    const names = zoo ? [t("Input"), t("Answer")] : usual;
    sides.forEach((one, i) => one && (one.textContent = names[i]));
    // The model of a share cannot be changed.
    menu.hidden = list.length < 2 || share !== null;
    menu.value = (list.find(({ id }) => id === (link.model ?? "")) ?? list[0])?.id ?? "";
  }

  store.subscribe(({ link, model, share }) => [link.model, model, share], show);
  show();
  // Without a list there is no menu; the failure is reported by the request to the model.
  void models().then((found) => {
    list = found;
    render(menu, grouped(found).map(({ task, models: own }) => el("optgroup", { label: headed(t, task) }, own.map((one) => el("option", { value: one.id }, called(t, one))))));
    show();
  }, () => {});
}

/**
 * The link for another model: with the same text if it learned the same task, else with its first
 * example, which a model that was compared with may not read. Pins and changes are removed, because
 * they belonged to the other model.
 * @param {import("../core/store/link.js").State} link
 * @param {ModelInfo | null} before
 * @param {ModelInfo} after
 * @returns {Partial<import("../core/store/link.js").State>}
 */
export function linkTo(link, before, after) {
  const alike = before !== null && taskOf(before) === taskOf(after) && !after.prompts?.length;
  const source = alike && link.source.trim() ? link.source : (examplesOf(after, link.lang)[0]?.text ?? "");
  const options = alike ? link.options : { ...link.options, ...NO_B };
  return { source, options, direction: alike ? link.direction : null, target: null, interventions: null, pad_to: null, query: null, key: null };
}
