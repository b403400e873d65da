/** What the view says of a row: of its token's logit, or of its log-odds against another token. */

import { isBetweenTexts, blockOf } from "../../core/wire/attentions.js";
import { el } from "../../lib/render.js";
import { change, four, tiny, two } from "../../lib/numbers.js";
import { quoted } from "../../core/draw/token.js";
import { ahead } from "../../core/compute/contrast.js";
import { settledLayer, strongestHead } from "../../core/compute/logit-lens.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Sum } from "../../core/compute/logit-lens.js" */
/** @import { Child } from "../../lib/render.js" */
/** @typedef {{label: Label, lens: number[]}} Rival  the other token, and the contrast after each layer */

/**
 * @param {Context} context
 * @param {Label} written
 * @param {import("../../core/compute/logit-lens.js").Layer[]} layers
 * @param {Sum | null} sum
 * @param {Rival | null} rival
 * @returns {Child[]}
 */
export function lensFinding(context, written, layers, sum, rival) {
  const { store, t, phrase } = context;
  const token = el("span", { className: "as-query" }, quoted(written));
  const lead = rival ? leads(context, token, rival) : isFirst(context, token, layers);
  if (!sum) return lead;
  const best = strongestHead(sum);
  const values = { at: best.layer + 1, head: best.head + 1, value: change(best.value), logit: two(sum.logit) };
  const joins = isBetweenTexts(blockOf(store.get().model, best.block));
  const message = rival
    ? joins
      ? t("Cross-attention head {head} of layer {at} adds most to the log-odds of {logit} nats: {value}.")
      : t("Self-attention head {head} of layer {at} adds most to the log-odds of {logit} nats: {value}.")
    : joins
      ? t("Cross-attention head {head} of layer {at} adds most to its logit of {logit}: {value}.")
      : t("Self-attention head {head} of layer {at} adds most to its logit of {logit}: {value}.");
  // After a full-width full stop no space is needed.
  const full = String(lead.at(-1)).endsWith("。");
  return [...lead, full ? "" : " ", ...phrase(message, values)];
}

/** @param {Context} context @param {Child} token @param {import("../../core/compute/logit-lens.js").Layer[]} layers */
function isFirst({ t, phrase }, token, layers) {
  const first = settledLayer(layers);
  return first === null
    ? phrase(t("{token} is at rank {rank} after the last layer."), { token, rank: layers[layers.length - 1].rank })
    : phrase(t("{token} is most probable from layer {layer} on."), { token, layer: first + 1 });
}

/** @param {Context} context @param {Child} token @param {Rival} rival */
function leads({ t, phrase }, token, { label, lens }) {
  const first = ahead(lens);
  const rivalToken = quoted(label);
  return first === null
    ? phrase(t("{token} is less probable than {other} after the last layer."), { token, other: rivalToken })
    : phrase(t("{token} is more probable than {other} from layer {layer} on."), { token, other: rivalToken, layer: first + 1 });
}

/**
 * @param {Context} context
 * @param {Label} written
 * @param {Sum} sum
 * @param {Rival | null} rival
 * @param {number} writtenLogit  the logit of the written token
 */
export function balanced({ t, phrase }, written, { sum, logit }, rival, writtenLogit) {
  const values = { sum: four(sum), token: quoted(written), logit: four(logit), off: el("span", { className: "off" }, tiny(Math.abs(sum - logit))) };
  if (!rival) return phrase(t("All parts together: {sum}. The model's logit of {token}: {logit}. Difference: {off}."), values);
  const logits = { mine: four(writtenLogit), theirs: four(writtenLogit - logit), other: quoted(rival.label) };
  return phrase(t("All parts together: {sum}. The model's logit of {token} ({mine}) minus that of {other} ({theirs}): {logit}. Difference: {off}."), { ...values, ...logits });
}

/** The name of the table of heads. @param {Context["t"]} t @param {Rival | null} rival */
export const headLabel = (t, rival) =>
  rival ? t("What each head adds to the log-odds. Arrow keys move, Enter selects a head.") : t("What each head adds to the logit. Arrow keys move, Enter selects a head.");

/** What the colours mean. @param {Context} context @param {Label} written @param {Rival | null} rival */
export const colours = ({ t, phrase }, written, rival) =>
  rival ? phrase(t("Orange speaks for {token}, blue for {other}."), { token: quoted(written), other: quoted(rival.label) }) : [t("Orange raises the logit; blue lowers it.")];

/** @param {Context} context @param {Label} written @param {Rival} rival */
export const column = ({ t, phrase }, written, rival) =>
  phrase(t("Last column: the log-odds in nats, above zero where {token} is more probable than {other}."), { token: quoted(written), other: quoted(rival.label) });

/** @param {Context["t"]} t @param {number} layers */
export const lensRemarks = (t, layers) => [
  t("Exact for layer {n}, the last: this is the model's own output.", { n: layers }),
  t("An approximation for the others: their streams go through the output matrix as if no layer came after, which they were not trained for."),
];

/** @param {Context["t"]} t @param {import("../../core/wire/attentions.js").Model} model @param {Rival | null} rival */
export const headRemarks = (t, model, rival) => [
  model && model.texts.length > 1 && (rival
    ? t("Only decoder heads add to the log-odds directly; encoder heads contribute through cross-attention.")
    : t("Only decoder heads add to the logit directly; encoder heads contribute through cross-attention.")),
  t("Click a head to see its attention below."),
].filter((line) => typeof line === "string");

/** @param {Context["t"]} t @param {Rival | null} rival */
export const sumRemarks = (t, rival) => [
  rival
    ? t("Exact as a sum: with the mean and σ of every layer norm as they were in this run, the difference of the two logits is the sum of these parts.")
    : t("Exact as a sum: with the mean and σ of every layer norm as they were in this run, the logit is the sum of these parts."),
  t("Only an approximation of the effect of removing a part: without it, σ and all later layers would change."),
  rival
    ? t("The difference of the logits is the natural logarithm of how many times more probable one token is than the other. A part that raises both logits equally adds nothing.")
    : t("Only differences between logits matter: raising all logits equally changes no probability."),
];
