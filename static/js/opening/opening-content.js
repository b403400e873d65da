/**
 * What the opening shows: the sentence and its translation word by word, the source words that each
 * written word looks at (by the head that aligns best while it writes), and a gloss under each (by
 * the head that aligns best once it has read the word).
 */

import { alignment } from "../core/compute/alignment.js";
import { glosses } from "./gloss.js";
import { finding } from "../core/compute/row-summary.js";
import { across, alone, attention, place } from "../core/wire/attentions.js";
import { labels, languages, ofWord } from "../core/wire/tokens.js";
import { memo } from "../lib/memo.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { Label } from "../core/wire/tokens.js" */
/**
 * @typedef {object} Opening
 * @property {Label[]} source
 * @property {Written[]} written
 * @property {number} first  index of the word highlighted first
 */
/**
 * @typedef {object} Written  a word of the translation
 * @property {Label} label
 * @property {string | null} gloss
 * @property {Float32Array} weights  on the source words while it is written
 * @property {number} special  weight on special tokens
 * @property {boolean} spoken  whether it is a word, not punctuation
 */

/**
 * The heads that the opening uses.
 * @param {Page["model"]} model
 * @returns {{writes: import("../core/wire/model.js").Head, reads: import("../core/wire/model.js").Head} |
 *   null}  null: the model's alignment was not measured
 */
function aligners(model) {
  const [writes, reads] = ["writes", "reads"].map((rows) => model?.aligners?.find((head) => head.rows === rows));
  return writes && reads ? { writes, reads } : null;
}

/** Whether a model has an opening. @param {Page["model"]} model */
export const opens = (model) => aligners(model) !== null;

/** @param {Page["model"]} model @returns {string[]}  addresses */
export function openingNeeds(model) {
  const heads = aligners(model);
  if (!heads) return [];
  const block = across(model).id;
  return [heads.writes, heads.reads].flatMap(({ layer }) => ["weights", "mask"].map((name) => place(model, { block, layer }, name)));
}

/** @param {Pick<Page, "model" | "trace">} page @returns {Opening | null}  null while something is on its way */
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
 * @param {import("../core/compute/alignment.js").Alignment} writes
 * @param {import("../core/compute/alignment.js").Alignment} reads
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

/** The word that looks most strongly at one source word. @param {Written[]} written */
function clearest(written) {
  const score = (/** @type {Written} */ { weights, spoken }) => (spoken ? Math.max(0, ...weights) : -1);
  return written.reduce((best, one, i) => (score(one) > score(written[best]) ? i : best), 0);
}

/**
 * What a written word looks at, claiming no more than its numbers.
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
