/** The tour: its six stops, and a text beside the element that a stop describes, with a task and a button to the next. */

import { REMOTE, TURNS, isPlainKey } from "../core/figure/pointing.js";
import { example } from "../core/store/highlight.js";
import { isChanged } from "../core/store/interventions.js";
import { blockAt, crossBlock, isBetweenTexts } from "../core/wire/model-description.js";
import { el, find, render } from "../lib/dom.js";

/** @import { State } from "../core/store/link.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

// A tour with six stops: each goes to a place, explains it, and asks the reader to do something. Pure
// functions of the page and of its state when the stop began.

/**
 * @typedef {object} Stop
 * @property {string} id
 * @property {string} at  selectors of what it describes; the first visible one is used
 * @property {"left" | "right"} side  where its text is placed, so that it hides nothing
 * @property {"top" | "bottom"} narrow  the same on narrow screens
 * @property {(t: Translate, page: Page, began: Page) => {title: string, says: string, task: string, done: string}} words
 * @property {(page: Page) => Partial<State>} go  where it goes
 * @property {(page: Page, began: Page) => boolean} [did]  whether its task was done; absent: the
 *   page reports it
 */

/**
 * Cross-attention at the head that aligns best, if known.
 * @param {Page} page
 * @returns {Partial<State>}
 */
function aligner({ model, link }) {
  const block = crossBlock(model).id;
  const best = model?.aligners?.find(({ rows }) => rows === "writes");
  if (!block || isBetweenTexts(blockAt({ model, link }))) return {};
  return { block, query: null, key: null, ...(best ? { layer: best.layer, head: best.head } : {}) };
}

/**
 * Heads of the shipped model whose absence is seen on the sentence with which the page begins: the translation changes, or
 * becomes much less likely.
 * @type {Record<string, {layer: number, head: number}>}
 */
const NEEDED_HEADS = { "en-zh": { layer: 0, head: 4 }, "zh-en": { layer: 2, head: 5 } };

/**
 * A cell of a head whose absence is seen.
 * @param {Page} page
 * @returns {Partial<State>}
 */
function neededHead(page) {
  const { model, trace, link } = page;
  const head = model?.id === "en-zh" ? NEEDED_HEADS[trace?.direction ?? ""] : undefined;
  if (!head || isChanged(link)) return cell(page);
  const [block, query] = [crossBlock(model).id, link.query ?? 0];
  return block ? { block, ...head, query, key: link.block === block ? link.key : null } : cell(page);
}

/** A cell to pin, unless one is pinned. @param {Page} page @returns {Partial<State>} */
const cell = (page) => (page.link.query === null ? (example(page) ?? {}) : {});

/**
 * The outcome of a change, in words.
 * @param {Translate} t
 * @param {Page} page
 * @param {Page} began
 */
function outcome(t, page, began) {
  const [before, after] = [began, page].map(({ trace }) => trace?.output.text ?? "");
  if (before === after) return t("Without this head the model writes the same translation. The sentence on the changed model says how likely it " +
    "still is.");
  return t("With this head the model wrote “{before}”, without it “{after}”.", { before, after });
}

/** @type {readonly Stop[]} */
const STOPS = Object.freeze([
  {
    id: "sentence",
    at: "#source, #band-open",
    side: "right",
    narrow: "bottom",
    go: () => ({ view: "alignment", query: null, key: null }),
    did: ({ link }, began) => link.source !== began.link.source && link.source.trim() !== "",
    words: (t) => ({
      title: t("A sentence"),
      says: t("The model reads your sentence and writes a translation, one token at a time. The lines show which words " +
        "it looks at for each word that it writes."),
      task: t("Change a word of the sentence."),
      done: t("The model has translated it again. All numbers on this page come from that run."),
    }),
  },
  {
    id: "tokens",
    at: "#source-tokens, #band-open",
    side: "right",
    narrow: "bottom",
    go: () => ({ query: null, key: null }),
    did: ({ link }) => link.query !== null || link.key !== null,
    words: (t) => ({
      title: t("Tokens"),
      says: t("The model does not see letters. It sees tokens: words, or pieces of words. “·” is a space; tokens in " +
        "angle brackets are special, such as the end of the text."),
      task: t("Click a token."),
      done: t("The same token is marked wherever it occurs on the page. Click it again, or press Esc, to unpin it."),
    }),
  },
  {
    id: "head",
    at: "#heads, #rail-open",
    side: "right",
    narrow: "bottom",
    go: (page) => ({ view: "attention", ...aligner(page) }),
    did: ({ link }, began) => link.head !== began.link.head || link.layer !== began.link.layer || link.block !== began.link.block,
    words: (t) => ({
      title: t("A head"),
      says: t("A head is one way of looking: for each token it decides how much to look at every other token. In the " +
        "picture, each row is a token that looks, and each column a token that is looked at; darker means " +
        "more. Each row sums to 1."),
      task: t("Choose another head."),
      done: t("Another head looks elsewhere. The model combines the results of all heads."),
    }),
  },
  {
    id: "cell",
    at: "#check-cell, #view .matrix, #view",
    side: "left",
    narrow: "top",
    go: (page) => ({ view: "attention", ...cell(page) }),
    did: ({ link }) => link.view === "worksheet",
    words: (t) => ({
      title: t("The arithmetic of a cell"),
      says: t("Each cell is a number that you can check by hand. The query of the row times the key of the column gives a score; softmax turns the scores of a row into weights that add up to 1."),
      task: t("Press “Check this cell”."),
      done: t("This is the whole calculation, step by step, with the model’s own numbers."),
    }),
  },
  {
    id: "change",
    at: "#switch-head, #view",
    side: "left",
    narrow: "top",
    go: (page) => ({ view: "attention", ...neededHead(page) }),
    did: ({ link }) => isChanged(link),
    words: (t, page, began) => ({
      title: t("Change the model"),
      says: t("What is a head for? Switch it off and look at what the model writes without it."),
      task: t("Press “head off”."),
      done: outcome(t, page, began),
    }),
  },
  {
    id: "share",
    at: "#share",
    side: "right",
    narrow: "bottom",
    go: () => ({}),
    words: (t) => ({
      title: t("Share it"),
      says: t("A link contains everything you see: the sentence, the view, the head, the cell and your changes."),
      task: t("Press “Share”."),
      done: t("Anyone who opens the link sees exactly this. That was the tour: now try a sentence of your own."),
    }),
  },
]);

// The tour: a text beside the element it describes, a task, and a button to the next stop.

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

/**
 * @param {PageServices} services
 * @param {boolean} isPlaced  whether the link names what is shown; otherwise the page goes where the link's stop is
 */
export function bindTour(services, isPlaced = false) {
  const { store, t, announce } = services;
  const panel = find("#tour");
  /** The page when the current stop began, and whether its task is done. */
  let began = store.get();
  let stop = 0;
  let done = false;
  let isThere = isPlaced;

  /** @param {number | null} to  from 1; null leaves the tour */
  function go(to) {
    isThere = true;
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
    if (!isThere && page.status === "ready") {
      isThere = true;
      store.go(STOPS[now - 1].go(page), "answer");
      return show();
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
