/** What a figure shows, as a link that can be changed. */

import { offeredKinds } from "../ask/question-kinds.js";
import { pointingIn } from "../core/figure/pointing.js";
import { keepUnchanged } from "../core/store/address.js";
import { format, mergeStates, parse } from "../core/store/link.js";
import { format as formatLab, parse as parseLab } from "../lab/lab-link.js";
import { preset } from "../lab/presets.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { LessonFigure } from "./figures.js" */

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
