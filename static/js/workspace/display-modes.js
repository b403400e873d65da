/** Projector mode: the sentence, the figure and its caption, in large letters. */

import { bindFit } from "../core/page/projector-fit.js";
import { languages } from "../core/wire/tokens.js";
import { el, find, render } from "../lib/dom.js";
import { debounce } from "../lib/timing.js";
import { GROUPS } from "../views/view-groups.js";
import { view } from "../views/index.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { PageServices } from "./main-figure.js" */

/** @param {PageServices} context */
export function bindProjector(context) {
  const { store, announce, restyle, t } = context;
  const root = document.documentElement;
  const enter = find("#projector");
  const leave = find("#projector-leave");
  const on = () => store.get().link.options.projector === true;

  /** @param {boolean} turnsOn */
  function turn(turnsOn) {
    store.choose({ projector: turnsOn });
    // The pressed button is gone, so move the focus.
    (turnsOn ? find("#stage") : find("#more")).focus();
    announce(
      turnsOn
        ? t("Projector mode. Arrows change head and layer, Escape leaves.")
        : t("Left projector mode."),
    );
  }

  function show() {
    const turnsOn = on();
    if (root.hasAttribute("data-projector") !== turnsOn) {
      root.toggleAttribute("data-projector", turnsOn);
      enter.setAttribute("aria-pressed", String(turnsOn));
      restyle();
    }
    if (turnsOn) showSentence(context);
  }

  pickViews(context);
  const refit = bindFit({ on, subject: () => shownOf(store.get()), restyle, place: find("#view") });
  store.subscribe(({ link, trace }) => [link.view, link.options, trace], refit);
  enter.addEventListener("click", () => turn(!on()));
  leave.addEventListener("click", () => turn(false));
  // If something is pinned, Escape first unpins it.
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.isComposing || !on()) return;
    if (document.querySelector("dialog[open]")) return;
    const { query, key } = store.get().link;
    if (query === null && key === null) turn(false);
    else find("#stage").focus();
  };
  document.addEventListener("keydown", escape, { capture: true });
  window.addEventListener("resize", () => on() && restyle());
  store.subscribe((page) => {
    const { link, trace } = page;
    return [link, trace, context.figure.offer().find(({ id }) => id === link.view)?.subject?.(page)?.trace];
  }, show);
  show();
}

/** What is as large as it is by itself: of a sentence, once it is drawn. @param {import("../core/store/store.js").Page} page */
const shownOf = ({ link: { view: id, options }, trace }) => JSON.stringify([id, options, Object.values(trace?.tokens ?? {}).map((tokens) => tokens.map(({ text }) => text))]);

/** A menu of the views, in their groups. @param {PageServices} context */
function pickViews({ store, figure, t }) {
  const menu = /** @type {HTMLSelectElement} */ (find("#projector-view"));
  let pointed = false;
  menu.addEventListener("pointerdown", () => (pointed = true));
  menu.addEventListener("keydown", () => (pointed = false));
  menu.addEventListener("change", () => {
    store.go({ view: menu.value });
    // After a choice by pointer, move the focus to the figure, so that a remote's arrows work there;
    // with the keyboard, the focus stays.
    if (pointed) find("#stage").focus();
  });

  function show() {
    const offer = figure.offer();
    const groups = GROUPS.map((group) => ({ ...group, views: group.views.filter((offeredView) => offer.includes(offeredView)) }));
    render(
      menu,
      groups.filter(({ views }) => views.length).map(({ name, views }) =>
        el("optgroup", { label: name(t) }, views.map((offeredView) => el("option", { value: offeredView.id }, offeredView.name(t))))),
    );
    menu.value = view(store.get().link.view).id;
  }
  store.subscribe(({ link }) => [view(link.view).id, ...figure.offer()], show);
  show();
}

/** @param {PageServices} context  The sentence and what came of it, in their languages. */
function showSentence({ store }) {
  const page = store.get();
  const shownView = view(page.link.view);
  const { link } = page;
  const { source, trace } = shownView.subject?.(page) ?? { source: link.source, trace: page.trace };
  const [from, to] = languages(trace?.direction ?? link.direction ?? "");
  const written = [
    el("span", { "aria-hidden": "true" }, " → "),
    el("span", { lang: to }, trace?.output.text ?? "…"),
  ];
  const writes = page.model?.texts.length !== 1;
  render(find("#projector-sentence"), el("span", { lang: from }, source), writes ? written : []);
}

// Announce changes to screen readers: the translation when it arrives, and the caption when the
// head changes. Hovered cells are not announced.

/**
 * The delay of announcements in milliseconds, so that only the last of several quick changes is
 * announced.
 */
const PAUSE = 300;
const PLACE = /** @type {const} */ (["view", "block", "layer", "head"]);

/** @param {Context} context */
export function bindAnnouncer({ store, announce, t }) {
  let announcedText = "";
  const speak = debounce(() => {
    const { trace, status, link } = store.get();
    const isCovered = document.documentElement.dataset.asking !== undefined; // the caption may have the answer
    if (!trace || status !== "ready" || link.query !== null || isCovered) return;
    const { text } = trace.output;
    const news = text === announcedText ? "" : `${t("Translation")}: ${text || t("(nothing)")} `;
    announcedText = text;
    const words = news + caption();
    if (words) announce(words);
  }, PAUSE);
  store.subscribe(({ link, trace }) => [...PLACE.map((key) => link[key]), trace?.output.text], speak.later);
}

/**
 * The caption, if the current view uses it; views with their own sentence announce it themselves.
 */
function caption() {
  return document.documentElement.dataset.caption === "yes" ? (find("#caption").textContent ?? "") : "";
}
