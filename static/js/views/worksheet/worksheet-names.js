/**
 * The tensors and parameters that the worksheet of a cell needs, depending on what the attention
 * consists of.
 */

import { attentionAt, blockOf, place, stacked, within } from "../../core/wire/attentions.js";
import { learned, workedScoring } from "../../core/compute/scoring.js";
import { networkOf, partsOf } from "./worksheet-parts.js";

/** @import { Model } from "../../core/wire/attentions.js" */
/** @typedef {ReturnType<typeof names>} Names */

/**
 * In a pre-norm model the layer norm comes before the attention and the feed-forward network, and a
 * layer outputs the residual stream; in a post-norm model it outputs the result of the norm.
 * @param {Model} model
 * @param {{block: string, layer: number, head?: number}} at
 */
export function names(model, { block, layer, head = 0 }) {
  const { stack, query, key } = blockOf(model, block);
  const here = place(model, { block, layer });
  const attention = attentionAt(model, here);
  const all = stacked(model, stack);
  const before = all[all.findIndex(({ id }) => id === block) - 1];
  const { positions = "sinusoidal" } = model ?? {};
  const own = key === query;
  const parts = partsOf(model, attention, own);
  const handed = parts.pre ? "residual" : "norm";
  const x = before ? `${place(model, { block: before.id, layer })}.${handed}` : layer ? `${stack}.${layer - 1}.ffn.${handed}` : `${query}.input`;
  const memory = own ? x : top(within(model, key), key, parts.pre);
  const first = x.endsWith(".input");
  const atInput = first && (parts.sliced ? positions === "learned" && model?.texts.length === 1 : ["sinusoidal", "learned"].includes(positions));
  const eachLayer = !before && positions.endsWith("-each-layer");
  const last = all.at(-1)?.id === block;
  const { network, left } = last ? networkOf(model, `${stack}.${layer}.ffn`, parts) : { network: null, left: null };
  const scoring = workedScoring(attention);
  const placed = own && positions.endsWith("-on-qk") ? `${here}.position` : null;
  /** @param {string} at @param {string[]} letters */
  const under = (at, letters) => letters.map((letter) => `${at}.${letter}`);
  const sums = atInput ? [`${query}.embedding`, `${query}.position`] : eachLayer ? [x, `${stack}.${layer}.position`] : [];
  const group = attention ? Math.floor((head * attention.kv_heads) / attention.heads) : head;
  return {
    ...parts,
    here,
    query: x,
    key: memory,
    sums,
    /** Whether x is only the embedding. */
    bare: first && !atInput && !eachLayer,
    eachLayer,
    positions,
    placed,
    scoring,
    network,
    /** Why the feed-forward network that comes next is left out: "unknown", or so many numbers. */
    left,
    /** Whether another attention of the same layer comes next. */
    onwards: !last,
    /** The head of k and v, and the number of query heads that share it. */
    group,
    sharing: attention ? attention.heads / attention.kv_heads : 1,
    tensors: [...new Set([
      ...(parts.linear || parts.outputs || network?.parallel ? [x] : []),
      ...(parts.linear ? [memory, ...sums] : []),
      ...(placed ? [placed] : []),
      ...under(here, ["q", "k", "v", "scores", "mask", "weights", "mix"]),
      ...(scoring?.sink ? [`${here}.sink`] : []),
      ...(parts.outputs ? under(here, ["output", "residual"]) : []),
      ...(parts.own ? [`${here}.projected`] : []),
      ...(parts.before || (parts.outputs && parts.after) ? [`${here}.norm`] : []),
      ...(network ? [`${here}.${handed}`, ...under(network.place, ["hidden", "output", "residual"])] : []),
      ...(network && (network.before ?? network.after) ? [`${network.place}.norm`] : []),
      ...(network?.own ? [`${network.place}.projected`] : []),
    ])],
    parameters: [
      ...under(here, parts.parameters),
      ...(network && !parts.sliced ? under(network.place, network.parameters) : []),
      ...learned(scoring),
    ],
    /** What belongs to the head alone: its columns of the matrices. */
    slices: parts.sliced && parts.linear
      ? [..."qkv"].flatMap((letter) => [`W_${letter}`, ...(parts.biases.has(letter) ? [`b_${letter}`] : [])].map((name) => sliceOf(here, name, head, group)))
      : [],
    /** Those of the feed-forward network, which are large. */
    fed: network && parts.sliced ? under(network.place, network.parameters) : [],
  };
}

/**
 * The name of a head's columns of a matrix or vector.
 * @param {string} here
 * @param {string} name  such as "W_q"
 * @param {number} head
 * @param {number} group  the head of k and v
 */
export const sliceOf = (here, name, head, group) => `${here}.${name}.${name.endsWith("q") ? head : group}`;

/**
 * The output of another stack, which cross-attention reads.
 * @param {import("../../core/wire/attentions.js").Block} block  the self-attention of that text
 * @param {string} text
 * @param {boolean} pre
 */
function top({ stack, rows }, text, pre) {
  if (pre) return `${stack}.norm`;
  return rows.length ? `${stack}.${rows.length - 1}.ffn.norm` : `${text}.input`;
}
