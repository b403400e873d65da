/** Names of the parts of a model: the only place where its identifiers become words. */

import { attentionAt, blockOf, blocks, placeOf, stacked, within } from "../wire/attentions.js";

/** @import { Model } from "../wire/attentions.js" */
/** @import { Translate } from "../../lib/i18n.js" */

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
 * The name of a whole sublayer, which is more than its heads: "Encoder self-attention, layer 2".
 * @param {Model} model
 * @param {string} at  such as "encoder.1.self" or "encoder.1.ffn"
 * @param {Translate} t
 */
export function sublayerName(model, at, t) {
  const found = sublayer(model, at, t);
  if (!found) return at;
  const { stack = "", kind = "" } = attentionAt(model, at) ?? {};
  const known = { encoder: t("Encoder self-attention"), decoder: t("Decoder self-attention") };
  const block = kind === "self" && Object.hasOwn(known, stack) ? known[/** @type {keyof typeof known} */ (stack)] : found.block;
  return t("{block}, layer {layer}", { block, layer: found.layer + 1 });
}

/**
 * The name of the stack that reads each text, within a sentence.
 * @param {Model} model
 * @param {Translate} t
 * @returns {Record<string, string>}
 */
export const readers = (model, t) =>
  Object.fromEntries((model?.texts ?? []).map((text) => [text, blockWord(within(model, text).stack, t)]));

/** Whether the sums of its layers are known, so that whole sublayers can be changed. @param {Model} model */
export const hasSublayers = (model) => model?.missing?.parameters !== "unknown-layers";

/** The feed-forward networks: one per layer of each stack. @param {Model} model */
export function networks(model) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.flatMap((stack) => {
    const { rows } = blockOf(model, blocks(model).find((block) => block.stack === stack)?.id ?? "");
    return rows.map((row, layer) => ({ at: `${stack}.${row.layer}.ffn`, stack, layer }));
  });
}

/**
 * The name of a part of a score (views/qkv/score-terms.js), and the layer that it comes from.
 * @param {Model} model
 * @param {import("../../views/qkv/score-terms.js").Part} part
 * @param {Translate} t
 * @returns {{layer: string, name: string, short: string}}  layer: "" for what belongs to none;
 *   short: the name, for a table
 */
export function partName(model, { kind, at, head, count }, t) {
  const layer = placeOf(model, at)?.layer ?? networks(model).find((one) => one.at === at)?.layer;
  const names = {
    network: t("feed-forward"),
    embedding: t("token embedding"),
    position: t("position"),
    bias: t("biases"),
    patch: t("patched in"),
    rest: t("{count} others", { count }),
  };
  const [name, short] = kind === "head" ? headName(model, at, (head ?? 0) + 1, t) : [names[kind], names[kind]];
  return { layer: layer === undefined ? "" : t("layer {n}", { n: layer + 1 }), name, short };
}

/**
 * The name of a head within its layer, with the kind of its attention if the layer has several.
 * @param {Model} model
 * @param {string} at
 * @param {number} n  from 1
 * @param {Translate} t
 * @returns {[string, string]}  in a sentence, and in a table
 */
function headName(model, at, n, t) {
  const { stack = "", kind = "" } = attentionAt(model, at) ?? {};
  /** @type {Record<string, [string, string]>} */
  const known = {
    self: [t("self-attention head {n}", { n }), t("self, head {n}", { n })],
    cross: [t("cross-attention head {n}", { n }), t("cross, head {n}", { n })],
  };
  const plain = t("head {n}", { n });
  return (stacked(model, stack).length > 1 && known[kind]) || [plain, plain];
}
