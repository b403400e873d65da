/**
 * A word for each written word, in the language of the sentence: the source word that a head looks at
 * once it has read the written one. It is a guess of the model's: no dictionary is asked.
 */

/** @typedef {import("./alignment.js").Alignment} Alignment */

/** The share of a row that a gloss has to have: below it, the head has not settled on a word. */
const SURE = 0.7;
/** A Chinese word is one or more characters; those beside the strongest belong to it that have half as much. */
const BESIDE = 0.5;

const HAN = /^\p{Script=Han}$/u;
const WORD = /[\p{L}\p{N}]/u;

/**
 * @param {Pick<Alignment, "source" | "target" | "soft">} alignment  by the rows that have read a word
 * @returns {(string | null)[]}  one for each written word; null where the head looks at none
 */
export function glosses({ source, target, soft: { cols, values } }) {
  const names = source.tokens.map(({ text }) => text.trim());
  return target.tokens.map(({ text }, word) => (WORD.test(text) ? gloss(names, [...values.subarray(word * cols, (word + 1) * cols)]) : null));
}

/** @param {string[]} names @param {number[]} row  weights of the source words */
function gloss(names, row) {
  const best = row.reduce((most, weight, i) => (weight > row[most] ? i : most), 0);
  if (!WORD.test(names[best] ?? "")) return null;
  const joins = (/** @type {number} */ i) => HAN.test(names[i] ?? "") && HAN.test(names[best]) && row[i] >= row[best] * BESIDE;
  let [from, to] = [best, best + 1];
  while (joins(from - 1)) from--;
  while (joins(to)) to++;
  const share = row.slice(from, to).reduce((sum, weight) => sum + weight, 0);
  return share >= SURE ? names.slice(from, to).join("") : null;
}
