/**
 * What a lesson's figure shows, as a link that can be changed, and its controls: the sentence, the layer, the
 * head, and a link to what it shows.
 */

import { offeredKinds } from "../ask/question-kinds.js";
import { pointingIn } from "../core/figure/pointing.js";
import { wording } from "../core/figure/problem-wording.js";
import { createShortLink } from "../core/page/short-link.js";
import { currentUrl, keepUnchanged } from "../core/store/address.js";
import { format, mergeStates, parse } from "../core/store/link.js";
import { extent } from "../core/wire/model-description.js";
import { Problem, failure } from "../core/wire/reply.js";
import { format as formatLab, parse as parseLab, preset } from "../lab/lab-link.js";
import { h } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS, view } from "../views/index.js";
import { step } from "../workspace/model-map.js";
import { lessonAddress } from "./lesson-address.js";

/** @import { LessonServices } from "../pages/learn.js" */
/** @import { LessonFigure } from "./figures.js" */

// What a figure shows, as a link that can be changed.

/** Whether a change is the reader's. @param {import("../core/store/store.js").Origin} origin */
export const isReadersChange = (origin) => origin !== "pushed" && origin !== "answer";

/**
 * @param {import("../core/store/store.js").Store} store
 * @param {import("../core/store/link.js").State} first  what it began with
 * @param {boolean} isReaders  whether that is the reader's own, and not the page's
 * @returns {LessonFigure}
 */
export function liveModel(store, first, isReaders) {
  let changed = isReaders;
  const query = () => format(store.get().link, OPTIONS);
  const began = query();
  return {
    pointing: pointingIn(store),
    query,
    shows: () => (changed && (isReaders || query() !== began) ? query() : ""),
    go(link) {
      const now = store.get().link;
      const target = link ? parse(link, OPTIONS) : first;
      if (!target.source) return false;
      changed = link !== "";
      store.go(keepUnchanged(now, link ? mergeStates(linkTo(), target, { lang: now.lang }) : first), "pushed");
      return true;
    },
    onChange(listener) {
      store.subscribe(
        ({ link }) => link,
        (_, __, origin) => {
          if (!isReadersChange(origin)) return;
          changed = true;
          listener();
        },
      );
    },
    questions() {
      const { link, model } = store.get();
      return offeredKinds(link, model).map((kind) => ({ kind, link: query() }));
    },
  };
}

/**
 * A figure whose state is a query string of its own.
 * @param {object} figure
 * @param {() => string} figure.state  what it shows, whole: the same state is the same text
 * @param {(query: string) => boolean} figure.go  show such a state; false: it is not one of this
 *   figure, and nothing has changed
 * @param {string} [figure.began]  the state that it will show first
 * @param {import("../core/figure/pointing.js").Pointing} [figure.pointing]
 * @returns {LessonFigure & {changed: () => void, began: string}}  changed: to be called when the state has
 *   changed, whoever has changed it; began: as given, or the state at this moment
 */
export function liveQuery({ state, go, began = state(), pointing }) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  let pushing = false;
  return {
    began,
    ...(pointing ? { pointing } : {}),
    changed() {
      if (!pushing) listeners.forEach((listener) => listener());
    },
    shows: () => (state() === began ? "" : state()),
    go(query) {
      const next = query || began;
      if (next === state()) return true;
      pushing = true;
      try {
        return go(next);
      } finally {
        pushing = false;
      }
    },
    onChange: (listener) => void listeners.add(listener),
    questions: () => [],
  };
}

/** @param {import("../lab/figure/lab-figure.js").LabFigure} figure */
export const liveLab = (figure) =>
  liveQuery({
    pointing: figure.pointing,
    state: () => formatLab(figure.lab()),
    go(query) {
      const none = preset("identity");
      const next = parseLab(query, none);
      if (next !== none) figure.go(next);
      return next !== none;
    },
  });

// The controls of a lesson's figure: the sentence, the layer, the head, and a link to what it shows.

/**
 * A field for a sentence of the reader's own.
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {string} value
 * @param {(source: string) => void} run  called with what is not blank
 */
export function createSentence({ t }, value, run) {
  const field = h("input", { type: "text", autocomplete: "off", spellcheck: false, enterKeyHint: "go", value, "aria-label": t("Sentence") });
  const form = h("form", { className: "own-sentence" }, field, h("button", { type: "submit", className: "button" }, t("Run")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) run(field.value);
  });
  return { form, field };
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/store/store.js").Store} store
 * @param {import("../core/store/link.js").State} first  the initial state
 * @param {HTMLElement} [link]  the button that makes a link to what is shown
 */
export function createFigureBar({ t }, store, first, link = undefined) {
  const { form, field } = createSentence({ t }, first.source, (source) => {
    if (source !== store.get().link.source) store.go({ source, target: null, direction: null, query: null, key: null }, "typed");
  });
  let drawnSource = first.source;
  const steppers = /** @type {const} */ (["layer", "head"]).map((level) => stepper(level, { layer: t("Layer"), head: t("Head") }[level]));
  const back = h("button", { type: "button", className: "button quiet", onclick: reset }, t("Reset"));
  const element = h("div", { className: "figure-bar" }, form, ...steppers.map(({ bar }) => bar), ...(link ? [link] : []), back);

  function reset() {
    field.value = first.source;
    store.go(first, "chosen");
  }

  /** @param {"layer" | "head"} level @param {string} name */
  function stepper(level, name) {
    const output = h("output", {});
    const button = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ label) =>
      h("button", { type: "button", className: "button quiet", "aria-label": label, onclick: () => step(store, level, by) }, sign);
    const labels = { layer: [t("Previous layer"), t("Next layer")], head: [t("Previous head"), t("Next head")] }[level];
    const bar = h("div", { className: "step-by", role: "group", "aria-label": name }, h("span", {}, name), button(-1, "‹", labels[0]), output, button(1, "›", labels[1]));
    return { level, bar, output };
  }

  function show() {
    const { link, model } = store.get();
    const { frame: { rail }, subject } = view(link.view);
    form.hidden = Boolean(subject); // it shows another run than the link's sentence
    if (field.value === drawnSource) field.value = link.source; // a presenter's; what is being typed stays
    drawnSource = link.source;
    const offered = { layer: rail !== "none", head: rail === "both" };
    for (const { level, bar, output } of steppers) {
      bar.hidden = !offered[level] || Boolean(model && extent(model, link.block)[`${level}s`] < 2);
      output.textContent = String(link[level] + 1);
    }
    back.hidden = link === first || sameLink(link, first);
  }

  store.subscribe(({ link, model }) => [link, model], show);
  show();
  return element;
}

/** @param {import("../core/store/link.js").State} a @param {import("../core/store/link.js").State} b */
const sameLink = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// A figure of a lesson as a link that opens it in its place in the lesson: a share of what it shows,
// or its state.

/** @typedef {Pick<LessonServices, "page" | "api"> & {lesson?: string, isServed?: boolean}} OfFigure  lesson: absent outside of lessons; isServed: false without a server */
/** @typedef {{url: string, says: string, beside?: HTMLElement[]}} Made */

/**
 * The button that makes a link, and the panel that shows it.
 * @param {Pick<OfFigure, "page" | "isServed">} services
 * @param {() => Made | Promise<Made>} make
 */
function createFigureLink({ page, isServed }, make) {
  const panel = createShortLink(page, { hasCode: isServed });
  const button = h("button", { type: "button", className: "button quiet", onclick: () => void show() }, page.t("Link"));

  async function show() {
    const figureLink = await whileBusy(async () => make(), button).catch(failure);
    if (figureLink instanceof Problem) return panel.fail(wording(page.t, figureLink), button);
    panel.show(figureLink.url, figureLink.says, { opener: button, beside: figureLink.beside });
  }

  return { button, panel: panel.element };
}

/**
 * A link with the numbers of a share, or with the state where no server keeps shares; null outside of
 * lessons.
 * @param {OfFigure} services
 * @param {HTMLElement} element  the figure
 * @param {() => Parameters<LessonServices["api"]["share"]>[0]} contents  of a share of what it shows
 * @param {() => string} shows  its state; "": what the lesson has
 */
export function linkOfShare(services, element, contents, shows) {
  const { page, api, lesson, isServed = true } = services;
  if (!isServed || !lesson) return linkOfState(services, element, shows);
  const { t } = page;
  return createFigureLink(services, async () => {
    const { url } = await api.share(contents());
    const message = t("Anyone with the link sees this lesson with your sentence in this figure.");
    return { url: inLesson(url, lesson, element.id), says: message, beside: [h("a", { className: "button", href: url }, t("Only the figure"))] };
  });
}

/**
 * A link with the state of a figure; null outside of lessons.
 * @param {OfFigure} services
 * @param {HTMLElement} element  the figure
 * @param {() => string} shows  its state; "": what the lesson has
 */
export function linkOfState(services, element, shows) {
  const { page, lesson } = services;
  if (!lesson) return null;
  return createFigureLink(services, () => ({
    url: String(new URL(lessonAddress(lesson, { shows: shows() }, element.id), currentUrl(window))),
    says: page.t("Anyone with the link sees this lesson with this figure as it is now."),
  }));
}

/**
 * The link of a share, with the lesson around it.
 * @param {string} url  of the share
 * @param {string} lesson
 * @param {string} figure  its id
 */
function inLesson(url, lesson, figure) {
  const link = new URL(url);
  const id = link.pathname.split("/").at(-1) ?? "";
  link.pathname = link.pathname.replace(/\/s\/\w+$/, `/learn/${lesson}`);
  link.search = String(new URLSearchParams({ share: id }));
  link.hash = figure;
  return String(link);
}
