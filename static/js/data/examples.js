/** Sentences to begin with, and where a page opens that was not told where. */

/** What the last word decides: who "it" is. */
export const WHO_IS_IT = "The animal didn't cross the street because it was too tired.";

/**
 * The first of a language is the one that the page opens on: its words change places. The others
 * have a negation and a reason, a clause before its noun, and a place before its verb.
 *
 * The second is known from Uszkoreit 2017 (Transformer, Google's research blog), where a head shows
 * which noun "it" stands for. No head of the shipped model does (see its card), so the page must not
 * say so; the zoo's "who is it?" is the model that does.
 */
export const EXAMPLES = Object.freeze([
  { lang: "en", text: "My mother bought a new book yesterday." },
  { lang: "en", text: WHO_IS_IT },
  { lang: "zh", text: "我妈妈昨天买了一本新书。" },
  { lang: "zh", text: "坐在门口的那个人是我的老师。" },
  { lang: "zh", text: "他在图书馆等了我两个小时。" },
]);

/** Of each task of the zoo: short, as long as it was trained on, and one that shows what is hard. @type {Record<string, string[]>} */
export const TASK_EXAMPLES = Object.freeze({
  copy: ["h e a d", "l i g h t", "a b c d e f g h"],
  reverse: ["r i c d", "l i g h t", "a b c d e f g h"],
  shift: ["r i c d", "l i g h t", "a b c d e f g h"],
  sort: ["h e a d", "l i g h t", "b a n a n a s"],
  brackets: ["([{", "([]{", "{[()]("],
  addition: ["27+58", "99+1", "40+7"],
  induction: ["r i c d i", "l i g h t i", "a b c d e f c"],
  who: [
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
  ],
});

/**
 * What a model can be tried with: sentences, or examples of the task that it learned.
 * @param {Pick<import("./model.js").ModelInfo, "zoo"> | null} model
 * @param {string} lang  of the interface
 * @returns {{lang: string, text: string}[]}
 */
export function examplesOf(model, lang) {
  if (model?.zoo) return (TASK_EXAMPLES[model.zoo.task] ?? []).map((text) => ({ lang: "en", text }));
  return [...EXAMPLES].sort((a, b) => Number(b.lang === lang) - Number(a.lang === lang));
}

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("../state/link.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention" };
}
