/** Where a change is made in words; and changes of the numbers of a tensor. */

import { attentionAt, typed, within } from "../wire/attentions.js";
import { blockName, sublayer, sublayerName } from "./model-part-names.js";

/** @import { Change, Worded } from "./interventions.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @typedef {import("./store.js").Page["model"]} Model */

/**
 * The place of a change, with its head if it has one: "Encoder, layer 2, head 3".
 * @param {Change} change
 * @param {Translate} t
 * @param {Model} model
 */
export function where({ at, head = null, heads = null, do: what }, t, model) {
  const found = sublayer(model, String(at), t);
  if (!found) return String(at);
  const { block: name, layer } = found;
  const n = layer + 1;
  if (what === "") return t("{block}, layer {layer}", { block: name, layer: n });
  if (Array.isArray(heads)) {
    const [one, other] = heads.map((index) => Number(index) + 1);
    if (heads.length === 2) return t("{block}, layer {layer}, heads {one} and {other}", { block: name, layer: n, one, other });
    return t("{block}, layer {layer}, heads {heads}", { block: name, layer: n, heads: heads.map((index) => Number(index) + 1).join(", ") });
  }
  if (head === null) return t("{block}, layer {layer}, all heads", { block: name, layer: n });
  return t("{block}, layer {layer}, head {head}", { block: name, layer: n, head: Number(head) + 1 });
}

/** Zeros, a factor, one value or an added vector. @param {Change} change @param {Translate} t @param {Model} model @returns {Worded} */
export function ofFeatures(change, t, model) {
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
  const rest = { m: String((minus.row ?? 0) + 1), other: String(minus.source ?? "") };
  return { words: t("{place}: plus {factor}(token {n} of “{sentence}” minus token {m} of “{other}”)"), values: { ...values, ...rest } };
}

/**
 * The part that is changed: "Encoder feed-forward, layer 2, unit 17".
 * @param {Change} change
 * @param {Translate} t
 * @param {Model} model
 * @returns {string}
 */
function partOf({ at, head = null, heads = null, units = null }, t, model) {
  const dot = at.lastIndexOf(".");
  const [place, part] = [at.slice(0, dot), at.slice(dot + 1)];
  const terms = { embedding: t("token embedding"), position: t("position"), input: t("input") };
  if (model?.texts.includes(place)) return t("{block}, {part}", { block: blockName(within(model, place).stack, t), part: terms[/** @type {keyof typeof terms} */ (part)] ?? part });
  if (!sublayer(model, place, t)) return at;
  const ofHeads = attentionAt(model, place) && (head !== null || Array.isArray(heads) || part === "mix");
  const name = ofHeads ? where({ at: place, head, heads, do: "zero" }, t, model) : sublayerName(model, place, t);
  if (part === "hidden") {
    if (!Array.isArray(units)) return t("{sublayer}, hidden units", { sublayer: name });
    const list = units.map((one) => one + 1).join(", ");
    return units.length === 1 ? t("{sublayer}, unit {list}", { sublayer: name, list }) : t("{sublayer}, units {list}", { sublayer: name, list });
  }
  return part === "output" || part === "mix" ? name : t("{block}, {part}", { block: name, part });
}

/**
 * The change, with the rows that it is restricted to.
 * @param {Worded} change
 * @param {Change} of
 * @param {Translate} t
 * @param {Model} model
 * @returns {Worded}
 */
export function atRows(change, { at, rows = null }, t, model) {
  if (!Array.isArray(rows)) return change;
  const said = change.words.replace(/\{(\w+)\}/g, (_, name) => String(change.values[name]));
  if (rows.length !== 1) return { words: t("{change}, only at {count} tokens"), values: { change: said, count: String(rows.length) } };
  const stack = at.split(".")[0];
  const side = model?.texts.includes(stack) ? stack : model?.attentions.find((one) => at.startsWith(one.place) || one.stack === stack)?.query ?? typed(model);
  return { words: t("{change}, only at {token}"), values: { change: said, token: { side, index: Number(rows[0]) } } };
}
