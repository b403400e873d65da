/** What is changed in the model, on every view: a chip each, which goes with a click. */

import { blamed, changes, labelOf, plainly, worded } from "../state/interventions.js";
import { find, h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { quoted } from "../draw/token.js";
import { editModel } from "../state/set-interventions.js";

/** @typedef {import("../state/types.js").Context} Context */
/** @typedef {import("../state/interventions.js").Change} Change */

/** @param {Context} context */
export function bindChanges(context) {
  const { store, t } = context;
  const bar = find("#changes");
  const list = h("ol", { className: "change-chips", role: "list" });
  const all = h("button", { type: "button", className: "button quiet" }, t("Undo all"));
  const wrong = h("p", { className: "change-problem", role: "alert", hidden: true });
  const { clear, drop, fixed } = editModel(context);
  bar.append(h("b", {}, t("Changed model")), list, all, wrong);
  all.addEventListener("click", () => {
    clear();
    find("#stage").focus();
  });

  /** @param {Change} change @param {number} index @param {boolean} bad */
  function chip(change, index, bad) {
    const label = t("Undo: {change}", { change: plainly(change, store.get(), t) });
    const onclick = () => {
      drop(index);
      /** @type {HTMLElement | null} */ (list.querySelector("button") ?? find("#stage"))?.focus();
    };
    return el(
      "li",
      { className: bad ? "change-chip bad" : "change-chip" },
      el("span", {}, named(context, change)),
      !fixed() && el("button", { type: "button", title: t("Undo"), "aria-label": label, onclick }, "×"),
    );
  }

  function show() {
    const { link, problem, status } = store.get();
    const present = changes(link);
    bar.hidden = !present.length;
    document.documentElement.toggleAttribute("data-changed", present.length > 0);
    const blame = status === "failed" ? blamed(problem) : null;
    render(list, present.map((one, i) => chip(one, i, blame === i || blame === -1)));
    all.hidden = fixed();
    wrong.hidden = blame === null;
    wrong.textContent =
      blame === null ? "" : t("The model cannot be changed like this: {detail}. Undo what is marked, and it runs.", { detail: problem?.detail ?? "" });
  }

  store.subscribe(
    ({ link, trace, problem, status, share }) => [link.interventions, trace?.id, problem, status, share],
    show,
  );
  show();
}

/**
 * A change in words, its tokens in their language.
 * @param {Context} context
 * @param {Change} change
 * @returns {(string | import("../lib/render.js").Described)[]}
 */
function named({ store, say, t }, change) {
  const { trace, link, model } = store.get();
  const { words, values } = worded(change, t, model);
  const nodes = Object.entries(values).map(([name, value]) => {
    if (name === "sentence") return [name, el("span", { lang: /\p{Script=Han}/u.test(String(value)) ? "zh-Hans" : "en" }, String(value))];
    if (typeof value === "string") return [name, value];
    const label = labelOf(trace, value);
    const said = label ? quoted(label) : t("token {n}", { n: Number(value.index) + 1 });
    const side = name === "token" ? "as-key" : `as-${name}`;
    return [name, el("span", { className: side, lang: label ? undefined : link.lang === "zh" ? "zh-Hans" : "en" }, said)];
  });
  return say(words, Object.fromEntries(nodes));
}
