/** What the alignment view shows: the weights, the words that they connect, and what is said of them. */

import { combine } from "../../core/compute/aggregate-attention.js";
import { alignment } from "../../core/compute/alignment.js";
import { quoted } from "../../core/draw/token.js";
import { doubtSentence, headName } from "../../core/figure/row-wording.js";
import { isOff } from "../../core/store/interventions.js";
import { attention, crossBlock, extent, isSupervised } from "../../core/wire/model-description.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { plane } from "../../core/wire/safetensors.js";
import { el, h } from "../../lib/dom.js";
import { four, rounded, two } from "../../lib/numbers.js";

/** @import { Alignment, Rows } from "../../core/compute/alignment.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Matrix, Trace } from "../../core/wire/safetensors.js" */

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

/** @param {Page} page @returns {import("../../core/wire/safetensors.js").Matrix | null}  null until all of it is here */
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
function alignerOf({ link, model }) {
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

// The texts of the alignment view: the finding, which head aligns best, and what is not drawn.

// Words in the captions of the alignment view, in the colours of queries and keys.

/** @param {Label} written */
const asQuery = (written) => el("span", { className: "as-query" }, quoted(written));

/** @param {Label} source */
const asKey = (source) => el("span", { className: "as-key" }, quoted(source));

// The texts of the alignment view when it shows attributions instead of attention.

/** @type {Record<Method, (t: Context["t"]) => string>} */
export const NAMES = {
  occlusion: (t) => t("occlusion"),
  "integrated-gradients": (t) => t("integrated gradients"),
  "gradient-input": (t) => t("gradient × input"),
};

/** @type {Record<Method, (t: Context["t"]) => string>} */
const FINDINGS = {
  occlusion: (t) => t("{written} depends most on {source}: without it, its log-probability is {value} nats lower."),
  "integrated-gradients": (t) => t("{written} depends most on {source}: by integrated gradients, it adds {value} nats to its log-probability."),
  "gradient-input": (t) => t("{written}: gradient × input is largest for {source}, {value} nats."),
};

/** @param {number} value  in nats */
const nats = (value) => (Math.abs(value) < 0.005 ? four(value) : two(value));

/**
 * The finding for a written word, and how well its row agrees with attention.
 * @param {Pick<Context, "phrase" | "t">} context
 * @param {AlignmentData} shown
 * @param {number} row
 */
function attributedSentence({ phrase, t }, { method, alignment, agree, source, target }, row) {
  if (method === "attention") return [];
  const best = alignment.hard[row];
  const written = asQuery(target[row]);
  const finding =
    best < 0
      ? phrase(t("{written}: no source word makes it more probable."), { written })
      : phrase(FINDINGS[method](t), { written, source: asKey(source[best]), value: nats(alignment.soft.values[row * alignment.soft.cols + best]) });
  const tau = agree?.[row] ?? NaN;
  if (Number.isNaN(tau)) return finding;
  const compared = t("Agreement with attention: τ = {tau}.", { tau: two(tau) });
  // After a full-width full stop no space is needed.
  return [...finding, String(finding.at(-1)).endsWith("。") ? "" : " ", compared];
}

/**
 * @param {Context["t"]} t
 * @param {AlignmentData} shown
 * @returns {string[]}  what the numbers are, and how good
 */
function attributedRemarks(t, { page, method, agree }) {
  if (method === "attention") return [];
  const taus = (agree ?? []).filter((tau) => !Number.isNaN(tau));
  const mean = taus.reduce((sum, tau) => sum + tau, 0) / taus.length;
  return [
    t("In nats of the written word’s log-probability, summed over the pieces of both words. Orange: the source word makes it more probable; blue: less probable."),
    ...about(t, page, method),
    ...(taus.length ? [t("Kendall’s τ compares the order of the source words with that by attention: 1 is the same order, −1 the opposite one; the mean over the written words is {tau}.", { tau: two(mean) })] : []),
  ];
}

/** @param {Context["t"]} t @param {AlignmentData["page"]} page @param {Method} method */
function about(t, page, method) {
  if (method === "occlusion") return [t("Each source token is hidden from all heads, one at a time; the others keep their positions. If either of two words would do, hiding one shows little.")];
  if (method === "gradient-input") return [t("Exact as a slope, but a poor guide to what happens without a word: where the model is nearly certain, the slope is almost zero.")];
  const off = page.trace && completeness(page.trace);
  return [
    t("Averaged along the path from the same sentence with its words’ embeddings at zero."),
    ...(off ? [completenessSaid(t, off)] : []),
  ];
}

/** @param {Context["t"]} t @param {{sum: number, change: number, complete: boolean}} off */
const completenessSaid = (t, { sum, change, complete }) =>
  complete
    ? t("Complete: each row sums to the difference between the two ends of the path, to within 2 percent or 0.01 nats.")
    : t("Not complete: a row sums to {sum} nats, but the two ends of the path differ by {change} nats. Its numbers are approximate.", { sum: two(sum), change: two(change) });

/**
 * The finding for a written word.
 * @param {Pick<Context, "phrase" | "t">} context
 * @param {AlignmentData} state
 * @param {number} row
 */
export function sentence({ phrase, t }, state, row) {
  const { page, alignment, by, source, target } = state;
  const values = { place: subject(page, t), written: asQuery(target[row]) };
  if (state.method !== "attention") return attributedSentence({ phrase, t }, state, row);
  const best = alignment.hard[row];
  if (page.link.options.of === "head" && isOff(page)) return phrase(t("{place}: this head is off; it contributes nothing."), values);
  const [none, strongest] =
    by === "writes"
      ? [
          t("{place}: while writing {written}, it looks at no source word."),
          t("{place}: while writing {written}, it looks most at {source} ({weight})."),
        ]
      : [
          t("{place}: after reading {written}, it looks at no source word."),
          t("{place}: after reading {written}, it looks most at {source} ({weight})."),
        ];
  if (Number.isNaN(alignment.special[row]))
    return phrase(t("{place}: {written} was written last, and no row has read it."), values);
  if (best < 0) return phrase(none, values);
  const finding = phrase(strongest, {
    ...values,
    source: asKey(source[best]),
    weight: rounded(alignment.soft.values[row * alignment.soft.cols + best], alignment.soft.error, two),
  });
  return [...finding, ...doubtSentence({ phrase, t }, page, alignment.target.groups[row])];
}

/** @param {import("../../lib/dom.js").Child} part */
export const text = (part) => h("span", {}, part).textContent ?? "";

/** @param {Page} page @param {Context["t"]} t */
function subject({ link, model }, t) {
  if (link.options.of === "all") return t("Mean of all layers and heads");
  if (link.options.of === "layer") return t("Layer {layer}, mean of its heads", { layer: link.layer + 1 });
  return headName(t, { link, model });
}

/**
 * Which head aligns best, with a link to it; one element per sentence.
 * @param {Pick<Context, "phrase" | "t" | "store">} context
 * @param {Page} page
 */
export function bestAligner({ phrase, store, t }, page) {
  const [best] = page.model?.aligners ?? [];
  if (!best) return [];
  const aligner = alignerOf(page);
  const rate = Math.round((aligner?.error_rate ?? 0) * 100);
  const bestLine = aligner
    ? [t("★ On these rows, this is the single head closest to human word alignment (alignment error rate {rate} %).", { rate })]
    : [];
  const { layer, head } = best;
  const go = h("button", { type: "button" }, t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }));
  go.addEventListener("click", () => {
    const { options } = page.link;
    store.go({ layer, head, options: { ...options, of: "head", rows: null } }, "chosen");
  });
  const message = aligner
    ? t("Closest on the other rows: {place}.")
    : t("★ The head closest to human word alignment: {place}.");
  return [bestLine, aligner === best ? [] : phrase(message, { place: go })]
    .filter((sentence) => sentence.length)
    .map((sentence) => h("span", {}, ...sentence));
}

/**
 * Notes: what is not drawn, whether training supervised the head, and what alignment does not
 * prove.
 * @param {Pick<Context, "t">} context
 * @param {AlignmentData} state
 * @param {number} least
 * @param {number} faint
 */
export function remarks({ t }, state, least, faint) {
  const { page: { link, model }, alignment } = state;
  const pairs =
    faint === 1
      ? t("1 pair below {least} has no line.", { least: two(least) })
      : faint
        ? t("{n} pairs below {least} have no line.", { n: faint, least: two(least) })
        : t("Every pair has a line.");
  if (state.method !== "attention") return [...attributedRemarks(t, state), ...(faint ? [pairs] : [])];
  const special = alignment.special.filter((value) => !Number.isNaN(value));
  const mass = special.reduce((sum, value) => sum + value, 0) / Math.max(special.length, 1);
  const sentences = [
    t("The pieces of a word are merged: weights are summed over source pieces and averaged over written pieces."),
    t("Special tokens are left out; they get {mass} of the attention.", { mass: two(mass) }),
    pairs,
  ];
  if (link.options.of === "head" && model && isSupervised(model, link))
    sentences.push(
      t("This is one of {n} heads trained with alignment supervision; the others learned what they do on their own.", { n: model.taught?.length ?? 0 }),
    );
  return [...sentences, t("Attention to a word does not prove that this word was translated.")];
}
