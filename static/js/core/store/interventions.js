/**
 * Changes to the model: a link's interventions in words, and how to add and remove them. The list
 * has the format of the API and is stored in the link as is.
 */

import { keyOf } from "./view-requests.js";
import { attentionAt, blockOf, place as placeAt, placeOf } from "../wire/model-description.js";
import { changesInForce } from "../wire/request.js";
import { numberedWord, traceLabels } from "../wire/tokens.js";
import { changeAtRows, networks, featureChange, placeOfChange } from "./model-part-names.js";

/** @import { Page } from "./store.js" */
/** @import { State } from "./link.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Label } from "../wire/tokens.js" */
/**
 * One change as the API takes it; from a link it may be anything.
 * @typedef {{at: string, head?: number | null, heads?: number[] | null, rows?: number[] | null, units?: number[] | null, do: any}} Change
 */
/** @typedef {{side: string, index: number, written?: boolean}} Ref  a token of a text; of a row that writes the one that it writes */
/** @typedef {{words: string, values: Record<string, string | Ref>}} Worded  as `phrase` takes it, once the tokens are named */

const KINDS = ["set", "cut", "temperature", "freeze", "patch", "mask", "shuffle", "scale", "fill", "add"];
/** Changes of all of a head's weights: a head can have only one of them. */
const PATTERN = ["zero", "uniform", "mean", "freeze"];
/** Tensors that are changed number by number, named in full: a part of one can have only one such change. */
const PARTS = /\.(embedding|position|input|q|k|v|mix|hidden|projected|output|residual|norm)$/;

/** @param {Pick<State, "interventions">} link @returns {Change[]}  what cannot be read is one of them too */
export function changes({ interventions: value }) {
  if (value === null || value === undefined) return [];
  return /** @type {Change[]} */ (Array.isArray(value) ? value : [value]);
}

/** @param {Pick<State, "interventions">} link */
export const isChanged = (link) => changes(link).length > 0;

/** @param {Change} change @returns {string}  "" if unknown */
export function kindOf(change) {
  const effect = change?.do;
  if (typeof effect === "string") return effect;
  if (effect === null || typeof effect !== "object") return "";
  return KINDS.find((kind) => kind in effect) ?? "";
}

/**
 * The target of a change: a later change with the same target replaces it.
 * @param {Change} change
 */
function slot(change) {
  const kind = kindOf(change);
  const { at: address, head = null, heads = null, rows = null, units = null } = change ?? {};
  const value = change?.do?.[kind];
  const part = [address, head, heads, rows, units];
  if (kind === "scale" || kind === "fill" || (kind === "zero" && PARTS.test(address))) return JSON.stringify(["numbers", ...part]);
  if (PATTERN.includes(kind)) return JSON.stringify(["pattern", ...part]);
  if (Array.isArray(value?.[0])) return JSON.stringify([kind, address, head, value]);
  if (kind === "set" || kind === "cut") return JSON.stringify(["cell", address, head, value?.[0], value?.[1]]);
  if (kind === "mask") return JSON.stringify([kind, value]);
  if (kind === "patch") return JSON.stringify([kind, address, head, value?.rows?.map?.((/** @type {any} */ pair) => pair?.[1]), value?.to?.at, value?.to?.head]);
  if (kind === "drop" || kind === "shuffle") return JSON.stringify(["term", address]);
  return JSON.stringify([kind, ...part]);
}

/**
 * @param {Change[]} list
 * @param {Change} change
 * @returns {Change | null}  the change with the same target
 */
export function withSameTarget(list, change) {
  return list.find((entry) => slot(entry) === slot(change)) ?? null;
}

/**
 * @param {Change[]} list
 * @param {Change} change  replaces the one with the same target; otherwise appended
 * @returns {Change[]}
 */
export function putChange(list, change) {
  const index = list.findIndex((entry) => slot(entry) === slot(change));
  return index < 0 ? [...list, change] : list.map((entry, i) => (i === index ? change : entry));
}

/** @param {Change[]} list @param {Change} change @returns {Change[]}  without the one about the same */
export const withoutChange = (list, change) => list.filter((entry) => slot(entry) !== slot(change));

/** @param {Change[]} list @param {Change} change  On, or off where just this is on already. */
export function toggleChange(list, change) {
  const present = withSameTarget(list, change);
  return present && isSameChange(present, change) ? withoutChange(list, change) : putChange(list, change);
}

/** @param {Change} a @param {Change} b */
export const isSameChange = (a, b) => key(a) === key(b);
/** @param {Change} change */
const key = ({ at: address, head = null, heads = null, rows = null, units = null, do: effect }) => keyOf(/** @type {any} */ ({ at: address, head, heads, rows, units, do: effect }));

/** @param {Change[]} list  As a link holds it: nothing where there are none. */
export const linkValueOf = (list) => (list.length ? list : null);

/** @param {Change} change @param {Translate} t @param {Page["model"]} model @returns {Worded} */
export function changeWording(change, t, model) {
  const kind = kindOf(change);
  const { at: address } = change ?? {};
  const value = change?.do?.[kind];
  const place = () => placeOfChange(change, t, model);
  const over = attentionAt(model, String(address));
  const side = { query: { side: over?.query ?? "", index: value?.[0], written: over && blockOf(model, placeOf(model, over.place)?.block ?? "").writes }, key: { side: over?.key ?? "", index: value?.[1] } };
  /** @returns {Worded} */
  const several = () => ({ words: t("{place}: {count} edges cut"), values: { place: place(), count: String(value.length) } });
  /** @type {Record<string, () => Worded>} */
  const wordings = {
    zero: () => (over ? { words: t("{place}: off"), values: { place: place() } } : featureChange(change, t, model)),
    scale: () => featureChange(change, t, model),
    fill: () => featureChange(change, t, model),
    add: () => featureChange(change, t, model),
    uniform: () => ({ words: t("{place}: uniform"), values: { place: place() } }),
    mean: () => ({ words: t("{place}: its mean"), values: { place: place() } }),
    freeze: () => ({ words: t("{place}: the pattern of “{sentence}”"), values: { place: place(), sentence: String(value?.source ?? "") } }),
    patch: () => patched(change, t, model),
    temperature: () => ({ words: t("{place}: temperature {number}"), values: { place: place(), number: String(value) } }),
    cut: () => (Array.isArray(value?.[0]) ? several() : { words: t("{place}: {query} ↛ {key} cut"), values: { place: place(), ...side } }),
    set: () => ({
      words: change.do.renormalise
        ? t("{place}: {query} → {key} set to {number}, the rest of the row is rescaled")
        : t("{place}: {query} → {key} set to {number}"),
      values: { place: place(), number: String(value?.[2]), ...side },
    }),
    mask: () => ({ words: t("{token} masked"), values: { token: { side: String(address), index: value } } }),
    shuffle: () => ({ words: t("positions shuffled ({number})"), values: { number: String(value) } }),
    drop: () => dropped(address, t, model),
  };
  if (!wordings[kind] || typeof address !== "string") return { words: t("a change that cannot be read"), values: {} };
  return changeAtRows(wordings[kind](), change, t, model);
}

/** @param {string} address @param {Translate} t @param {Page["model"]} model @returns {Worded} */
function dropped(address, t, model) {
  const [first, second] = (model?.texts ?? []).map((text) => `${text}.position`);
  if (address === first) return { words: t("positions of the sentence dropped"), values: {} };
  if (address === second) return { words: t("positions of the output dropped"), values: {} };
  return { words: t("{place}: residual dropped"), values: { place: placeOfChange({ at: address.replace(/\.residual$/, ""), do: "" }, t, model) } };
}

/**
 * A patch: what is taken from another sentence, at which token if at one only.
 * @param {Change} change
 * @param {Translate} t
 * @param {Page["model"]} model
 * @returns {Worded}
 */
function patched(change, t, model) {
  const { at: address, head = null, do: { patch } } = change;
  const dot = address.lastIndexOf(".");
  const place = { at: address.slice(0, dot), head, do: head === null ? "" : "patch" };
  const values = { place: placeOfChange(place, t, model), part: address.slice(dot + 1), sentence: String(patch?.source ?? "") };
  if (typeof patch?.to?.at === "string") return along(change, values, t, model);
  if (patch?.rows?.length !== 1) return { words: t("{place}: {part} taken from “{sentence}”"), values };
  return { words: t("{place}: {part} at {token} taken from “{sentence}”"), values: { ...values, token: rowOf(change, model) } };
}

/**
 * A patch along one path.
 * @param {Change} change
 * @param {Worded["values"]} shared
 * @param {Translate} t
 * @param {Page["model"]} model
 * @returns {Worded}
 */
function along(change, shared, t, model) {
  const { patch } = change.do;
  const values = { ...shared, end: pathEndName(patch.to, t, model) };
  if (patch.rows?.length !== 1) return { words: t("{place}: {part} taken from “{sentence}”, only directly for {end}"), values };
  return { words: t("{place}: {part} at {token} taken from “{sentence}”, only directly for {end}"), values: { ...values, token: rowOf(change, model) } };
}

/** The only row of a patch. @param {Change} change @param {Page["model"]} model @returns {Ref} */
function rowOf({ at: address, do: { patch } }, model) {
  const [first] = address.split(".");
  const over = model?.attentions.find(({ stack }) => stack === first);
  return { side: over?.query ?? address.slice(0, address.lastIndexOf(".")), index: patch.rows[0][1] };
}

/**
 * The end of a path in words: "v of Cross-attention, layer 3, head 5".
 * @param {{at: string, head?: number | null}} end
 * @param {Translate} t
 * @param {Page["model"]} model
 */
export function pathEndName({ at: address, head = null }, t, model) {
  const dot = address.lastIndexOf(".");
  const [name, part] = [address.slice(0, dot), address.slice(dot + 1)];
  if (name === networks(model).at(-1)?.place && (part === "norm" || part === "residual")) return t("the logits");
  return t("{part} of {place}", { part, place: placeOfChange({ at: name, head, do: head === null ? "" : "patch" }, t, model) });
}

/**
 * A token's label, or its number if the trace has no such token.
 * @param {Page["trace"]} trace
 * @param {Ref} ref
 * @returns {Label | null}
 */
export function labelOf(trace, { side, index, written }) {
  if (!trace) return null;
  const all = traceLabels(trace);
  return (written ? all.written : (all.texts[side] ?? []))[index] ?? null;
}

/**
 * As plain text.
 * @param {Change} change
 * @param {Pick<Page, "trace" | "model">} page
 * @param {Translate} t
 */
export function plainChange(change, { trace, model }, t) {
  const { words, values } = changeWording(change, t, model);
  return words.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    if (typeof value === "string") return value;
    const label = labelOf(trace, value);
    return label ? numberedWord(label) : t("token {n}", { n: Number(value.index) + 1 });
  });
}

/**
 * The change that a problem refers to: "interventions[2].head" is the third.
 * @param {{field: string} | null} problem
 * @returns {number | null}  its index; −1: all of them; null: none
 */
export function blamedIndex(problem) {
  const match = /^interventions(?:\[(\d+)\])?/.exec(problem?.field ?? "");
  return match ? Number(match[1] ?? -1) : null;
}

/**
 * Whether a head is switched off in the run that is shown.
 * @param {Pick<Page, "link" | "model">} page
 * @param {{layer: number, head: number}} [head]  of the link's block; absent: the link's head
 */
export function isOff({ link, model }, head = link) {
  const address = placeAt(model, { block: link.block, layer: head.layer });
  return changes({ interventions: changesInForce(link) }).some((change) => change?.do === "zero" && change.at === address && !change.rows && isOf(change, head.head));
}

/**
 * Whether anything is done to a head, or to one of its tensors, such as its mix.
 * @param {Change[]} list
 * @param {string} address  an attention
 * @param {number} head
 */
export function touchesHead(list, address, head) {
  return list.some((change) => (change?.at === address || String(change?.at).startsWith(`${address}.`)) && change.do !== "drop" && isOf(change, head));
}

/** Whether a change is of a head: it names it, or no head. @param {Change} change @param {number} of */
const isOf = ({ head = null, heads = null }, of) => (Array.isArray(heads) ? heads.includes(of) : head === null || head === of);
