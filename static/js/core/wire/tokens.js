/** Labels of tokens. */

/** @import { TokenReply } from "./schemas.d.ts" */
/** @import { Trace } from "./safetensors.js" */
/**
 * @typedef {object} Label
 * @property {string} space  "·" if the token begins with a space, else ""
 * @property {string} word  the rest
 * @property {number | null} nth  its number among equal tokens, from 1; null if it is the only one
 * @property {string} lang  of the word, for fonts and screen readers
 * @property {boolean} special
 * @property {boolean} [template]  whether a chat's template adds it to the text
 * @property {boolean} [pair]  whether it is of the second of two texts
 * @property {boolean} [pad]  whether it is padding
 */
/**
 * A label of an axis: a token, or a decoder step that reads one token and writes the next.
 * @typedef {object} Step
 * @property {Label | null} reads  null: a single token
 * @property {Label} writes
 * @property {number} [position]  the position, if it should be shown
 * @property {boolean} [short]  whether there is no room for what is read
 */

/** Joiners belong to what they join: an emoji of several, a Persian word. They are a sign only by themselves. */
const JOINERS = /[\u200c\u200d\u2060]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LEADING_SPACE = /^[^\S\n\r\t]+/;
const CONTROLS = /[\u0000-\u001f\u007f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** @param {TokenReply} token */
export const isPad = ({ text, special }) => special && text === "<pad>";

/**
 * The tokens of two texts as those of one, in which the second text is on a line of its own.
 * @template {Pick<TokenReply, "start" | "end" | "pair">} T
 * @param {T[]} tokens
 * @param {string} text
 * @param {string | null} [pair]
 * @returns {{tokens: T[], text: string}}
 */
export function asOneText(tokens, text, pair) {
  if (!pair) return { tokens, text };
  const before = [...text].length + 1;
  const moved = tokens.map((token) => (token.pair && token.end > token.start ? { ...token, start: token.start + before, end: token.end + before } : token));
  return { tokens: moved, text: `${text}\n${pair}` };
}

/** Whether a token is not of the text: it is special, or of a chat's template. @param {Pick<TokenReply, "special" | "template">} token */
export const isAdded = ({ special, template = false }) => special || template;

/**
 * Whether a row belongs to a word of the text, not to an added token or a punctuation mark.
 * @param {Step} step
 */
export const isWord = ({ writes: { word, ...writes } }) => !isAdded(writes) && /[\p{L}\p{N}]/u.test(word);

/**
 * Whether each of a text's tokens is special, or of a chat's template. In a text without special tokens the first one takes
 * their part: heads that have nothing to look at look there.
 * @param {Step[]} steps
 * @returns {{special: boolean}[]}
 */
export function specialTokens(steps) {
  const marks = steps.map(({ writes }) => ({ special: isAdded(writes) }));
  return marks.some(({ special }) => special) ? marks : marks.map((mark, i) => (i ? mark : { special: true }));
}

/** Whether a row that looks at each says something: at a word that is not taken for special. @param {Step[]} steps */
export function informativeKeys(steps) {
  const special = specialTokens(steps);
  return steps.map((step, i) => isWord(step) && !special[i].special);
}

/** @param {TokenReply[]} tokens @param {string} lang @returns {Label[]} */
export function labels(tokens, lang) {
  const words = tokens.map(({ text }) => visible(text.replace(LEADING_SPACE, "") || text));
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const word of words) totals.set(word, (totals.get(word) ?? 0) + 1);
  /** @type {Map<string, number>} */
  const occurrences = new Map();
  return tokens.map(({ text, special, template, pair }, i) => {
    const word = words[i];
    occurrences.set(word, (occurrences.get(word) ?? 0) + 1);
    const nth = (totals.get(word) ?? 0) > 1 ? (occurrences.get(word) ?? 1) : null;
    const space = LEADING_SPACE.test(text) && text.replace(LEADING_SPACE, "") ? "·" : "";
    return { space, word, nth, lang: special ? "en" : lang, special, ...(template ? { template } : {}), ...(pair ? { pair } : {}), pad: isPad(tokens[i]) };
  });
}

/**
 * The labels of a trace, by text. A row of a written text has read one token and writes the next.
 * @param {Trace} trace
 * @returns {{texts: Record<string, Label[]>, written: Label[]}}
 */
export function traceLabels(trace) {
  const [from, to] = languages(trace.direction);
  const texts = Object.entries(trace.tokens).map(([text, tokens], i) => [text, labels(tokens, i ? to : from)]);
  return { texts: Object.fromEntries(texts), written: labels(trace.output.tokens, to) };
}

/**
 * @param {string} direction  e.g. "en-zh"; "" if the model does not translate
 * @returns {[string, string]}
 */
export function languages(direction) {
  const [from, to = ""] = direction.split("-");
  return [bcp47(from), bcp47(to)];
}

/**
 * BCP 47 tags of a model's languages: its Chinese is simplified; the zoo's two "languages" are
 * English.
 */
const TAGS = new Map([
  ["zh", "zh-Hans"],
  ["in", "en"],
  ["out", "en"],
]);

/** @param {string} lang */
export const bcp47 = (lang) => TAGS.get(lang) ?? lang;

/**
 * As plain text, for an axis, a title or a copied line.
 * @param {Label} label
 */
export function plainLabel(label) {
  return label.space + numberedWord(label);
}

/**
 * Without the dot for its space, for quoting a token. A word from right to left is isolated, so that
 * it does not change the order of the sentence around it.
 * @param {Label} label
 */
export function numberedWord(label) {
  const word = bareWord(label);
  return isRightToLeft(label) ? `\u2068${word}\u2069` : word;
}

/** @param {Pick<Label, "word">} label */
export const isRightToLeft = ({ word }) => RIGHT_TO_LEFT.test(word);

/** The same for an element that isolates it. @param {Label} label */
export function bareWord({ word, nth }) {
  return (
    word + (nth === null ? "" : [...String(nth)].map((digit) => SUBSCRIPTS[Number(digit)]).join(""))
  );
}

/** @param {Step} step */
export function plainStep({ reads, writes, position, short }) {
  if (position !== undefined) return `${position} ${plainLabel(writes)}`;
  if (short) return `→ ${plainLabel(writes)}`;
  return reads ? `${plainLabel(reads)} → ${plainLabel(writes)}` : plainLabel(writes);
}

/** @param {string} text  A newline or a zero-width mark is a token too, and has to be seen. */
function visible(text) {
  if (!text.replace(JOINERS, "")) return text.replace(JOINERS, codePoint);
  const spaced = text.replace(/ /g, "·").replace(/\n/g, "⏎").replace(/\t/g, "⇥");
  return spaced.replace(CONTROLS, codePoint);
}

/** @param {string} mark */
const codePoint = (mark) => `U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
