/**
 * The changes to the model, in every view: one chip per change, removed by a click; and a switch
 * between the changed model and the model as trained, with a label above the figure.
 */

import { blamed, changes, labelOf, plainly, worded } from "../core/store/interventions.js";
import { find, h, write } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { quoted } from "../core/draw/token.js";
import { radios } from "../core/figure/controls.js";
import { shownAs } from "../core/store/two-runs.js";
import { view } from "../views/index.js";
import { editModel } from "../core/store/set-interventions.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Change } from "../core/store/interventions.js" */

/** @param {Context} context */
export function bindChanges(context) {
  const { store, t } = context;
  const bar = find("#changes");
  const list = h("ol", { className: "change-chips", role: "list" });
  const all = h("button", { type: "button", className: "button quiet" }, t("Undo all"));
  const wrong = h("p", { className: "change-problem", role: "alert", hidden: true });
  const { clear, drop, fixed } = editModel(context);
  const names = { trained: t("As trained"), changed: t("Changed") };
  const flip = h("fieldset", { className: "choice which-run" }, h("legend", { className: "hidden" }, t("Run that is shown")));
  const says = h("b", { className: "shown-as", hidden: true });
  bar.append(h("b", {}, t("Changed model")), list, flip, all, wrong);
  find(".saying").prepend(says);
  flip.addEventListener("change", ({ target }) => {
    const as = /** @type {"trained" | "changed"} */ (/** @type {HTMLInputElement} */ (target).value);
    store.choose({ as }, "chosen");
    context.announce(as === "trained" ? t("This is the model as trained.") : t("This is the changed model."));
  });
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
    which(present.length > 0);
    wrong.hidden = blame === null;
    wrong.textContent =
      blame === null ? "" : t("The model cannot be changed like this: {detail}. Undo what is marked, and it runs.", { detail: problem?.detail ?? "" });
  }

  /** @param {boolean} changed */
  function which(changed) {
    const page = store.get();
    const { frame, subject } = view(page.link.view);
    const as = shownAs(page.link);
    const lacks = page.share !== null && !page.live && !page.runs.trained;
    // A share or a handout may hold one run only: then there is nothing to choose.
    flip.hidden = !changed || lacks || Boolean(frame.compares || subject);
    render(flip, flip.firstElementChild, radios(context.own("as"), names, as));
    says.hidden = !changed || Boolean(frame.compares);
    says.dataset.as = subject ? "trained" : as;
    write(says, subject ? t("Without the changes") : names[as]);
  }

  store.subscribe(
    ({ link, trace, problem, status, share, live, runs }) =>
      [link.interventions, link.options.as, link.view, trace?.id, problem, status, share, live, runs.trained],
    show,
  );
  show();
}

/**
 * A change in words, with the language of its tokens.
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
