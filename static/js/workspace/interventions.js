/**
 * The changes to the model, in every view: what they did, in a sentence; one chip per change, removed
 * by a click; and a switch between the changed model and the model as trained, with a label above
 * the figure.
 */

import { quoted } from "../core/draw/token.js";
import { radios } from "../core/figure/controls.js";
import { pairIn, heatmapOf, tokenAt } from "../core/store/heatmap-data.js";
import { blamedIndex, changes, withSameTarget, labelOf, plainChange, touchesHead, changeWording } from "../core/store/interventions.js";
import { editModel } from "../core/figure/change-controls.js";
import { runKind } from "../core/store/runs-with-and-without-changes.js";
import { blockOf, place, typedText } from "../core/wire/model-description.js";
import { el, find, h, render, write } from "../lib/dom.js";
import { view } from "../views/index.js";
import { bindChangeEffect } from "./what-changes-did.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { Context } from "../core/figure/types.js" */
/** @import { PageServices } from "./main-figure.js" */

/** @param {PageServices} context */
export function bindChanges(context) {
  const { store, t } = context;
  const bar = find("#changes");
  const list = h("ol", { className: "change-chips", role: "list" });
  const all = h("button", { type: "button", className: "button quiet" }, t("Undo all"));
  const wrong = h("p", { className: "change-problem", role: "alert", hidden: true });
  const { clear, drop, fixed } = editModel(context);
  const names = { trained: t("As trained"), changed: t("Changed") };
  const flip = h("fieldset", { className: "choice which-run" }, h("legend", { className: "hidden" }, t("Run that is shown")));
  const runLabel = h("b", { className: "shown-as", hidden: true });
  const { sentence, search } = bindChangeEffect(context);
  bar.append(sentence, h("div", { className: "change-row" }, h("b", {}, t("Changed model")), list, flip, all, search), wrong);
  find(".saying").prepend(runLabel);
  // Room below the page for the bar, which lies over it.
  new ResizeObserver(() => document.documentElement.style.setProperty("--changes", `${bar.offsetHeight}px`)).observe(bar);
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
    const label = t("Undo: {change}", { change: plainChange(change, store.get(), t) });
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
    const blame = status === "failed" ? blamedIndex(problem) : null;
    render(list, present.map((change, i) => chip(change, i, blame === i || blame === -1)));
    all.hidden = fixed();
    showRunSwitch(present.length > 0);
    wrong.hidden = blame === null;
    wrong.textContent =
      blame === null ? "" : t("The model cannot be changed like this: {detail}. Undo what is marked, and it runs.", { detail: problem?.detail ?? "" });
  }

  /** @param {boolean} changed */
  function showRunSwitch(changed) {
    const page = store.get();
    const { frame, subject } = view(page.link.view);
    const as = runKind(page.link);
    const lacks = page.share !== null && !page.live && !page.runs.trained;
    // A share or a handout may hold one run only: then there is nothing to choose.
    flip.hidden = !changed || lacks || Boolean(frame.compares || subject);
    render(flip, flip.firstElementChild, radios(context.uniqueId("as"), names, as));
    runLabel.hidden = !changed || Boolean(frame.compares);
    runLabel.dataset.as = subject ? "trained" : as;
    write(runLabel, subject ? t("Without the changes") : names[as]);
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
 * @returns {(string | import("../lib/dom.js").Described)[]}
 */
function named({ store, phrase, t }, change) {
  const { trace, link, model } = store.get();
  const { words, values } = changeWording(change, t, model);
  const nodes = Object.entries(values).map(([name, value]) => {
    if (name === "sentence") return [name, el("span", { lang: /\p{Script=Han}/u.test(String(value)) ? "zh-Hans" : "en" }, String(value))];
    if (typeof value === "string") return [name, value];
    const label = labelOf(trace, value);
    const tokenText = label ? quoted(label) : t("token {n}", { n: Number(value.index) + 1 });
    const side = name === "token" ? "as-key" : `as-${name}`;
    return [name, el("span", { className: side, lang: label ? undefined : link.lang === "zh" ? "zh-Hans" : "en" }, tokenText)];
  });
  return phrase(words, Object.fromEntries(nodes));
}

// Buttons for the most common changes, in the inspector; and marks on changed parts.

/** @typedef {"head" | "edge" | "token"} Which */

/** @param {PageServices} context */
export function bindChangeButtons(context) {
  const { store } = context;
  const { on, toggle, fixed } = editModel(context);
  const group = find("#switches");
  const buttons = /** @type {Which[]} */ (["head", "edge", "token"]).map((part) => {
    const button = /** @type {HTMLButtonElement} */ (find(`#switch-${part}`));
    button.addEventListener("click", () => {
      const change = meant(context)[part];
      if (!change) return;
      holdInPlace(button);
      toggle(change);
    });
    return { which: part, button };
  });
  find("#switch-more").addEventListener("click", () => store.go({ view: "whatif" }, "chosen"));

  function show() {
    group.hidden = fixed();
    find("#switch-more").hidden = !context.figure.offer().some(({ id }) => id === "whatif");
    const possible = meant(context);
    for (const { which: part, button } of buttons) {
      const change = possible[part];
      button.disabled = !change;
      button.setAttribute("aria-pressed", String(change !== null && on(change)));
    }
    mark();
  }

  function mark() {
    const { link, model } = store.get();
    if (!model) return;
    const list = changes(link);
    document.querySelectorAll("#heads label").forEach((label, head) =>
      label.classList.toggle("changed", touchesHead(list, place(model, link), head)),
    );
    document.querySelectorAll("#source-tokens .chip").forEach((chip, token) =>
      chip.classList.toggle("unseen", withSameTarget(list, { at: typedText(model), do: { mask: token } }) !== null),
    );
  }

  store.subscribe(({ share, live, link, trace, model }) => [share, live, link, trace, model], show);
}

/** What ends the hold: the reader goes elsewhere. */
const LEAVES = ["pointerdown", "wheel", "touchmove", "keydown"];

/**
 * Scroll so that a pressed button stays under the pointer: its change may give the figure, below which the inspector folds, another height.
 * @param {HTMLElement} button
 */
function holdInPlace(button) {
  const { top } = button.getBoundingClientRect();
  const observer = new ResizeObserver(() => window.scrollBy({ top: button.getBoundingClientRect().top - top, behavior: "instant" }));
  for (const place of document.querySelectorAll("main, .saying, .figure, #view")) observer.observe(place);
  for (const event of LEAVES) window.addEventListener(event, () => observer.disconnect(), { once: true, capture: true });
}

/**
 * What the three buttons do at the pinned pair or, without a pin, the explained one; null if it is
 * not a single head, a single edge, or a token of the sentence.
 * @param {PageServices} context
 * @returns {Record<Which, Change | null>}
 */
function meant({ store }) {
  const page = store.get();
  const read = heatmapOf(page);
  const pair = read && pairIn(page, null, read);
  if (!read || !pair) return { head: null, edge: null, token: null };
  const { model, link } = page;
  const headPlace = { at: place(model, link), head: link.head };
  const [query, key] = [tokenAt(read.rows, pair.row), tokenAt(read.cols, pair.col)];
  const alone = [read.rows.axis.groups[pair.row], read.cols.axis.groups[pair.col]].every((group) => group.length === 1);
  const open = !Number.isNaN(read.matrix.values[pair.row * read.matrix.cols + pair.col]);
  const singleHead = read.choice.pool === "one";
  const { key: text } = blockOf(model, link.block);
  const mask = { at: text, do: { mask: key } };
  return {
    head: singleHead ? { ...headPlace, do: "zero" } : null,
    // A masked or cut edge has no weight to remove.
    edge: singleHead && alone && open ? { ...headPlace, do: { cut: [query, key] } } : null,
    token: text === typedText(model) && read.cols.axis.groups[pair.col].length === 1 ? mask : null,
  };
}
