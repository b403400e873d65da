/** Sentences to begin with, and where a page opens that was not told where. */

/**
 * The first of a language is the one that the page opens on: its words change places. The others
 * show what a pronoun stands for, a negation, and a clause before its noun.
 */
export const EXAMPLES = Object.freeze([
  { lang: "en", text: "My mother bought a new book yesterday." },
  { lang: "en", text: "The cat didn't eat the fish because it was too big." },
  { lang: "zh", text: "我妈妈昨天买了一本新书。" },
  { lang: "zh", text: "那个穿红衣服的女孩是我妹妹。" },
]);

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("./url.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention", block: "cross" };
}
