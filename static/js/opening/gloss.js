/**
 * Glosses: for each written word, the source word that a head looks at once it has read the written
 * one. They are the model's guesses, not dictionary entries.
 */

/** @import { Alignment } from "../core/compute/alignment.js" */

/** The smallest weight of a gloss: below it, the head has not settled on one word. */
const SURE = 0.7;
/**
 * A Chinese word may have several characters: neighbours of the strongest one that have at least
 * half its weight belong to it.
 */
const BESIDE = 0.5;

const HAN = /^\p{Script=Han}$/u;
const WORD = /[\p{L}\p{N}]/u;

/**
 * @param {Pick<Alignment, "source" | "target" | "soft">} alignment  by the rows that have read a
 *   word
 * @returns {(string | null)[]}  one per written word; null if the head does not settle on a word
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
