/**
 * The tensors and parameters that the worksheet of a cell needs, depending on the model's
 * mechanisms.
 */

import { attentionAt, blockOf, place, stacked, within } from "../data/attentions.js";
import { learned, scoringOf } from "./scoring.js";

/** @typedef {import("../data/attentions.js").Model} Model */
/** @typedef {ReturnType<typeof names>} Names */

/**
 * In a pre-norm model the layer norm comes before the attention and the feed-forward network, and a
 * layer outputs the residual stream; in a post-norm model it outputs the result of the norm.
 * @param {Model} model
 * @param {{block: string, layer: number}} at
 */
export function names(model, { block, layer }) {
  const { stack, query, key } = blockOf(model, block);
  const here = place(model, { block, layer });
  const all = stacked(model, stack);
  const before = all[all.findIndex(({ id }) => id === block) - 1];
  const { positions = "sinusoidal", bias = true } = model ?? {};
  const pre = model?.norm === "pre";
  const handed = pre ? "residual" : "norm";
  const own = key === query;
  const x = before ? `${place(model, { block: before.id, layer })}.${handed}` : layer ? `${stack}.${layer - 1}.ffn.${handed}` : `${query}.input`;
  const memory = own ? x : top(within(model, key), key, pre);
  const first = x.endsWith(".input");
  const atInput = first && ["sinusoidal", "learned"].includes(positions);
  const eachLayer = !before && positions.endsWith("-each-layer");
  const ffn = all.at(-1)?.id === block ? `${stack}.${layer}.ffn` : null;
  const scoring = scoringOf(attentionAt(model, here));
  const placed = own && positions.endsWith("-on-qk") ? `${here}.position` : null;
  /** @param {string} at @param {string[]} letters */
  const under = (at, letters) => letters.map((letter) => `${at}.${letter}`);
  const sums = atInput ? [`${query}.embedding`, `${query}.position`] : eachLayer ? [x, `${stack}.${layer}.position`] : [];
  const projections = [..."qkvo"].flatMap((letter) => (bias ? [`W_${letter}`, `b_${letter}`] : [`W_${letter}`]));
  return {
    here,
    query: x,
    key: memory,
    sums,
    /** Whether x is only the embedding. */
    bare: first && !atInput && !eachLayer,
    eachLayer,
    positions,
    pre,
    placed,
    turns: own && positions === "rotary",
    scoring,
    bias,
    ffn,
    tensors: [
      ...new Set([x, memory, ...sums]),
      ...(placed ? [placed] : []),
      ...under(here, ["q", "k", "v", "scores", "mask", "weights", "mix"]),
      ...under(here, ["output", "residual", "norm"]),
      ...(ffn ? under(ffn, ["hidden", "output", "residual", "norm"]) : []),
    ],
    parameters: [
      ...under(here, [...projections, "gain", "bias"]),
      ...(ffn ? under(ffn, ["W_1", "b_1", "W_2", "b_2", "gain", "bias"]) : []),
      ...learned(scoring),
    ],
  };
}

/**
 * The output of another stack, which cross-attention reads.
 * @param {import("../data/attentions.js").Block} block  the self-attention of that text
 * @param {string} text
 * @param {boolean} pre
 */
function top({ stack, rows }, text, pre) {
  if (pre) return `${stack}.norm`;
  return rows.length ? `${stack}.${rows.length - 1}.ffn.norm` : `${text}.input`;
}
