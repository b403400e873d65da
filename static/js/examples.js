/** Sentences to begin with, and where a page opens that was not told where. */

export const EXAMPLES = Object.freeze([
  { lang: "en", text: "If it rains tomorrow, we will stay at home." },
  { lang: "en", text: "I don't know why she is crying." },
  { lang: "zh", text: "他每天早上喝一杯咖啡。" },
  { lang: "zh", text: "我昨天在图书馆看见了你的老师。" },
]);

/**
 * @param {string} lang  of the interface
 * @returns {Partial<import("./url.js").State>}
 */
export function opening(lang) {
  const { text } = EXAMPLES.find((example) => example.lang === lang) ?? EXAMPLES[0];
  return { source: text, view: "attention", block: "cross" };
}
