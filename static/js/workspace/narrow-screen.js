/**
 * Narrow screens: the views, the map and the sentence open from a bar, and close after a choice.
 */

import { problemOf } from "../core/figure/figure-status.js";
import { wording } from "../core/figure/problem-wording.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { chosenOptions } from "../core/store/link.js";
import { blockName } from "../core/store/model-part-names.js";
import { pairOf } from "../core/wire/request.js";
import { languages } from "../core/wire/tokens.js";
import { el, find, render } from "../lib/dom.js";
import { view } from "../views/index.js";

/** @import { PageServices } from "./main-figure.js" */

/** @param {PageServices} services */
export function bindNarrowPanels({ store, t }) {
  const views = sheet("#views");
  sheet("#rail");
  // Choosing a view closes its sheet; the sheet of layers and heads stays open, to try several.
  find("#views").addEventListener("change", views.close);

  function show() {
    const { model, link } = store.get();
    render(find("#views-open"), ...opener(t("View"), view(link.view).name(t)));
    render(find("#rail-open"), ...opener(t("Model"), model ? blockName(link.block, t) : ""));
  }
  store.subscribe(({ model, link }) => [model, link.view, link.block], show);
  keepPinnedInSight(store);
  show();
  bindBand(store, t);
}

/** The marked cell, or a row that is pinned alone. */
const pinned = () => ["cell", "row"].map((kind) => document.querySelector(`#view .mark.${kind}`)).find((mark) => mark?.checkVisibility());

/**
 * The inspector is a sheet too: what the reader pins in a figure stays visible above it. A page
 * that opens stays at its top, with the sentence.
 * @param {PageServices["store"]} store
 */
function keepPinnedInSight(store) {
  let drawn = store.get().trace?.id;
  store.subscribe(({ link, trace }) => [link.query, link.key, trace?.id], () => {
    const { trace } = store.get();
    const sameRun = trace?.id === drawn;
    drawn = trace?.id;
    if (!sameRun || !trace) return;
    requestAnimationFrame(() => find("#views-open").checkVisibility() && pinned()?.scrollIntoView({ block: "nearest" }));
  });
}

/** @param {string} heading @param {string} present */
const opener = (heading, present) => [
  el("span", { className: "what" }, heading),
  el("b", {}, present),
  el("span", { className: "cue", "aria-hidden": "true" }, "▴"),
];

/** @param {string} selector */
function sheet(selector) {
  const panel = find(selector);
  return createDisclosure(find(`${selector}-open`), () => panel, (open) => panel.classList.toggle("open", open));
}

/**
 * The sentence and its translation in one line until tapped.
 * @param {PageServices["store"]} store
 * @param {PageServices["t"]} t
 */
function bindBand(store, t) {
  const band = find(".band");
  const line = find("#band-open");
  const field = find("#source");
  const parts = createDisclosure(line, () => find("#band-parts"), (open) => {
    band.classList.toggle("open", open);
    if (open) field.focus();
  });
  const done = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.isComposing && finish();
  field.addEventListener("keydown", done);
  document.querySelectorAll("#run, #examples").forEach((place) => place.addEventListener("click", () => finish()));
  function finish() {
    if (!parts.isOpen()) return;
    parts.close();
    line.focus();
  }
  function show() {
    const { link, trace } = store.get();
    const problem = problemOf(store.get());
    const written = trace?.output.text ?? "";
    const [from, to] = languages(trace?.direction ?? "");
    render(
      line,
      el("span", { className: "from", lang: link.source ? from : undefined }, [link.source || t("Type a sentence"), pairOf(store.get())].filter(Boolean).join(" · ")),
      problem ? el("span", { className: "says" }, ` · ${wording(t, problem)}`) : written && el("span", { className: "to", lang: to }, ` → ${written}`),
    );
  }
  store.subscribe((page) => [page.link.source, pairOf(page), page.trace?.output.text, problemOf(page)], show);
  show();
}

// A view's options behind a button: in views that hide them, and on a phone in all views.

/** @param {import("./main-figure.js").PageServices} services */
export function bindOptions({ store, t, figure }) {
  const root = document.documentElement;
  const button = find("#options");
  const narrow = window.matchMedia("(max-width: 899px)");
  const panel = createDisclosure(
    button,
    () => document.querySelector("#view > .options"),
    (open) => root.toggleAttribute("data-options", open),
  );

  function show() {
    const { link } = store.get();
    const { frame, options = {} } = view(link.view);
    // The button shows how many options differ from their defaults, so that they are not overlooked.
    const n = Object.keys(chosenOptions(link, options)).length + Number(Boolean(link.pad_to));
    const folds = Boolean(frame.folds) || narrow.matches || figure.pairs();
    root.dataset.folds = folds ? "yes" : "no";
    button.hidden = !folds || !document.querySelector("#view > .options:not([hidden])");
    button.textContent = n ? t("Options ({n})", { n }) : t("Options");
    if (button.hidden) panel.close();
  }
  narrow.addEventListener("change", show);
  figure.onPair(show);
  store.subscribe(({ link }) => link.view, panel.close);
  store.subscribe(({ link, model }) => [link.view, link.block, link.options, link.pad_to, model], show);
  show();
}
