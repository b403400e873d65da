/** The only file that touches the address bar; it keeps the address and the store in sync. */

import { afterFrame } from "../../lib/timing.js";
import { REQUEST_KEYS, format, mergeStates, parse } from "./link.js";
import { READER_OPTIONS } from "./link-options.js";

/** @import { State } from "./link.js" */
/** @import { Options } from "./link-options.js" */

/**
 * Where a page has its link: in the query, or in the fragment, which is never sent to a host.
 * @typedef {{of: (location: Pick<Location, "search" | "hash">) => string, address: (link: string, location: Pick<Location, "pathname">) => string}} Place
 */

/** @type {Place} */
const IN_QUERY = { of: ({ search, hash = "" }) => search + hash, address: (link) => "?" + link };
/** A link of a server, which has a query, is read too. @type {Place} */
export const IN_FRAGMENT = { of: ({ search, hash }) => hash.slice(1) || search, address: (link, { pathname }) => `${pathname}#${link}` };

/** Changes that Back undoes: each is a separate entry in the browser's history. */
const UNDONE = new Set(["chosen", "pinned"]);

/**
 * Keep the address bar and the store in sync: write on every change of the link (as a new history
 * entry only for changes that Back undoes), read on back and forward.
 * @param {Window} window
 * @param {import("./store.js").Store} store
 * @param {State} initial  the state of an empty link
 * @param {Options} [options]
 * @param {Place} [place]
 */
export function bind(window, store, initial, options = {}, place = IN_QUERY) {
  // Write the address only after the screen is updated, because writing takes milliseconds.
  const writing = afterFrame((/** @type {State} */ link) => write(window, link, options, place), window);
  store.subscribe(
    ({ link }) => link,
    ({ link }, _, origin) => {
      if (origin === "link") return;
      if (!UNDONE.has(origin)) return writing.later(link);
      writing.now();
      window.history.pushState(null, "", place.address(format(link, options), window.location));
    },
  );
  window.addEventListener("pagehide", writing.now);
  window.addEventListener("popstate", () => {
    writing.cancel();
    const state = keepUnchanged(store.get().link, mergeStates(initial, read(window, options, place)));
    store.go(state, "link");
    const { link } = store.get();
    // The state may have been adjusted to what exists.
    if (format(link, options) !== format(state, options)) write(window, link, options, place);
  });
}

/**
 * Keep the same objects for equal values; otherwise they would count as a new request.
 * @param {State} present
 * @param {State} next
 * @returns {State}
 */
export function keepUnchanged(present, next) {
  const unchangedKeys = REQUEST_KEYS.filter((key) => JSON.stringify(next[key]) === JSON.stringify(present[key]));
  return { ...next, ...Object.fromEntries(unchangedKeys.map((key) => [key, present[key]])) };
}

/**
 * @param {Window} window
 * @param {Options} [options]
 * @param {Place} [place]
 * @returns {Partial<State>}  the state in the address bar
 */
export const read = (window, options = {}, place = IN_QUERY) => parse(place.of(window.location), options);

/**
 * Write the complete state as a link that can be copied.
 * @param {Window} window
 * @param {State} link
 * @param {Options} [options]
 * @param {Place} [place]
 */
export function write(window, link, options = {}, place = IN_QUERY) {
  window.history.replaceState(null, "", place.address(format(link, options), window.location));
}

/**
 * The complete link in the address bar.
 * @param {Window} window
 */
export function currentUrl(window) {
  return window.location.href;
}

/** Whether the page was loaded again, by a reload, Back or Forward. @param {Window} window */
export const isReload = ({ performance }) => {
  const [load] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  return load?.type === "reload" || load?.type === "back_forward";
};

/** The query string of a page with its own state. @param {Window} window */
export const readQuery = (window) => window.location.search;

/** The part of the query string that is the reader's, whatever the page shows. @param {Window} window */
export function ownQuery(window) {
  const parameters = [...new URLSearchParams(window.location.search)];
  return String(new URLSearchParams(parameters.filter(([name]) => name === "lang" || READER_OPTIONS.includes(name))));
}

/** @param {Window} window @param {string} query  "": none @param {string} [path]  absent: the present one */
export const writeQuery = (window, query, path) =>
  window.history.replaceState(null, "", (path || window.location.pathname) + (query && `?${query}`));

/** Write a query that Back undoes. @param {Window} window @param {string} query */
export const pushQuery = (window, query) => window.history.pushState(null, "", `?${query}`);

/** Call a listener on back and forward. @param {Window} window @param {() => void} listener */
export const onReturn = (window, listener) => window.addEventListener("popstate", listener);

/** The fragment without its "#". It is never sent to a server. @param {Window} window */
export const readFragment = (window) => window.location.hash.slice(1);

/** @param {Window} window @param {string} fragment  replaces it; "": none */
export const writeFragment = (window, fragment) =>
  window.history.replaceState(null, "", window.location.pathname + window.location.search + (fragment && `#${fragment}`));
