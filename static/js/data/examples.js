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

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("../state/link.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention" };
}
