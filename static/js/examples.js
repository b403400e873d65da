/** Sentences to begin with, and where a page opens that was not told where. */

export const EXAMPLES = Object.freeze([
  { lang: "en", text: "The dog is sleeping because it is tired." },
  { lang: "en", text: "I gave the book to my sister yesterday." },
  { lang: "zh", text: "他每天早上喝一杯咖啡。" },
  { lang: "zh", text: "我不知道她为什么哭了。" },
]);

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("./url.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention", block: "cross" };
}
