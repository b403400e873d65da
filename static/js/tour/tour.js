/** The tour: a text beside the element it describes, a task, and a button to the next stop. */

import { REMOTE, TURNS, isPlainKey } from "../core/figure/pointing.js";
import { el, find, render } from "../lib/dom.js";
import { STOPS } from "./stops.js";

/** @import { PageServices } from "../workspace/main-figure.js" */

// A presenter's remote in projector mode: while a tour is open, its keys move through the tour.

/** Elements that use arrows themselves. */
const WRITES = "input:not([type=radio], [type=checkbox]), textarea, select";

/**
 * @param {Pick<import("../workspace/main-figure.js").PageServices, "store">} services
 * @param {{open: () => boolean, turn: (by: number) => void}} tour
 */
function bindRemote({ store }, { open, turn }) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const by = TURNS[key];
    if (!by || !open() || !store.get().link.options.projector) return;
    if (!isPlainKey(event) || document.querySelector("dialog[open]")) return;
    if (!REMOTE[key] && target instanceof Element && target.closest(WRITES)) return;
    event.preventDefault();
    event.stopPropagation();
    turn(by);
  }
  // Handled before the keys of the figure and the page.
  window.addEventListener("keydown", pressed, { capture: true });
}

const MARK = "tour-target";

/** @param {PageServices} services */
export function bindTour(services) {
  const { store, t, announce } = services;
  const panel = find("#tour");
  /** The page when the current stop began, and whether its task is done. */
  let began = store.get();
  let stop = 0;
  let done = false;

  /** @param {number | null} to  from 1; null leaves the tour */
  function go(to) {
    const place = to === null ? {} : STOPS[to - 1].go(store.get());
    const { options } = store.get().link;
    store.go({ ...place, options: { ...options, tour: to } }, "chosen");
    if (to === null) find("#stage").focus();
    else panel.focus();
  }

  /** @param {number} by  Before the first stop there is none; after the last the tour ends. */
  function turn(by) {
    if (stop + by >= 1) go(stop + by > STOPS.length ? null : stop + by);
  }

  function show() {
    const page = store.get();
    const { tour, opening } = page.link.options;
    const now = opening ? null : tour;
    document.documentElement.toggleAttribute("data-tour", now !== null);
    panel.hidden = now === null;
    if (now === null) {
      stop = 0;
      return mark(null);
    }
    if (now !== stop) {
      [stop, began, done] = [now, page, false];
      const { title, says: text, task } = STOPS[now - 1].words(t, page, began);
      announce(`${title}. ${text} ${task}`);
      requestAnimationFrame(() => document.querySelector(`.${MARK}`)?.scrollIntoView({ block: "nearest" }));
    }
    // A link may refer to a place that does not exist yet.
    if (began.status !== "ready") began = page;
    if (page.status === "ready") done ||= STOPS[now - 1].did?.(page, began) ?? false;
    draw();
  }

  function draw() {
    const { words, side, narrow, at: targetSelectors } = STOPS[stop - 1];
    const { title, says: text, task, done: after } = words(t, store.get(), began);
    Object.assign(panel.dataset, { side, narrow });
    const last = stop === STOPS.length;
    const next = last ? t("Finish") : t("Next");
    render(
      panel,
      el("p", { className: "nth" }, t("{n} of {all}", { n: stop, all: STOPS.length })),
      el("h2", { id: "tour-title" }, title),
      el("p", {}, text),
      el("p", { className: done ? "task done" : "task" }, el("span", { "aria-hidden": "true" }, done ? "✓ " : "→ "), el("b", {}, task), done && " ", done && after),
      last && el("p", {}, t("How does it work?"), " ", el("a", { href: `/learn/ten-minutes?lang=${document.documentElement.lang.slice(0, 2)}` }, t("Attention in ten minutes"))),
      el("div", { className: "turns" },
        el("button", { type: "button", className: "button quiet", onclick: () => go(null) }, t("Leave the tour")),
        el("button", { type: "button", className: "button", disabled: stop === 1, onclick: () => turn(-1) }, t("Back")),
        el("button", { type: "button", className: done ? "button strong" : "button", onclick: () => turn(1) }, next)),
    );
    mark(targetSelectors);
  }

  /** @param {string | null} selectors */
  function mark(selectors) {
    document.querySelectorAll(`.${MARK}`).forEach((element) => element.classList.remove(MARK));
    const target = selectors?.split(", ").map((selector) => document.querySelector(selector)).find((element) => element?.checkVisibility());
    target?.classList.add(MARK);
  }

  // Sharing is the only task that does not change the link.
  find("#share").addEventListener("click", () => {
    if (stop !== STOPS.length) return;
    done = true;
    draw();
  });
  bindRemote(services, { open: () => stop > 0, turn });
  find("#tour-open").addEventListener("click", () => go(1));
  store.subscribe(({ link, trace, status }) => [link, trace, status], show);
  window.addEventListener("resize", () => stop && mark(STOPS[stop - 1].at));
  show();
}
