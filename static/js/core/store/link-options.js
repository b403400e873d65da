/**
 * Options as a link contains them, typed values here, text in the address bar: those of views, which share
 * an option of the same name and meaning, and those of decoding, `decode` of the API.
 */

/**
 * @template [T=any]
 * @typedef {object} Option
 * @property {T} initial  the default
 * @property {(text: string) => T | null} read  null: cannot be read
 * @property {(value: T) => string} write
 */
/** @typedef {Record<string, Option>} Options */
/** @typedef {Record<string, any>} Choices  a value for each option */

/** @param {boolean} [initial] @returns {Option<boolean>} */
export const flagOption = (initial = false) => ({
  initial,
  read: (text) => (text === "1" ? true : text === "0" ? false : null),
  write: (value) => (value ? "1" : "0"),
});

/**
 * One of several values, or null, which the view interprets.
 * @param {...string} values
 * @returns {Option<string | null>}
 */
export const optionalChoice = (...values) => ({ ...choiceOption(...values), initial: null, write: String });

/** @param {...string} values  the first is the initial one @returns {Option<string>} */
export const choiceOption = (...values) => ({
  initial: values[0],
  read: (text) => (values.includes(text) ? text : null),
  write: (value) => value,
});

/**
 * An integer; one outside the range cannot be read.
 * @param {number} low
 * @param {number} high
 * @param {number | null} [initial]
 * @returns {Option<number | null>}
 */
export const integerOption = (low, high, initial = null) => ({
  initial,
  read(text) {
    const value = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
    return value >= low && value <= high ? value : null;
  },
  write: String,
});

/** Integers, as "0,3,5"; "" is the empty list. @returns {Option<number[] | null>} */
export const listOption = () => ({
  initial: null,
  read: (text) => (/^(\d{1,4}(,\d{1,4})*)?$/.test(text) ? text.split(",").filter(Boolean).map(Number) : null),
  write: (value) => (value ?? []).join(","),
});

/** @param {string} [initial] @returns {Option<string>} */
export const textOption = (initial = "") => ({ initial, read: (words) => words, write: (words) => words });

/** The name of something, or null, which the view interprets. @returns {Option<string | null>} */
export const nameOption = () => ({ initial: null, read: (words) => words || null, write: (name) => name ?? "" });

/** Options with the same meaning in every view that has them. */
export const SHARED = Object.freeze({
  scale: choiceOption("linear", "log"),
  special: choiceOption("show", "hide"),
  words: flagOption(),
});

/**
 * Options of the page itself; `as`: which run of a changed model is shown, `screen`: whether the page
 * is a room's second screen.
 */
export const PAGE = Object.freeze({ as: choiceOption("changed", "trained"), projector: flagOption(), screen: flagOption(), opening: flagOption(), glosses: flagOption(true), tour: integerOption(1, 6) });

/** Options of a reader's own page: not presented in a room, and not changed by what is. */
export const READER_OPTIONS = Object.freeze(["projector", "screen", "opening", "tour"]);

/** @param {Choices} options @returns {[own: Choices, shown: Choices]}  the reader's own, and the rest */
export function splitOptions(options) {
  const entries = Object.entries(options);
  const isOwn = (/** @type {[string, any]} */ [name]) => READER_OPTIONS.includes(name);
  return [Object.fromEntries(entries.filter(isOwn)), Object.fromEntries(entries.filter((entry) => !isOwn(entry)))];
}

/** @param {Options} options @returns {Choices} */
export function initialChoices(options) {
  return Object.fromEntries(Object.entries(options).map(([name, { initial }]) => [name, initial]));
}

// Decoding: `decode` of the API, as written in a link and as shown by controls.

/**
 * @typedef {object} Plan  `decode` of the API with all defaults
 * @property {"greedy" | "beam" | "sample"} method
 * @property {number} beam
 * @property {number} length_penalty  α
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} seed
 * @property {number[]} prefix
 * @property {number} [max_tokens]  absent: the server's
 */

/**
 * The decoding options of a link, with the server's defaults.
 * @param {unknown} decode
 * @returns {Plan}
 */
export function plan(decode) {
  const filled = { ...PLAN, .../** @type {object} */ (decode ?? {}) };
  const prefix = Array.isArray(filled.prefix) ? filled.prefix : [];
  return METHODS.includes(filled.method) ? { ...filled, prefix } : { ...PLAN, prefix };
}

/** @type {Plan["method"][]} */
const METHODS = ["greedy", "beam", "sample"];
/** @type {Plan} */
const PLAN = {
  method: "greedy",
  beam: 4,
  length_penalty: 0.6,
  temperature: 1,
  top_k: null,
  top_p: 1,
  seed: 0,
  prefix: [],
};
const OF = /** @type {const} */ ({
  greedy: [],
  beam: ["beam", "length_penalty"],
  sample: ["temperature", "top_k", "top_p", "seed"],
});

/**
 * For a link: only the method's options that differ from the defaults; null is greedy.
 * @param {Plan} plan
 * @returns {Record<string, unknown> | null}
 */
export function planInLink(plan) {
  const { method, prefix, max_tokens } = plan;
  const changedOptions = OF[method].filter((key) => plan[key] !== PLAN[key]).map((key) => [key, plan[key]]);
  const options = {
    ...Object.fromEntries(changedOptions),
    ...(max_tokens ? { max_tokens } : {}),
    ...(prefix.length ? { prefix } : {}),
  };
  return method === "greedy" && !Object.keys(options).length ? null : { method, ...options };
}

/**
 * The same options without a prefix: the model's own translation.
 * @param {unknown} decode
 * @returns {unknown}  the same object if there is no prefix
 */
export const withoutPrefix = (decode) => (plan(decode).prefix.length ? planInLink({ ...plan(decode), prefix: [] }) : decode);
