/** The texts of the alignment view when it shows attributions instead of attention. */

import { completeness } from "./source-words.js";
import { four, two } from "../../lib/numbers.js";
import { asKey, asQuery } from "./quoted-words.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Method } from "./source-words.js" */
/** @import { Shown } from "./alignment-content.js" */

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
 * @param {Pick<Context, "say" | "t">} context
 * @param {Shown} shown
 * @param {number} row
 */
export function attributedSentence({ say, t }, { method, found, agree, source, target }, row) {
  if (method === "attention") return [];
  const best = found.hard[row];
  const written = asQuery(target[row]);
  const said =
    best < 0
      ? say(t("{written}: no source word makes it more probable."), { written })
      : say(FINDINGS[method](t), { written, source: asKey(source[best]), value: nats(found.soft.values[row * found.soft.cols + best]) });
  const tau = agree?.[row] ?? NaN;
  if (Number.isNaN(tau)) return said;
  const compared = t("Agreement with attention: τ = {tau}.", { tau: two(tau) });
  // After a full-width full stop no space is needed.
  return [...said, String(said.at(-1)).endsWith("。") ? "" : " ", compared];
}

/**
 * @param {Context["t"]} t
 * @param {Shown} shown
 * @returns {string[]}  what the numbers are, and how good
 */
export function attributedRemarks(t, { page, method, agree }) {
  if (method === "attention") return [];
  const taus = (agree ?? []).filter((tau) => !Number.isNaN(tau));
  const mean = taus.reduce((sum, tau) => sum + tau, 0) / taus.length;
  return [
    t("In nats of the written word’s log-probability, summed over the pieces of both words. Orange: the source word makes it more probable; blue: less probable."),
    ...about(t, page, method),
    ...(taus.length ? [t("Kendall’s τ compares the order of the source words with that by attention: 1 is the same order, −1 the opposite one; the mean over the written words is {tau}.", { tau: two(mean) })] : []),
  ];
}

/** @param {Context["t"]} t @param {Shown["page"]} page @param {Method} method */
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
