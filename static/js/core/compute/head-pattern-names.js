/** Names of the server's measures and patterns of heads; docs/patterns.md has their rules. */

import { two } from "../../lib/numbers.js";

/** @import { Translate } from "../../lib/i18n.js" */
/**
 * @typedef {object} Measure
 * @property {string} name
 * @property {string} order  the sort order in words
 * @property {boolean} [rising]  smallest first
 * @property {string} [unit]
 * @property {string} [note]  what its number is, in full
 */

/** @param {Translate} t @returns {Record<string, Measure>} */
export const measures = (t) => ({
  entropy: { name: t("entropy"), order: t("entropy, sharp heads first"), rising: true, unit: t("nats"), note: t("entropy in nats: 0 if each row looks at a single token, the larger the more spread out") },
  distance: { name: t("distance"), order: t("distance, far heads first"), unit: t("tokens") },
  alignment: { name: t("alignment"), order: t("how close to one-to-one") },
  previous: { name: t("previous token"), order: t("weight on the previous token") },
  itself: { name: t("itself"), order: t("weight on the token itself") },
  next: { name: t("next token"), order: t("weight on the next token") },
  same: { name: t("same word"), order: t("weight on the same word elsewhere") },
  first: { name: t("first token"), order: t("weight on the first token") },
  last: { name: t("last token"), order: t("weight on the last token") },
  special: { name: t("special tokens"), order: t("weight on special tokens") },
});

/**
 * @param {Translate} t
 * @returns {Record<string, {name: string, says: string}>}  a word for the thumbnail, and a sentence
 */
export const patterns = (t) => ({
  "previous-token": { name: t("previous"), says: t("Looks mostly at the token before.") },
  itself: { name: t("itself"), says: t("Looks mostly at the token itself.") },
  "next-token": { name: t("next"), says: t("Looks mostly at the token after.") },
  "same-word": { name: t("same word"), says: t("Looks mostly at the same word elsewhere.") },
  "first-token": { name: t("first"), says: t("Looks mostly at the first token.") },
  "last-token": { name: t("last"), says: t("Looks mostly at the last token.") },
  special: { name: t("special"), says: t("Looks mostly at special tokens.") },
  alignment: { name: t("alignment"), says: t("Each word looks at a different word.") },
  broad: { name: t("broad"), says: t("Attention is nearly uniform.") },
  mixed: { name: t("mixed"), says: t("Its rows look in different ways: no pattern has most of its weight.") },
  none: { name: t("too few"), says: t("Too few rows have a choice to show a pattern.") },
});

/**
 * Short names of the patterns that are counted row by row, over many sentences.
 * @param {Translate} t
 * @returns {Record<string, string>}
 */
export const rowPatterns = (t) => ({
  "previous-token": t("previous token"),
  itself: t("the token itself"),
  "next-token": t("next token"),
  "same-word": t("same word"),
  induction: t("induction"),
  "first-token": t("first token"),
  "last-token": t("last token"),
  punctuation: t("punctuation"),
  special: t("special tokens"),
  sink: t("sink"),
  nearby: t("nearby"),
  "one-word": t("one word"),
  broad: t("broad"),
});

/**
 * What a head does over many sentences: "nearby 0.71, then special tokens 0.18".
 * @param {[string, number][] | undefined} patterns
 * @param {Translate} t
 * @returns {string}  empty: not known
 */
export function inGeneral(patterns, t) {
  if (!patterns) return "";
  const names = rowPatterns(t);
  return patterns.map(([name, share]) => `${names[name] ?? name} ${two(share)}`).join(t(", then ")) || t("no pattern in a tenth of its rows");
}

/**
 * The measures that a head has, in order.
 * @param {import("../wire/safetensors.js").Summary | undefined} summary
 * @param {Translate} t
 * @returns {[string, Measure][]}
 */
export function presentMeasures(summary, t) {
  return Object.entries(measures(t)).filter(([name]) => summary?.[name]?.length);
}
