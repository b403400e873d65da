/** The kinds of positional encoding, and where in the computation they act. */

import { blockOf, typed, within } from "../wire/attentions.js";

/** @import { Model } from "../wire/attentions.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @typedef {"sinusoidal" | "learned" | "rotary" | "relative" | "none"} Base */
/** @typedef {"input" | "layer" | "qk" | "turn" | "scores" | ""} Where */
/** @typedef {{base: Base, where: Where, product: boolean}} PositionKind  product: a factor, and not a term */

/** @type {Record<string, PositionKind>} */
const KINDS = {
  sinusoidal: { base: "sinusoidal", where: "input", product: false },
  learned: { base: "learned", where: "input", product: false },
  "sinusoidal-each-layer": { base: "sinusoidal", where: "layer", product: false },
  "learned-each-layer": { base: "learned", where: "layer", product: false },
  "sinusoidal-on-qk": { base: "sinusoidal", where: "qk", product: false },
  "learned-on-qk": { base: "learned", where: "qk", product: false },
  rotary: { base: "rotary", where: "turn", product: false },
  relative: { base: "relative", where: "scores", product: false },
  "relative-product": { base: "relative", where: "scores", product: true },
  none: { base: "none", where: "", product: false },
};

/** @param {Model} model @returns {PositionKind} */
export const kindOf = (model) => KINDS[model?.positions ?? "sinusoidal"] ?? KINDS.none;

/**
 * Where the model's positions act, as a sentence.
 * @param {Translate} t
 * @param {PositionKind} kind
 */
export function whereSaid(t, { base, where, product }) {
  if (where === "input")
    return base === "learned"
      ? t("Learned positions: one row for each position, learned like any other parameter and added to the token's embedding.")
      : t("Sinusoidal positions: a fixed pattern of waves, added to the token's embedding.");
  if (where === "layer")
    return base === "learned"
      ? t("Learned positions: one row for each position, added to what every layer reads, and not to the embedding.")
      : t("Sinusoidal positions: a fixed pattern of waves, added to what every layer reads, and not to the embedding.");
  if (where === "qk")
    return base === "learned"
      ? t("Learned positions: one row for each position, added in every layer to what W_q and W_k multiply. Values and embeddings have none.")
      : t("Sinusoidal positions: a fixed pattern of waves, added in every layer to what W_q and W_k multiply. Values and embeddings have none.");
  if (where === "turn")
    return t("Rotary positions: in self-attention each pair of channels of q and k is rotated by the position times " +
      "the frequency of the pair. Nothing is added to the embedding.");
  if (where === "scores")
    return product
      ? t("Relative positions: in self-attention each head multiplies a score by a learned number π for the offset of the key from the query. Nothing is added to the embedding.")
      : t("Relative positions: in self-attention each head adds to a score a learned number π for the offset of the key from the query. Nothing is added to the embedding.");
  return t("This model has no positions: its encoder does not know where a token is, and the same tokens in another order get the same weights. Its decoder can still count, because each row sees only the tokens before it.");
}

/**
 * The position tensors that are added to the typed text; they can be dropped.
 * @param {Model} model
 * @returns {string[]}  empty if positions are not added
 */
export function droppable(model) {
  const { where } = kindOf(model);
  const { stack, rows } = blockOf(model, within(model, typed(model)).id);
  if (where === "input") return [`${typed(model)}.position`];
  if (where === "layer") return rows.map(({ layer }) => `${stack}.${layer}.position`);
  if (where === "qk") return rows.map(({ place }) => `${place}.position`);
  return [];
}
