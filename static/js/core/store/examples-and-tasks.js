/**
 * Texts that the page offers: example sentences by what they show, with the one on which the page opens, and
 * the tasks of the zoo with their examples.
 */

/** @import { Translate } from "../../lib/i18n.js" */

// The zoo's tasks and models in words. To add a task to the page, add it to `TASKS`.

/**
 * @typedef {object} TaskWords
 * @property {(t: Translate) => string} name
 * @property {(t: Translate) => string} does  what the task is, and where attention must look
 * @property {(t: Translate) => string} takes  what may be typed
 * @property {string[]} examples  a short one, one of the longest trained length, and a difficult one
 */

/** @type {Record<string, TaskWords>} */
const TASKS = {
  copy: {
    name: (t) => t("Copy"),
    does: (t) => t("Write the letters again. Row by row, attention should go to the same place: a diagonal."),
    takes: letters,
    examples: ["h e a d", "l i g h t", "a b c d e f g h"],
  },
  reverse: {
    name: (t) => t("Reverse"),
    does: (t) => t("Write the letters backwards. Attention should go from the last letter to the first: an anti-diagonal."),
    takes: letters,
    examples: ["r i c d", "l i g h t", "a b c d e f g h"],
  },
  shift: {
    name: (t) => t("Shift by 2"),
    does: (t) => t("Begin with the third letter; the first two come last. Attention should go two places further."),
    takes: letters,
    examples: ["r i c d", "l i g h t", "a b c d e f g h"],
  },
  sort: {
    name: (t) => t("Sort"),
    does: (t) => t("Write the letters in the order of the alphabet. Attention should go to the next one in that order."),
    takes: letters,
    examples: ["h e a d", "l i g h t", "b a n a n a s"],
  },
  brackets: {
    name: (t) => t("Close brackets"),
    does: (t) => t("Close the open brackets, the last one first. Attention should go to the bracket being closed."),
    takes: (t) => t("Type brackets ( ) [ ] { } of which at least one is left open, each closed by its own kind."),
    examples: ["([{", "([]{", "{[()]("],
  },
  addition: {
    name: (t) => t("Addition"),
    does: (t) => t("Add two numbers. For each digit, attention should go to the two digits of its column."),
    takes: (t) => t("Type two numbers with a plus sign between them, such as 27+58."),
    examples: ["27+58", "99+1", "40+7"],
  },
  induction: {
    name: (t) => t("Look up what followed"),
    does: (t) => t("The last letter occurs earlier in the text: write the letter that followed it there."),
    takes: (t) => t("Type three or more letters; the last one must occur once before, followed by another letter."),
    examples: ["r i c d i", "l i g h t i", "a b c d e f c"],
  },
  who: {
    name: (t) => t("Who is it?"),
    does: (t) => t("Name the noun that “it” stands for. Only the last word decides: an animal gets tired, a street is " +
      "wide."),
    takes: (t) =>
      t("Type an English sentence of this kind, with nouns and properties that the task knows: The animal didn't cross the street because it was too tired."),
    examples: [
      "The animal didn't cross the street because it was too tired.",
      "The animal didn't cross the street because it was too wide.",
    ],
  },
};

/** @param {Translate} t */
function letters(t) {
  return t("Type letters from a to z, at most 32.");
}

/** @param {Translate} t @param {string} task */
export const taskName = (t, task) => TASKS[task]?.name(t) ?? task;

/** @param {Translate} t @param {string} task */
export const taskDoes = (t, task) => TASKS[task]?.does(t) ?? "";

/** @param {Translate} t @param {string} task */
export const taskTakes = (t, task) => TASKS[task]?.takes(t) ?? "";

/** @param {string} task */
export const taskExamples = (task) => TASKS[task]?.examples ?? [];

/** @type {Record<string, (t: Translate, value: any) => string>} */
const CHANGES = {
  positions: (t, value) =>
    ({
      sinusoidal: t("sinusoidal positions"),
      learned: t("learned positions"),
      relative: t("relative positions"),
      rotary: t("rotary positions"),
      none: t("no positions"),
    })[/** @type {string} */ (value)] ?? value,
  scoring: (t, value) => ({ scaled: t("scaled scores"), dot: t("unscaled scores"), additive: t("additive scores") })[/** @type {string} */ (value)] ?? value,
  heads: (t, value) => (value === 1 ? t("1 head") : t("{n} heads", { n: value })),
  norm: (t, value) => (value === "pre" ? t("pre-norm") : t("post-norm")),
  encoder_mask: (t, value) => (value === "full" ? t("full attention") : t("window of {n}", { n: String(value).replace("window-", "") })),
  encoder_layers: (t, value) => t("{n} encoder layers", { n: value }),
  warmup: (t) => t("no warm-up"),
  label_smoothing: (t) => t("label smoothing"),
  attention_dropout: (t) => t("attention dropout"),
};

/**
 * How a model differs from the plain one of its task.
 * @param {Translate} t
 * @param {Record<string, string | number>} changed
 */
export function changedName(t, changed) {
  const phrases = Object.entries(changed).map(([key, value]) => CHANGES[key]?.(t, value) ?? `${key} ${value}`);
  return phrases.join(", ") || t("plain");
}

/** What a plain model has of the parts that models are compared by. @type {Record<string, string>} */
const PLAIN = { positions: "sinusoidal", scoring: "scaled", norm: "post", encoder_mask: "full" };

/**
 * Models that all differ in the same part, so that the plain one is named by what it has there:
 * "sinusoidal positions" beside "learned positions". Others stay as they are.
 * @template {{changed: Record<string, string | number>}} M
 * @param {M[]} models
 * @returns {M[]}
 */
export function comparedByPart(models) {
  const parts = new Set(models.flatMap(({ changed }) => Object.keys(changed)));
  const [part] = parts;
  if (parts.size !== 1 || !(part in PLAIN)) return models;
  return models.map((model) => ({ ...model, changed: { [part]: PLAIN[part], ...model.changed } }));
}

/** What the lengths of a task count. @param {Translate} t @param {string} unit */
export const unitName = (t, unit) => ({ letters: t("Letters"), brackets: t("Brackets"), digits: t("Digits"), nouns: t("Nouns") })[unit] ?? t("Length");

// Example sentences, by what they show, and the one on which the page opens.

/** The last word decides what "it" refers to. */
export const WHO_IS_IT = "The animal didn't cross the street because it was too tired.";

/**
 * @typedef {object} Example
 * @property {string} lang
 * @property {string} text
 * @property {"order" | "negation" | "relative" | "reason" | "place"} shows
 * @property {string} at  the written word that shows it
 */

/**
 * The page opens on the first sentence of its language. In each, the word in `at` looks at its
 * counterpart in another place of the sentence; a test checks this.
 *
 * The sentence about the animal is from Uszkoreit 2017 (Transformer, Google's research blog), where
 * a head shows which noun "it" refers to. No head of the shipped model does this (see its card), so
 * here it is only an example of a reason; the zoo's "who is it?" model does. Compare changes its
 * last word.
 * @type {readonly Example[]}
 */
export const EXAMPLES = Object.freeze([
  { lang: "en", text: "My mother bought a new book yesterday.", shows: "order", at: "买" },
  { lang: "en", text: "She does not like coffee.", shows: "negation", at: "不" },
  { lang: "en", text: "The book that I bought yesterday is very interesting.", shows: "relative", at: "书" },
  { lang: "en", text: WHO_IS_IT, shows: "reason", at: "因" },
  { lang: "zh", text: "我妈妈昨天买了一本新书。", shows: "order", at: "yesterday" },
  { lang: "zh", text: "我不喜欢喝咖啡。", shows: "negation", at: "don't" },
  { lang: "zh", text: "坐在门口的那个人是我的老师。", shows: "relative", at: "man" },
  { lang: "zh", text: "他在图书馆等了我两个小时。", shows: "place", at: "library" },
]);

/**
 * Examples for a model: sentences, or inputs of the task that it learned.
 * @param {Pick<import("../wire/model-description.js").ModelInfo, "zoo" | "prompts"> | null} model
 * @param {string} lang  of the interface
 * @returns {(Pick<Example, "lang" | "text"> & Partial<Example>)[]}
 */
export function examplesOf(model, lang) {
  if (model?.prompts?.length) return model.prompts.map((text) => ({ lang: "en", text }));
  if (model?.zoo) return taskExamples(model.zoo.task).map((text) => ({ lang: "en", text }));
  return examplesFor(lang);
}

/** Examples in the reader's language first. @param {string} lang */
export const examplesFor = (lang) => [...EXAMPLES].sort((a, b) => Number(b.lang === lang) - Number(a.lang === lang));

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("./link.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention" };
}

// Names of the examples, by what they show.

/** @param {Example["shows"]} shows @param {import("../../lib/i18n.js").Translate} t */
export const exampleName = (shows, t) =>
  ({
    order: t("word order"),
    negation: t("negation"),
    relative: t("a relative clause"),
    reason: t("a reason"),
    place: t("a place"),
  })[shows];
