/** The one file that touches the address bar: it and the store say the same. */

import { afterFrame } from "../lib/timing.js";
import { REQUEST_KEYS, format, merge, parse } from "./link.js";

/** @typedef {import("./link.js").State} State */
/** @typedef {import("./options.js").Options} Options */

/** Changes that Back undoes: each is an entry of its own in the browser's history. */
const UNDONE = new Set(["chosen", "pinned"]);

/**
 * Keeps the address bar and the store saying the same: written on every change of the link (a new
 * entry only where one was asked for), read on back and forward.
 * @param {Window} window
 * @param {import("./store.js").Store} store
 * @param {State} initial  what a link that says nothing stands for
 * @param {Options} [options]
 */
export function bind(window, store, initial, options = {}) {
  // The address waits until what it says is on the screen: writing it takes milliseconds.
  const writing = afterFrame((/** @type {State} */ link) => write(window, link, options), window);
  store.subscribe(
    ({ link }) => link,
    ({ link }, _, origin) => {
      if (origin === "link") return;
      if (!UNDONE.has(origin)) return writing.later(link);
      writing.now();
      window.history.pushState(null, "", "?" + format(link, options));
    },
  );
  window.addEventListener("pagehide", writing.now);
  window.addEventListener("popstate", () => {
    writing.cancel();
    const said = unmoved(store.get().link, merge(initial, read(window, options)));
    store.go(said, "link");
    const { link } = store.get();
    // What it says is not always there.
    if (format(link, options) !== format(said, options)) write(window, link, options);
  });
}

/**
 * What says the same stays the very same, or it would be taken for another question.
 * @param {State} present
 * @param {State} next
 * @returns {State}
 */
function unmoved(present, next) {
  const kept = REQUEST_KEYS.filter((key) => JSON.stringify(next[key]) === JSON.stringify(present[key]));
  return { ...next, ...Object.fromEntries(kept.map((key) => [key, present[key]])) };
}

/**
 * @param {Window} window
 * @param {Options} [options]
 * @returns {Partial<State>}  what the address bar says
 */
export function read(window, options = {}) {
  return parse(window.location.search, options);
}

/**
 * Puts the whole state there, as a link that is ready to be copied.
 * @param {Window} window
 * @param {State} link
 * @param {Options} [options]
 */
export function write(window, link, options = {}) {
  window.history.replaceState(null, "", "?" + format(link, options));
}

/**
 * The link in the address bar, whole.
 * @param {Window} window
 */
export function here(window) {
  return window.location.href;
}

/** What a page of its own keeps in the address bar. @param {Window} window */
export const readQuery = (window) => window.location.search;

/** @param {Window} window @param {string} query @param {string} [path]  absent: the present one */
export const writeQuery = (window, query, path = "") => window.history.replaceState(null, "", `${path}?${query}`);
