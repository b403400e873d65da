/** Navigation through the stages (list, buttons, keys), printing and copying. */

import { across } from "../../core/wire/attentions.js";
import { pair } from "../../core/store/highlight.js";
import { h } from "../../lib/dom.js";
import { onSteps } from "../../core/figure/pointing.js";
import { copyText } from "../../lib/browser.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Stage } from "./sheet-model.js" */

/** Elements that use arrows or Space themselves. */
const TAKES = "input, textarea, select, [contenteditable], [role='region']";

/**
 * A stage in the list: its number, name and result, and whether it agrees.
 * @param {Context} context
 * @param {Stage} stage
 * @param {number} number
 * @param {(id: string) => void} choose
 */
export function entry({ t }, { id, title, result, check }, number, choose) {
  const agrees = check && h("span", { className: check.agrees ? "tick" : "tick differs" }, check.agrees ? "✓" : "✗ " + t("differs"));
  if (check?.agrees) agrees?.append(h("span", { className: "hidden" }, t("agrees")));
  const button = h(
    "button",
    { type: "button" },
    h("span", { className: "nth" }, String(number)),
    h("span", { className: "title" }, title),
    h("span", { className: "out" }, result),
    agrees,
  );
  button.dataset.stage = id;
  button.addEventListener("click", () => choose(id));
  return h("li", {}, button);
}

/**
 * @param {Context} context
 * @param {{go: (by: number) => void, choose: (id: string) => void, text: () => string}} actions
 */
export function toolbar({ t }, { go, choose, text }) {
  const button = (/** @type {string} */ says, /** @type {() => void} */ act, className = "button") => {
    const made = h("button", { type: "button", className }, says);
    made.addEventListener("click", act);
    return made;
  };
  const back = button("← " + t("Previous"), () => go(-1));
  const on = button(t("Next") + " →", () => go(1));
  const count = h("span", { className: "where" });
  let [now, first] = ["", "input"];
  const all = button(t("Show all"), () => choose(now === "all" ? first : "all"), "button quiet");
  const copied = h("span", { className: "copied", role: "status" });
  const copy = button(t("Copy as text"), async () => {
    copied.textContent = (await copyText(text())) ? t("Copied.") : t("This browser does not allow pages to copy.");
  }, "button quiet");
  const print = button(t("Print"), () => window.print(), "button quiet");
  const element = h(
    "div",
    { className: "turning", role: "group", "aria-label": t("Stages") },
    h("div", { className: "paging" }, back, count, on),
    all,
    h("div", { className: "take" }, copy, print, copied),
  );
  return {
    element,
    /** @param {string} step @param {string[]} ids */
    show(step, ids) {
      [now, first] = [step, ids[0]];
      const at = ids.indexOf(step);
      back.disabled = at === 0;
      on.disabled = at === ids.length - 1;
      count.textContent = at < 0 ? t("all {count}", { count: ids.length }) : t("{n} of {count}", { n: at + 1, count: ids.length });
      all.setAttribute("aria-pressed", String(step === "all"));
      copied.textContent = "";
    },
  };
}

/**
 * @param {Context} context
 * @param {(by: number) => void} go
 * @returns {() => void}  unbinds the keys
 */
export const bindKeys = ({ store, keys }, go) =>
  onSteps(keys, {
    projector: () => store.get().link.options.projector === true,
    takes: { arrows: TAKES, space: TAKES },
    go,
    space: (back) => go(back ? -1 : 1),
  });

/** Go to the next attention of the same layer, for the same token. @param {Context} context */
export function onward({ store, t }) {
  const button = h("button", { type: "button", className: "button" }, t("Continue with cross-attention") + " →");
  button.addEventListener("click", () => {
    const { link } = store.get();
    store.go({ block: across(store.get().model).id, query: pair(store.get())?.query ?? null, key: null, options: { ...link.options, step: "input" } }, "chosen");
  });
  return button;
}
