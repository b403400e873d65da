/** Names of the parts of a model: the only place where its identifiers become words. */

import { attentionAt, blockOf, blocks, placeOf, within } from "../data/attentions.js";

/** @typedef {import("../data/attentions.js").Model} Model */
/** @typedef {import("../lib/i18n.js").Translate} Translate */

/** @param {string} id  of a block @param {Translate} t @returns {string}  the identifier if it has no name */
export function blockName(id, t) {
  const known = { encoder: t("Encoder"), decoder: t("Decoder"), cross: t("Cross-attention") };
  return Object.hasOwn(known, id) ? known[/** @type {keyof typeof known} */ (id)] : id;
}

/** The name of a block within a sentence. @param {string} id  of a block @param {Translate} t */
export function blockWord(id, t) {
  const known = { encoder: t("encoder"), decoder: t("decoder"), cross: t("cross-attention") };
  return Object.hasOwn(known, id) ? known[/** @type {keyof typeof known} */ (id)] : id;
}

/** @param {string} kind  of attention within a layer @param {Translate} t */
export function kindName(kind, t) {
  const known = { self: t("self"), cross: t("cross") };
  return Object.hasOwn(known, kind) ? known[/** @type {keyof typeof known} */ (kind)] : kind;
}

/**
 * The name of an attention.
 * @param {string} block
 * @param {number} layer from 0
 * @param {Translate} t
 */
export const placeName = (block, layer, t) => t("{block}, layer {n}", { block: blockName(block, t), n: layer + 1 });

/** @param {string} stack @param {Translate} t */
export function networkName(stack, t) {
  const known = { encoder: t("Encoder, feed-forward"), decoder: t("Decoder, feed-forward") };
  return Object.hasOwn(known, stack)
    ? known[/** @type {keyof typeof known} */ (stack)]
    : t("{block}, feed-forward", { block: stack });
}

/**
 * A sublayer of the model: an attention or a feed-forward network.
 * @param {Model} model
 * @param {string} at  such as "encoder.1.self" or "encoder.1.ffn"
 * @param {Translate} t
 * @returns {{block: string, layer: number} | null}  null if the model has no such sublayer
 */
export function sublayer(model, at, t) {
  const place = attentionAt(model, at) && placeOf(model, at);
  if (place) return { block: blockName(place.block, t), layer: place.layer };
  const found = networks(model).find((one) => one.at === at);
  return found ? { block: networkName(found.stack, t), layer: found.layer } : null;
}

/**
 * The name of the stack that reads each text, within a sentence.
 * @param {Model} model
 * @param {Translate} t
 * @returns {Record<string, string>}
 */
export const readers = (model, t) =>
  Object.fromEntries((model?.texts ?? []).map((text) => [text, blockWord(within(model, text).stack, t)]));

/** The feed-forward networks: one per layer of each stack. @param {Model} model */
export function networks(model) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.flatMap((stack) => {
    const { rows } = blockOf(model, blocks(model).find((block) => block.stack === stack)?.id ?? "");
    return rows.map((row, layer) => ({ at: `${stack}.${row.layer}.ffn`, stack, layer }));
  });
}
