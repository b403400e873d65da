/**
 * What the opening shows of a page: the sentence and its translation word by word, which source words
 * each written word looks at in the head that aligns best while it writes, and a gloss under it from
 * the head that aligns best once it has read.
 */

import { alignment } from "../compute/alignment.js";
import { glosses } from "../compute/gloss.js";
import { finding } from "../compute/row-summary.js";
import { across, alone, attention, place } from "../data/attentions.js";
import { labels, languages, ofWord } from "../data/tokens.js";
import { memo } from "../lib/memo.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("../data/tokens.js").Label} Label */
/**
 * @typedef {object} Opening
 * @property {Label[]} source
 * @property {Written[]} written
 * @property {number} first  which of these is lit at first
 */
/**
 * @typedef {object} Written  a word of the translation
 * @property {Label} label
 * @property {string | null} gloss
 * @property {Float32Array} weights  of the source words while it is written
 * @property {number} special  what goes to special tokens
 * @property {boolean} spoken  whether it is a word and not a mark
 */

/**
 * The heads that it takes.
 * @param {Page["model"]} model
 * @returns {{writes: import("../data/model.js").Head, reads: import("../data/model.js").Head} | null}  null:
 *   nobody knows of this model which head aligns
 */
function aligners(model) {
  const [writes, reads] = ["writes", "reads"].map((rows) => model?.aligners?.find((head) => head.rows === rows));
  return writes && reads ? { writes, reads } : null;
}

/** Whether there is an opening for a model. @param {Page["model"]} model */
export const opens = (model) => aligners(model) !== null;

/** @param {Page["model"]} model @returns {string[]}  addresses */
export function openingNeeds(model) {
  const heads = aligners(model);
  if (!heads) return [];
  const block = across(model).id;
  return [heads.writes, heads.reads].flatMap(({ layer }) => ["weights", "mask"].map((name) => place(model, { block, layer }, name)));
}

/** @param {Page} page @returns {Opening | null}  null while something is on its way */
export function openingOf({ model, trace }) {
  const heads = aligners(model);
  if (!heads || !trace) return null;
  const { id: block, key } = across(model);
  const [writes, reads] = [heads.writes, heads.reads].map((head) => {
    const matrix = attention(model, trace, { block, ...head });
    return matrix && alignment({ read: trace.tokens[key], written: trace.output.tokens }, matrix, head.rows);
  });
  return writes && reads ? memo(trace, "opening", () => opening(trace.direction, writes, reads)) : null;
}

/**
 * @param {string} direction
 * @param {import("../compute/alignment.js").Alignment} writes
 * @param {import("../compute/alignment.js").Alignment} reads
 * @returns {Opening}
 */
function opening(direction, writes, reads) {
  const [from, to] = languages(direction);
  const meant = glosses(reads);
  const { cols, values } = writes.soft;
  const written = labels(writes.target.tokens, to).map((label, i) => ({
    label,
    gloss: meant[i] ?? null,
    weights: Float32Array.from(values.subarray(i * cols, (i + 1) * cols), (weight) => weight || 0),
    special: writes.special[i] || 0,
    spoken: ofWord(alone(label)),
  }));
  return { source: labels(writes.source.tokens, from), written, first: clearest(written) };
}

/** The word that looks hardest at one other. @param {Written[]} written */
function clearest(written) {
  const score = (/** @type {Written} */ { weights, spoken }) => (spoken ? Math.max(0, ...weights) : -1);
  return written.reduce((best, one, i) => (score(one) > score(written[best]) ? i : best), 0);
}

/**
 * What a written word looks at, in no more words than its numbers have.
 * @param {Written} word
 * @returns {{kind: "one" | "most" | "both" | "special" | "spread", keys: number[]}}
 */
export function seen({ weights, special }) {
  const found = finding(weights);
  if (!("keys" in found) || found.weight < special) return { kind: "special", keys: [] };
  const [key, other] = found.keys;
  if (found.kind === "both") return { kind: "both", keys: [key, other] };
  if (found.kind === "spread") return { kind: "spread", keys: [] };
  return { kind: found.weight >= 0.5 ? "one" : "most", keys: [key] };
}
