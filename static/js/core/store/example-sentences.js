/** Example sentences, by what they show, and the one on which the page opens. */

import { taskExamples } from "./zoo-names.js";

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
 * @param {Pick<import("../wire/model.js").ModelInfo, "zoo" | "prompts"> | null} model
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
