/**
 * The one file that touches the address bar. A permalink holds the request's keys as the API
 * names them and the view's keys; what is at its default is left out.
 */

/**
 * @typedef {object} State
 * @property {string} source  the sentence
 * @property {string | null} model  null: the server's first
 * @property {string | null} direction  null: by script
 * @property {string | null} target  null: the model decodes one
 * @property {unknown} decode  as the API takes it, or null
 * @property {unknown} interventions  as the API takes it, or null
 * @property {number | null} pad_to
 * @property {string} view
 * @property {"encoder" | "decoder" | "cross"} block
 * @property {number} layer  0-based
 * @property {number} head  0-based
 * @property {number | null} query  the pinned row
 * @property {number | null} key  the pinned column
 * @property {string} lang  of the interface
 */

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  source: "",
  model: null,
  direction: null,
  target: null,
  decode: null,
  interventions: null,
  pad_to: null,
  view: "attention",
  block: "encoder",
  layer: 0,
  head: 0,
  query: null,
  key: null,
  lang: "en",
});

export const BLOCKS = Object.freeze(["encoder", "decoder", "cross"]);
export const REQUEST_KEYS = /** @type {const} */ ([
  "source",
  "model",
  "direction",
  "target",
  "decode",
  "interventions",
  "pad_to",
]);
const KEYS = /** @type {(keyof State)[]} */ (Object.keys(DEFAULTS));
/** What tells one moment from the next; a link says these even at their defaults. */
const ALWAYS = new Set(["source", "view", "block", "layer", "head", "lang"]);

/** @type {(text: string) => string | null} */
const text = (value) => value || null;
/** @type {(text: string) => number | null} */
const index = (value) => (/^\d{1,4}$/.test(value) ? Number(value) : null);
/** @type {(text: string) => unknown} */
const json = (value) => {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
};

/** @type {Record<keyof State, (text: string) => any>} */
const PARSE = {
  source: (value) => value,
  model: text,
  direction: text,
  target: text,
  decode: json,
  interventions: json,
  pad_to: index,
  view: text,
  block: (value) => (BLOCKS.includes(value) ? value : null),
  layer: index,
  head: index,
  query: index,
  key: index,
  lang: text,
};

/**
 * @param {string} search  a query string, with or without "?"
 * @returns {Partial<State>}  only what it says and what can be read
 */
export function parse(search) {
  const params = new URLSearchParams(search);
  /** @type {Record<string, any>} */
  const state = {};
  for (const key of KEYS) {
    const value = params.get(key);
    const parsed = value === null ? null : PARSE[key](value);
    if (parsed !== null) state[key] = parsed;
  }
  return state;
}

/**
 * @param {State} state
 * @returns {string}  a query string without "?"
 */
export function format(state) {
  const params = new URLSearchParams();
  for (const key of KEYS) {
    const value = state[key];
    if (value === null || value === undefined) continue;
    if (!ALWAYS.has(key) && value === DEFAULTS[key]) continue;
    const words = typeof value === "object" ? JSON.stringify(value) : String(value);
    params.set(key, words);
  }
  return params.toString();
}

/**
 * Keeps the address bar and the store saying the same: written on every change of the link (a new
 * entry only where one was asked for), read on back and forward.
 * @param {Window} window
 * @param {import("./store.js").Store} store
 * @param {State} initial  what a link that says nothing stands for
 */
export function bind(window, store, initial) {
  store.subscribe(({ link }, previous, history) => {
    if (link === previous.link || history === "none") return;
    const method = history === "push" ? "pushState" : "replaceState";
    window.history[method](null, "", "?" + format(link));
  });
  window.addEventListener("popstate", () => store.go({ ...initial, ...read(window) }, "none"));
}

/**
 * @param {Window} window
 * @returns {Partial<State>}  what the address bar says
 */
export function read(window) {
  return parse(window.location.search);
}

/**
 * Puts the whole state there, as a link that is ready to be copied.
 * @param {Window} window
 * @param {State} link
 */
export function write(window, link) {
  window.history.replaceState(null, "", "?" + format(link));
}
