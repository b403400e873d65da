/** The data of the alignment view: the weights, and the words that they connect. */

import { combine } from "../../core/compute/aggregate-attention.js";
import { alignment } from "../../core/compute/alignment.js";
import { attention, crossBlock, extent } from "../../core/wire/model.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { plane } from "../../core/wire/wire.js";

/** @import { Alignment, Rows } from "../../core/compute/alignment.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Matrix, Trace } from "../../core/wire/wire.js" */
/** @import { Page } from "../../core/store/store.js" */

// How much each source word has to do with each written word, computed by the server by hiding words
// or from gradients, in nats of the written word's log-probability, and how well two such matrices
// agree.

/** @typedef {"occlusion" | "integrated-gradients" | "gradient-input"} Method */

export const METHODS = /** @type {const} */ (["occlusion", "integrated-gradients", "gradient-input"]);

/** What a row of integrated gradients should sum to. */
const CHANGE = "inside.integrated-gradients.change";

/** The tensors of a method. @param {Method} method */
export const tensors = (method) => [`inside.${method}`, ...(method === "integrated-gradients" ? [CHANGE] : [])];

/**
 * Word by word: the log-probability of a written word is the sum of its pieces', so its values are
 * summed over its pieces, where weights are averaged. `soft` and `special` are in nats; `hard` is the
 * source word that raises the log-probability most, −1 if none does.
 * @param {{read: import("../../core/wire/schemas.d.ts").TokenReply[], written: import("../../core/wire/schemas.d.ts").TokenReply[]}} tokens
 * @param {Matrix} values  [written token, source token]
 * @returns {Alignment}
 */
export function attributed(tokens, values) {
  const result = alignment(tokens, values);
  const { soft, target } = result;
  const sizes = target.groups.map((group) => group.length);
  const nats = soft.values.map((value, i) => value * sizes[Math.floor(i / soft.cols)]);
  return { ...result, soft: { ...soft, values: nats }, special: result.special.map((value, word) => value * sizes[word]) };
}

/** The largest absolute value. @param {Matrix} matrix */
export const largest = ({ values }) => Array.from(values).reduce((maximum, value) => Math.max(maximum, Math.abs(value) || 0), 0);

/** By how much a row may miss its change: this part of it, or so many nats; as the server integrates. */
const [SHARE, NATS] = [0.02, 0.01];

/**
 * Completeness of integrated gradients: the row that is farthest from what it should sum to, measured
 * by what it may be off.
 * @param {Trace} trace
 * @returns {{sum: number, change: number, complete: boolean} | null}  in nats; null if the trace lacks it
 */
export function completeness(trace) {
  const [values, change] = tensors("integrated-gradients").map((name) => trace.tensors[name]);
  if (!values || !change) return null;
  const cols = values.shape[1];
  let worst = { sum: 0, change: 0, off: 0 };
  change.data.forEach((total, row) => {
    const sum = Array.from(values.data.subarray(row * cols, (row + 1) * cols)).reduce((all, value) => all + value, 0);
    const off = Math.abs(sum - total) / Math.max(SHARE * Math.abs(total), NATS);
    if (off > worst.off) worst = { sum, change: total, off };
  });
  return { sum: worst.sum, change: worst.change, complete: worst.off <= 1 };
}

/**
 * Kendall's τ_b: (concordant − discordant pairs) / √(pairs untied in one · pairs untied in the other).
 * Source: Kendall 1945, "The Treatment of Ties in Ranking Problems".
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 * @returns {number}  1: the same order, −1: the opposite one; NaN if one of them orders nothing
 */
export function kendall(first, second) {
  let [sum, firstPairs, secondPairs] = [0, 0, 0];
  for (let i = 1; i < first.length; i++)
    for (let j = 0; j < i; j++) {
      const [a, b] = [Math.sign(first[i] - first[j]), Math.sign(second[i] - second[j])];
      sum += a * b;
      firstPairs += a * a;
      secondPairs += b * b;
    }
  return sum / Math.sqrt(firstPairs * secondPairs);
}

/** Kendall's τ_b of each row. @param {Matrix} first @param {Matrix} second  of the same shape */
export const agreement = (first, second) =>
  Array.from({ length: first.rows }, (_, row) => {
    const [a, b] = [first, second].map(({ values, cols }) => values.subarray(row * cols, (row + 1) * cols));
    return kendall(/** @type {Float32Array} */ (a), /** @type {Float32Array} */ (b));
  });

/**
 * @typedef {object} AlignmentData
 * @property {Page} page
 * @property {Alignment} alignment
 * @property {Rows} by
 * @property {"attention" | Method} method  what `found` holds
 * @property {number} limit  the value of the widest line: 1, or the largest attribution
 * @property {number[] | null} agree  τ of each written word's attributions with its attention
 * @property {Label[]} source
 * @property {Label[]} target
 */

/** @param {Page} page */
export function layers({ link, model }) {
  if (link.options.of !== "all" || !model) return [link.layer];
  return [...Array(extent(model, crossBlock(model).id).layers).keys()];
}

/**
 * Whether attributions can be shown: the model has them, and they are in the trace if nothing more
 * can be requested.
 * @param {Page} page
 */
export function attributes({ model, trace, share, live }) {
  if (!model?.capabilities?.includes("attribution")) return false;
  return !share || live || Boolean(trace?.tensors["inside.occlusion"]);
}

/** What is shown: attention, or a kind of attribution. @param {Page} page @returns {AlignmentData["method"]} */
export function methodOf(page) {
  const { connects: by } = page.link.options;
  const isRecorded = by !== "attention" && Boolean(page.trace?.tensors[tensors(by)[0]]);
  return isRecorded || attributes(page) ? by : "attention";
}

/** The attributions that are needed. @param {Page} page @returns {string[]} */
export function needed(page) {
  const method = methodOf(page);
  return method === "attention" ? [] : tensors(method);
}

/** @param {Page} page @returns {AlignmentData | null}  null until all of it is here */
export function content(page) {
  const { trace, model } = page;
  const matrix = weights(page);
  if (!trace || !matrix) return null;
  const by = rowsOf(page);
  const tokens = { read: trace.tokens[crossBlock(model).key], written: trace.output.tokens };
  const attended = alignment(tokens, matrix, by);
  const method = methodOf(page);
  const values = method === "attention" ? null : trace.tensors[tensors(method)[0]];
  if (values === undefined) return null;
  const aligned = values ? attributed(tokens, plane(values)) : attended;
  const [from, to] = languages(trace.direction);
  const attribution = values
    ? { method, limit: largest(aligned.soft) || 1, agree: agreement(aligned.soft, attended.soft) }
    : { method, limit: 1, agree: null };
  return { page, alignment: aligned, by, ...attribution, source: labels(aligned.source.tokens, from), target: labels(aligned.target.tokens, to) };
}

/** @param {Page} page @returns {import("../../core/wire/wire.js").Matrix | null}  null until all of it is here */
function weights(page) {
  const { trace, link, model } = page;
  if (!trace || !model) return null;
  const { id: block } = crossBlock(model);
  const heads = link.options.of === "head" ? [link.head] : [...Array(extent(model, block).heads).keys()];
  const planes = layers(page).flatMap((layer) => heads.map((head) => attention(model, trace, { block, layer, head })));
  const available = planes.filter((plane) => plane !== null);
  return available.length === planes.length ? combine(available, "mean") : null;
}

/**
 * The kind of rows by which the selected head aligns best of all heads, if any.
 * @param {Page} page
 */
export function alignerOf({ link, model }) {
  if (link.options.of !== "head") return undefined;
  return model?.aligners?.find(
    ({ layer, head, rows }) =>
      layer === link.layer && head === link.head && [null, rows].includes(link.options.rows),
  );
}

/**
 * The chosen rows, else those by which the head aligns best.
 * @param {Page} page
 * @returns {Rows}
 */
export const rowsOf = (page) => page.link.options.rows ?? alignerOf(page)?.rows ?? "writes";
