/** Names of the parts of a model: the only place where its identifiers become words. */

import {
  attentionAt, blockAt, blockOf, blocks, blocksOfStack, placeOf, rules, selfBlock, typedText,
} from "../wire/model-description.js";
import { changedName, taskName } from "./examples-and-tasks.js";

/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Model, ModelInfo } from "../wire/model-description.js" */
/** @import { Matrix } from "../wire/safetensors.js" */
/** @import { Change, Worded } from "./interventions.js" */

/** @param {string} id  of a block @param {Translate} t @returns {string}  the identifier if it has no name */
export function blockName(id, t) {
  const names = { encoder: t("Encoder"), decoder: t("Decoder"), cross: t("Cross-attention") };
  return Object.hasOwn(names, id) ? names[/** @type {keyof typeof names} */ (id)] : id;
}

/** The name of a block within a sentence. @param {string} id  of a block @param {Translate} t */
export function blockWord(id, t) {
  const names = { encoder: t("encoder"), decoder: t("decoder"), cross: t("cross-attention") };
  return Object.hasOwn(names, id) ? names[/** @type {keyof typeof names} */ (id)] : id;
}

/** @param {string} kind  of attention within a layer @param {Translate} t */
export function kindName(kind, t) {
  const names = { self: t("self"), cross: t("cross") };
  return Object.hasOwn(names, kind) ? names[/** @type {keyof typeof names} */ (kind)] : kind;
}

/**
 * The name of an attention.
 * @param {string} block
 * @param {number} layer from 0
 * @param {Translate} t
 */
export const placeName = (block, layer, t) => t("{block}, layer {n}", { block: blockName(block, t), n: layer + 1 });

/** @param {string} stack @param {Translate} t */
function networkName(stack, t) {
  const names = { encoder: t("Encoder, feed-forward"), decoder: t("Decoder, feed-forward") };
  return Object.hasOwn(names, stack)
    ? names[/** @type {keyof typeof names} */ (stack)]
    : t("{block}, feed-forward", { block: stack });
}

/**
 * A sublayer of the model: an attention or a feed-forward network.
 * @param {Model} model
 * @param {string} address  such as "encoder.1.self" or "encoder.1.ffn"
 * @param {Translate} t
 * @returns {{block: string, layer: number} | null}  null if the model has no such sublayer
 */
function sublayer(model, address, t) {
  const place = attentionAt(model, address) && placeOf(model, address);
  if (place) return { block: blockName(place.block, t), layer: place.layer };
  const network = networks(model).find((candidate) => candidate.place === address);
  return network ? { block: networkName(network.stack, t), layer: network.layer } : null;
}

/**
 * The name of a whole sublayer, which is more than its heads: "Encoder self-attention, layer 2".
 * @param {Model} model
 * @param {string} address  such as "encoder.1.self" or "encoder.1.ffn"
 * @param {Translate} t
 */
export function sublayerName(model, address, t) {
  const location = sublayer(model, address, t);
  if (!location) return address;
  const { stack = "", kind = "" } = attentionAt(model, address) ?? {};
  const names = { encoder: t("Encoder self-attention"), decoder: t("Decoder self-attention") };
  const block = kind === "self" && Object.hasOwn(names, stack) ? names[/** @type {keyof typeof names} */ (stack)] : location.block;
  return t("{block}, layer {layer}", { block, layer: location.layer + 1 });
}

/**
 * The name of the stack that reads each text, within a sentence.
 * @param {Model} model
 * @param {Translate} t
 * @returns {Record<string, string>}
 */
export const readingStacks = (model, t) =>
  Object.fromEntries((model?.texts ?? []).map((text) => [text, blockWord(selfBlock(model, text).stack, t)]));

/** Whether the sums of its layers are known, so that whole sublayers can be changed. @param {Model} model */
export const hasSublayers = (model) => model?.missing?.parameters !== "unknown-layers";

/** The feed-forward networks: one per layer of each stack. @param {Model} model */
export function networks(model) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.flatMap((stack) => {
    const { rows } = blockOf(model, blocks(model).find((block) => block.stack === stack)?.id ?? "");
    return rows.map((row, layer) => ({ place: `${stack}.${row.layer}.ffn`, stack, layer }));
  });
}

/**
 * The name of a part of a score (views/qkv/score-breakdown.js), and the layer that it comes from.
 * @param {Model} model
 * @param {import("../../views/qkv/score-breakdown.js").Part} part
 * @param {Translate} t
 * @returns {{layer: string, name: string, short: string}}  layer: "" for what belongs to none;
 *   short: the name, for a table
 */
export function partName(model, { kind, address, head, count }, t) {
  const layer = placeOf(model, address)?.layer ?? networks(model).find((network) => network.place === address)?.layer;
  const names = {
    network: t("feed-forward"),
    embedding: t("token embedding"),
    position: t("position"),
    bias: t("biases"),
    patch: t("patched in"),
    rest: t("{count} others", { count }),
  };
  const [name, short] = kind === "head" ? headName(model, address, (head ?? 0) + 1, t) : [names[kind], names[kind]];
  return { layer: layer === undefined ? "" : t("layer {n}", { n: layer + 1 }), name, short };
}

/**
 * The name of a head within its layer, with the kind of its attention if the layer has several.
 * @param {Model} model
 * @param {string} address
 * @param {number} n  from 1
 * @param {Translate} t
 * @returns {[string, string]}  in a sentence, and in a table
 */
function headName(model, address, n, t) {
  const { stack = "", kind = "" } = attentionAt(model, address) ?? {};
  /** @type {Record<string, [string, string]>} */
  const names = {
    self: [t("self-attention head {n}", { n }), t("self, head {n}", { n })],
    cross: [t("cross-attention head {n}", { n }), t("cross, head {n}", { n })],
  };
  const plain = t("head {n}", { n });
  return (blocksOfStack(model, stack).length > 1 && names[kind]) || [plain, plain];
}

/**
 * What a link or a share shows, for a reader who has not seen Headlight before.
 * @param {Pick<ModelInfo, "name" | "languages"> | null} model
 * @param {{layer?: unknown, head?: unknown}} place  without numbers: the whole model
 * @param {Translate} t
 */
export function shownPart(model, { layer, head }, t) {
  const translates = ["en", "zh"].every((language) => model?.languages.includes(language));
  const name = translates ? t("an English–Chinese Transformer") : t("the Transformer “{model}”", { model: model?.name ?? "" });
  if (typeof layer !== "number" || typeof head !== "number") return name;
  return t("layer {layer}, head {head} of {model}", { layer: layer + 1, head: head + 1, model: name });
}

// Names of models in a menu: those that translate, language models, and those of the zoo by task.

/** The group of models that do not translate and name no other purpose. */
const LANGUAGE = "language";

/** @param {ModelInfo[]} models @returns {{task: string | null, models: ModelInfo[]}[]}  in the order in which they are served */
export function modelsByTask(models) {
  const tasks = [...new Set(models.map(taskOf))];
  return tasks.map((task) => ({ task, models: models.filter((model) => taskOf(model) === task) }));
}

/** @param {ModelInfo} model @returns {string | null}  null: translation */
export const taskOf = ({ zoo, directions }) => zoo?.task ?? (directions?.length === 0 ? LANGUAGE : null);

/** @param {Translate} t @param {string | null} task */
export function taskHeading(t, task) {
  if (task === LANGUAGE) return t("Language models");
  return task ? taskName(t, task) : t("Translation");
}

/** A short description of a model. @param {Translate} t @param {ModelInfo} model */
export function modelLabel(t, { name, zoo }) {
  return zoo ? `${taskName(t, zoo.task)}: ${changedName(t, zoo.changed)}` : name;
}

// Where a change is made in words; and changes of the numbers of a tensor.

/** @typedef {import("./store.js").Page["model"]} PageModel */

/**
 * The place of a change, with its head if it has one: "Encoder, layer 2, head 3".
 * @param {Change} change
 * @param {Translate} t
 * @param {PageModel} model
 */
export function placeOfChange({ at: address, head = null, heads = null, do: effect }, t, model) {
  const location = sublayer(model, String(address), t);
  if (!location) return String(address);
  const { block: name, layer } = location;
  const n = layer + 1;
  if (effect === "") return t("{block}, layer {layer}", { block: name, layer: n });
  if (Array.isArray(heads)) {
    const [firstHead, secondHead] = heads.map((index) => Number(index) + 1);
    if (heads.length === 2) return t("{block}, layer {layer}, heads {one} and {other}", { block: name, layer: n, one: firstHead, other: secondHead });
    return t("{block}, layer {layer}, heads {heads}", { block: name, layer: n, heads: heads.map((index) => Number(index) + 1).join(", ") });
  }
  if (head === null) return t("{block}, layer {layer}, all heads", { block: name, layer: n });
  return t("{block}, layer {layer}, head {head}", { block: name, layer: n, head: Number(head) + 1 });
}

/** Zeros, a factor, one value or an added vector. @param {Change} change @param {Translate} t @param {PageModel} model @returns {Worded} */
export function featureChange(change, t, model) {
  const place = partOf(change, t, model);
  const { scale, fill, add } = change.do ?? {};
  if (scale !== undefined) return { words: t("{place}: ×{number}"), values: { place, number: String(scale) } };
  if (fill !== undefined) return { words: t("{place}: set to {number}"), values: { place, number: String(fill) } };
  if (add !== undefined) return added(place, add, t);
  return { words: t("{place}: off"), values: { place } };
}

/** @param {string} place @param {any} add @param {Translate} t @returns {Worded} */
function added(place, add, t) {
  const { to, minus, times = 1 } = add ?? {};
  if (!to) return { words: t("{place}: a vector added"), values: { place } };
  const values = { place, factor: times === 1 ? "" : `${times} × `, n: String((to.row ?? 0) + 1), sentence: String(to.source ?? "") };
  if (!minus) return { words: t("{place}: plus {factor}token {n} of “{sentence}”"), values };
  const minusValues = { m: String((minus.row ?? 0) + 1), other: String(minus.source ?? "") };
  return { words: t("{place}: plus {factor}(token {n} of “{sentence}” minus token {m} of “{other}”)"), values: { ...values, ...minusValues } };
}

/**
 * The part that is changed: "Encoder feed-forward, layer 2, unit 17".
 * @param {Change} change
 * @param {Translate} t
 * @param {PageModel} model
 */
function partOf({ at: address, head = null, heads = null, units = null }, t, model) {
  const dot = address.lastIndexOf(".");
  const [place, part] = [address.slice(0, dot), address.slice(dot + 1)];
  const terms = { embedding: t("token embedding"), position: t("position"), input: t("input") };
  if (model?.texts.includes(place)) return t("{block}, {part}", { block: blockName(selfBlock(model, place).stack, t), part: terms[/** @type {keyof typeof terms} */ (part)] ?? part });
  if (!sublayer(model, place, t)) return address;
  const ofHeads = attentionAt(model, place) && (head !== null || Array.isArray(heads) || part === "mix");
  const name = ofHeads ? placeOfChange({ at: place, head, heads, do: "zero" }, t, model) : sublayerName(model, place, t);
  if (part === "hidden") {
    if (!Array.isArray(units)) return t("{sublayer}, hidden units", { sublayer: name });
    const list = units.map((unit) => unit + 1).join(", ");
    return units.length === 1 ? t("{sublayer}, unit {list}", { sublayer: name, list }) : t("{sublayer}, units {list}", { sublayer: name, list });
  }
  return part === "output" || part === "mix" ? name : t("{block}, {part}", { block: name, part });
}

/**
 * The change, with the rows that it is restricted to.
 * @param {Worded} change
 * @param {Change} of
 * @param {Translate} t
 * @param {PageModel} model
 * @returns {Worded}
 */
export function changeAtRows(change, { at: address, rows = null }, t, model) {
  if (!Array.isArray(rows)) return change;
  const text = change.words.replace(/\{(\w+)\}/g, (_, name) => String(change.values[name]));
  if (rows.length !== 1) return { words: t("{change}, only at {count} tokens"), values: { change: text, count: String(rows.length) } };
  const stack = address.split(".")[0];
  const side = model?.texts.includes(stack) ? stack : model?.attentions.find((attention) => address.startsWith(attention.place) || attention.stack === stack)?.query ?? typedText(model);
  return { words: t("{change}, only at {token}"), values: { change: text, token: { side, index: Number(rows[0]) } } };
}

// Descriptions of mask rules.

/** How many tokens a window spans, the query included; Infinity: no window. @param {string[]} names */
const sizeOf = (names) => Number(names.find((name) => name.startsWith("window-"))?.slice("window-".length) ?? Infinity);

/**
 * The window that a query sees.
 * @param {Translate} t
 * @param {string} mask  such as "causal & window-3"
 * @returns {string | null}  null: none
 */
export function windowSaid(t, mask) {
  const names = rules(mask);
  const size = sizeOf(names);
  if (size === Infinity) return null;
  if (size === 1) return t("window: itself only");
  if (names.includes("causal")) return t("window: itself and {n} before", { n: size - 1 });
  return t("window: {n} to each side", { n: size - 1 });
}

/**
 * Why a key is masked for a query.
 * @param {Translate} t
 * @param {string} mask  such as "causal & window-3"
 * @param {{query: number | null, key: number | null}} cell  null: several tokens
 * @returns {string}
 */
export function maskedSaid(t, mask, { query, key }) {
  if (query === null || key === null) return t("masked: the query may not look there");
  const names = rules(mask);
  const size = sizeOf(names);
  if (names.includes("causal") && key > query) return t("masked: the key comes later than the query");
  if (Math.abs(query - key) >= size)
    return names.includes("causal")
      ? t("masked: outside the window of the last {n} tokens", { n: size })
      : t("masked: outside the window, {n} or more tokens away", { n: size });
  return t("masked: the query may not look there");
}

// The hidden units of a feed-forward network at the tokens of a run.

/**
 * The hidden units of the layer that a link is at; empty if the model does not record them.
 * @param {Pick<import("./store.js").Page, "model" | "link">} page
 */
export function hiddenOf({ model, link }) {
  const { stack } = blockAt({ model, link });
  const network = networks(model).find((candidate) => candidate.stack === stack && candidate.layer === link.layer);
  const isRecorded = network && (!model?.networks?.length || model.networks.some(({ place }) => place === network.place));
  return isRecorded ? [{ ...network, name: `${network.place}.hidden` }] : [];
}

/** A unit at each token. @param {Matrix} matrix  (token, unit) @param {number} unit @returns {number[]} */
export function unitAt({ rows: tokens, cols: units, values }, unit) {
  return Array.from({ length: tokens }, (_, token) => values[token * units + unit]);
}

/**
 * The units whose value at a token exceeds their largest value at another token by most.
 * @param {Matrix} matrix  (token, unit)
 * @param {number} token
 * @param {number} count
 * @returns {{unit: number, value: number, elsewhere: number}[]}  the one that stands out most first
 */
export function outstanding({ rows: tokens, cols: units, values }, token, count) {
  const entries = Array.from({ length: units }, (_, unit) => {
    let elsewhere = -Infinity;
    for (let row = 0; row < tokens; row++) if (row !== token) elsewhere = Math.max(elsewhere, values[row * units + unit]);
    return { unit, value: values[token * units + unit], elsewhere: tokens > 1 ? elsewhere : 0 };
  });
  return entries.sort((a, b) => b.value - b.elsewhere - (a.value - a.elsewhere)).slice(0, count);
}
