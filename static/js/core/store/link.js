/**
 * Permalinks: they contain the request's keys, named as in the API, and the view's keys; defaults
 * are left out.
 */

import { blockOf, blocks, extent } from "../wire/model-description.js";
import { changesInForce } from "../wire/request.js";
import { runOfLink, withRemembered } from "./runs-with-and-without-changes.js";

/** @import { ModelInfo } from "../wire/model-description.js" */
/** @import { Options } from "./link-options.js" */
/** @import { Page } from "./store.js" */
/** @import { Trace } from "../wire/safetensors.js" */

/**
 * @typedef {object} State
 * @property {string} source  the sentence
 * @property {string | null} model  null: the server's first
 * @property {string | null} direction  null: detected from the script
 * @property {string | null} target  null: the model decodes one
 * @property {unknown} decode  as the API takes it, or null
 * @property {unknown} interventions  as the API takes it, or null
 * @property {number | null} pad_to
 * @property {true | null} chat  whether the text is a user's turn of a chat
 * @property {string | null} pair  the second of two texts
 * @property {string} view
 * @property {string} block  which attentions (core/wire/model-description.js); "": the model's last block
 * @property {number} layer  0-based
 * @property {number} head  0-based
 * @property {number | null} query  the pinned row
 * @property {number | null} key  the pinned column
 * @property {string} lang  of the interface
 * @property {import("./link-options.js").Choices} options  options of the views; flat in a link
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
  chat: null,
  pair: null,
  view: "attention",
  block: "",
  layer: 0,
  head: 0,
  query: null,
  key: null,
  lang: "en",
  options: Object.freeze({}),
});

export const REQUEST_KEYS = /** @type {const} */ ([
  "source",
  "model",
  "direction",
  "target",
  "decode",
  "interventions",
  "pad_to",
  "chat",
  "pair",
]);
const TYPED = /** @type {const} */ (["source", "pair"]);
/** Letters of the texts in a query string; longer ones are in the fragment, which is not sent: servers refuse long request lines. */
const LONGEST = 2000;
/** @typedef {Exclude<keyof State, "options">} Key */
const KEYS = /** @type {Key[]} */ (Object.keys(DEFAULTS).filter((key) => key !== "options"));
/** Keys that a link always contains, even at their defaults. */
const ALWAYS = new Set(["source", "view", "layer", "head", "lang"]);

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

/** @type {Record<Key, (text: string) => any>} */
const PARSE = {
  source: (value) => value,
  model: text,
  direction: text,
  target: text,
  decode: json,
  interventions: json,
  pad_to: index,
  chat: (value) => (value === "1" || value === "true" ? true : null),
  pair: text,
  view: text,
  block: text,
  layer: index,
  head: index,
  query: index,
  key: index,
  lang: text,
};

/**
 * @param {string} search  a query string, with or without "?", and a fragment
 * @param {Options} [options]  that a link may contain
 * @returns {Partial<State>}  only keys that are present and can be read
 */
export function parse(search, options = {}) {
  const [query, fragment = ""] = search.split("#", 2);
  const words = [...new URLSearchParams(fragment)].filter(([key]) => TYPED.some((text) => text === key));
  return parsedState(Object.fromEntries([...new URLSearchParams(query), ...words].reverse()), options);
}

/**
 * Read a share's state with the same checks as a link: what cannot be read is ignored.
 * @param {Record<string, unknown>} state
 * @param {Options} [options]
 * @returns {Partial<State>}
 */
export function stateOfShare(state, options = {}) {
  const present = Object.entries(state).filter(([, value]) => value !== null && value !== undefined);
  return parsedState(Object.fromEntries(present.map(([key, value]) => [key, asText(value)])), options);
}

// In links of Positions, `pair` is the pair of channels of a rotation, as it was before there were two
// texts; with a second text, the channels have a name of their own.

/**
 * @param {Record<string, string>} words  of a link
 * @returns {Record<string, string>}
 */
function withChannels(words) {
  if (words.view !== "positions" || words.channels !== undefined || !/^\d+$/.test(words.pair ?? "")) return words;
  const { pair: channels, ...otherWords } = words;
  return { ...otherWords, channels };
}

/** @param {URLSearchParams} params  of a link to be written @param {State} state */
function nameChannels(params, { view, pair }) {
  if (view !== "positions") return;
  const channels = params.get("channels") ?? "0";
  if (pair) return params.set("channels", channels);
  params.delete("channels");
  if (channels !== "0") params.set("pair", channels);
}

/** @param {Record<string, string>} parameters @param {Options} options @returns {Partial<State>} */
function parsedState(parameters, options) {
  const words = withChannels(parameters);
  /** @type {Record<string, any>} */
  const state = {};
  for (const key of KEYS) {
    const parsed = words[key] === undefined ? null : PARSE[key](words[key]);
    if (parsed !== null) state[key] = parsed;
  }
  return { ...state, options: choices(words, options) };
}

/** @param {unknown} value  As a link says it. */
const asText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/**
 * @param {Record<string, unknown>} words  from a link or a share
 * @param {Options} options
 * @returns {import("./link-options.js").Choices}  those that are present and can be read
 */
export function choices(words, options) {
  const values = Object.entries(options).map(([name, { read }]) => {
    const text = words[name];
    return [name, typeof text === "string" ? read(text) : null];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== null));
}

/**
 * Merge states; later ones take precedence.
 * @param {State} state
 * @param {...Partial<State>} changes
 * @returns {State}
 */
export function mergeStates(state, ...changes) {
  const options = Object.assign({}, state.options, ...changes.map((change) => change.options));
  return Object.assign({}, state, ...changes, { options });
}

/**
 * @param {State} state
 * @param {Options} [options]
 * @returns {string}  a query string without "?", and a fragment if the text is long
 */
export function format(state, options = {}) {
  const params = new URLSearchParams();
  for (const key of KEYS) {
    const value = state[key];
    if (value === null || value === undefined) continue;
    if (!ALWAYS.has(key) && value === DEFAULTS[key]) continue;
    params.set(key, value === true ? "1" : asText(value));
  }
  for (const [name, words] of Object.entries(chosenOptions(state, options))) params.set(name, words);
  nameChannels(params, state);
  if (TYPED.reduce((sum, key) => sum + (state[key]?.length ?? 0), 0) <= LONGEST) return params.toString();
  const texts = new URLSearchParams(TYPED.flatMap((key) => (params.has(key) ? [[key, params.get(key) ?? ""]] : [])));
  for (const key of TYPED) params.delete(key);
  return `${params}#${texts}`;
}

/**
 * @param {State} state
 * @param {Options} options
 * @returns {Record<string, string>}  the options that differ from their defaults, as text
 */
export function chosenOptions(state, options) {
  const entries = Object.entries(options)
    .filter(([name, { initial }]) => (state.options[name] ?? initial) !== initial)
    .map(([name, { write }]) => [name, write(state.options[name])]);
  return Object.fromEntries(entries);
}

// The consequences of a change of the page, computed before listeners are called: the status of the
// link's request, the nearest existing place of the model, pins whose token is gone. Pure functions
// of the page and the previous one.

/** @typedef {Pick<import("../figure/types.js").View, "blocks" | "settle">} Rules  of a view */
/** @typedef {(id: string) => Rules} Views */
/** @typedef {Pick<ModelInfo, "texts" | "attentions">} Table */

/**
 * @param {Views} [viewOf]
 * @param {(page: Page) => string} [opens]  the view that opens if the link's view is not offered
 * @returns {import("./store.js").Settle}
 */
export function createSettler(viewOf = () => ({}), opens = ({ link }) => link.view) {
  return (next, previous) => {
    const page = opened(next, previous, opens);
    const requestedPage = requested(page, previous);
    const link = fitted(requestedPage, viewOf);
    const settled = link === page.link ? requestedPage : { ...requestedPage, link };
    const { settle } = viewOf(link.view);
    return withRemembered(settle ? { ...settled, link: settle(settled, previous) } : settled);
  };
}

/**
 * If a view is not offered, the page shows another one, and remembers the requested one until the
 * reader moves on.
 * If it comes to be offered before that, as with another text, it opens.
 * @param {Page} page
 * @param {Page} previous
 * @param {(page: Page) => string} opens
 */
function opened(page, previous, opens) {
  const { link, unoffered } = page;
  const id = opens(page);
  if (unoffered && link.view === previous.link.view && page.trace !== previous.trace) {
    const again = { ...page, link: { ...link, view: unoffered } };
    if (opens(again) === unoffered) return { ...again, unoffered: null };
  }
  if (id !== link.view) return { ...page, link: { ...link, view: id }, unoffered: link.view };
  return unoffered && link.view !== previous.link.view ? { ...page, unoffered: null } : page;
}

/**
 * A link to a different trace waits for it unless it is known or there is nothing to request.
 * @param {Page} page
 * @param {Page} previous
 * @returns {Page}
 */
function requested(page, previous) {
  const asks = REQUEST_KEYS.some((key) => page.link[key] !== previous.link[key]) || changesInForce(page.link) !== changesInForce(previous.link);
  if (!asks || page.trace !== previous.trace) return page;
  if (!page.link.source.trim()) return { ...page, status: "empty", problem: null };
  const run = runOfLink(page);
  return run ? { ...page, trace: run.trace, model: run.model, status: "ready", problem: null } : { ...page, status: "waiting", problem: null };
}

/**
 * While a link is waiting, its place may not exist yet.
 * @param {Page} page
 * @param {Views} viewOf
 */
function fitted({ link, model, trace, status }, viewOf) {
  if (!model) return link;
  if (status === "ready" && trace) return withoutLostPin(fittedLink(link, model, viewOf), model, trace);
  return blocks(model).some(({ id }) => id === link.block) ? suited(link, model, viewOf(link.view)) : link;
}

/**
 * The model that the link is about; null: it is not known yet, since the link waits for it while the
 * last model's trace is shown.
 * @param {Pick<Page, "link" | "model" | "models" | "status">} page
 */
export const modelOfLink = ({ link, model, models, status }) => (status === "ready" || model?.id === (link.model ?? models[0]?.id) ? model : null);

/**
 * The nearest existing block, layer and head.
 * @param {State} link
 * @param {Table} model
 * @param {Views} [viewOf]
 * @returns {State}
 */
export function fittedLink(link, model, viewOf = () => ({})) {
  const moved = suited(link, model, viewOf(link.view));
  const { layers, heads } = extent(model, moved.block);
  const [layer, head] = [Math.min(link.layer, layers - 1), Math.min(link.head, heads - 1)];
  return layer === link.layer && head === link.head ? moved : { ...moved, layer, head };
}

/**
 * A block that does not exist, or to which the view does not apply, is replaced by the last one
 * that fits.
 * @param {State} link
 * @param {Table} model
 * @param {Rules} view
 */
function suited(link, model, { blocks: suits = () => true }) {
  const open = blocks(model).filter(suits);
  const block = open.find(({ id }) => id === link.block) ?? open.at(-1);
  return !block || block.id === link.block ? link : { ...link, block: block.id, ...unpinned(link) };
}

/** A pin belongs to a block, unless the link names none. @param {State} link */
const unpinned = ({ block }) => (block ? { query: null, key: null } : {});

/**
 * Remove a pin whose token is gone.
 * @param {State} link
 * @param {Table} model
 * @param {Pick<Trace, "tokens">} trace
 * @returns {State}
 */
export function withoutLostPin(link, model, { tokens }) {
  const { query, key } = blockOf(model, link.block);
  const within = (/** @type {number | null} */ index, /** @type {string} */ text) => (index ?? 0) < (tokens[text]?.length ?? 0);
  return within(link.query, query) && within(link.key, key) ? link : { ...link, query: null, key: null };
}
