/**
 * The tensors and parameters that the worksheet of a cell needs, depending on what the attention
 * consists of.
 */

import { learned, workedScoring } from "../../core/compute/scoring.js";
import { attentionAt, blockOf, blocksOfStack, place, selfBlock } from "../../core/wire/model-description.js";

/** @import { AttentionInfo } from "../../core/wire/schemas.d.ts" */
/** @import { Model } from "../../core/wire/model-description.js" */

/** @typedef {ReturnType<typeof names>} Names */

/**
 * In a pre-norm model the layer norm comes before the attention and the feed-forward network, and a
 * layer outputs the residual stream; in a post-norm model it outputs the result of the norm.
 * @param {Model} model
 * @param {{block: string, layer: number, head?: number}} at
 */
export function names(model, { block, layer, head = 0 }) {
  const { stack, query, key } = blockOf(model, block);
  const attentionPlace = place(model, { block, layer });
  const attention = attentionAt(model, attentionPlace);
  const all = blocksOfStack(model, stack);
  const before = all[all.findIndex(({ id }) => id === block) - 1];
  const { positions = "sinusoidal" } = model ?? {};
  const isSelfAttention = key === query;
  const parts = partsOf(model, attention, isSelfAttention);
  const handed = parts.pre ? "residual" : "norm";
  const x = before ? `${place(model, { block: before.id, layer })}.${handed}` : layer ? `${stack}.${layer - 1}.ffn.${handed}` : `${query}.input`;
  const memory = isSelfAttention ? x : top(selfBlock(model, key), key, parts.pre);
  const first = x.endsWith(".input");
  const atInput = first && (parts.sliced ? positions === "learned" && model?.texts.length === 1 : ["sinusoidal", "learned"].includes(positions));
  const eachLayer = !before && positions.endsWith("-each-layer");
  const last = all.at(-1)?.id === block;
  const { network, omitted } = last ? networkOf(model, `${stack}.${layer}.ffn`, parts) : { network: null, omitted: null };
  const scoring = workedScoring(attention);
  const placed = isSelfAttention && positions.endsWith("-on-qk") ? `${attentionPlace}.position` : null;
  /** @param {string} prefix @param {string[]} letters */
  const under = (prefix, letters) => letters.map((letter) => `${prefix}.${letter}`);
  const sums = atInput ? [`${query}.embedding`, `${query}.position`] : eachLayer ? [x, `${stack}.${layer}.position`] : [];
  const group = attention ? Math.floor((head * attention.kv_heads) / attention.heads) : head;
  return {
    ...parts,
    attentionPlace,
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
    omitted,
    /** Whether another attention of the same layer comes next. */
    onwards: !last,
    /** The head of k and v, and the number of query heads that share it. */
    group,
    sharing: attention ? attention.heads / attention.kv_heads : 1,
    tensors: [...new Set([
      ...(parts.linear || parts.outputs || network?.parallel ? [x] : []),
      ...(parts.linear ? [memory, ...sums] : []),
      ...(placed ? [placed] : []),
      ...under(attentionPlace, ["q", "k", "v", "scores", "mask", "weights", "mix"]),
      ...(scoring?.sink ? [`${attentionPlace}.sink`] : []),
      ...(parts.outputs ? under(attentionPlace, ["output", "residual"]) : []),
      ...(parts.outputNorm ? [`${attentionPlace}.projected`] : []),
      ...(parts.before || (parts.outputs && parts.after) ? [`${attentionPlace}.norm`] : []),
      ...(network ? [`${attentionPlace}.${handed}`, ...under(network.place, ["hidden", "output", "residual"])] : []),
      ...(network && (network.before ?? network.after) ? [`${network.place}.norm`] : []),
      ...(network?.outputNorm ? [`${network.place}.projected`] : []),
    ])],
    parameters: [
      ...under(attentionPlace, parts.parameters),
      ...(network && !parts.sliced ? under(network.place, network.parameters) : []),
      ...learned(scoring),
    ],
    /** What belongs to the head alone: its columns of the matrices. */
    slices: parts.sliced && parts.linear
      ? [..."qkv"].flatMap((letter) => [`W_${letter}`, ...(parts.biases.has(letter) ? [`b_${letter}`] : [])].map((name) => sliceOf(attentionPlace, name, head, group)))
      : [],
    /** Those of the feed-forward network, which are large. */
    fed: network && parts.sliced ? under(network.place, network.parameters) : [],
  };
}

/**
 * The name of a head's columns of a matrix or vector.
 * @param {string} attentionPlace
 * @param {string} name  such as "W_q"
 * @param {number} head
 * @param {number} group  the head of k and v
 */
export const sliceOf = (attentionPlace, name, head, group) => `${attentionPlace}.${name}.${name.endsWith("q") ? head : group}`;

/**
 * The output of another stack, which cross-attention reads.
 * @param {import("../../core/wire/model-description.js").Block} block  the self-attention of that text
 * @param {string} text
 * @param {boolean} pre
 */
function top({ stack, rows }, text, pre) {
  if (pre) return `${stack}.norm`;
  return rows.length ? `${stack}.${rows.length - 1}.ffn.norm` : `${text}.input`;
}

// What the calculation of an attention consists of, read from the names of its parameters.

/**
 * @typedef {object} Norm  the names of its parameters
 * @property {string} gain
 * @property {string | null} bias  null: without β
 * @property {string | null} epsilon  null: ε is 1e-5
 * @property {boolean} rms  whether it is an RMSNorm, which subtracts no mean
 */
/**
 * @typedef {object} Parts
 * @property {boolean} linear  whether q, k and v are computed from x by matrices that are known
 * @property {string} projection  if not: "latent" or "unknown"
 * @property {boolean} sliced  whether the columns of one head are requested alone
 * @property {boolean} pre  whether norms come before the sublayers
 * @property {Norm | null} before  that the projections read
 * @property {Set<string>} biases  "q", "k", "v" and "o", as far as they have one
 * @property {{q: Norm, k: Norm} | null} perHead  of the channels of q and k
 * @property {boolean} turns  whether q and k are rotated by their positions
 * @property {{theta: string, pairs: string, scale: string | null} | null} rotation  null: the paper's
 * @property {boolean} outputs  whether the output matrix is known
 * @property {Norm | null} outputNorm  of the output, before it is added
 * @property {Norm | null} after  of the sum
 * @property {string[]} parameters  names of those that all heads share
 */

/**
 * @typedef {object} Network  a feed-forward network
 * @property {string} place
 * @property {string} activation
 * @property {boolean} gated  whether its hidden units are products of two sums
 * @property {boolean} parallel  whether it reads the input of the layer, beside the attention
 * @property {Set<string>} biases  "1", "g" and "2", as far as it has one
 * @property {Norm | null} before  that it reads the stream through
 * @property {Norm | null} outputNorm  of the output, before it is added
 * @property {Norm | null} after  of the sum
 * @property {string[]} parameters
 */

/** The most numbers of a network's matrices that are fetched: 48 MB. */
const MOST = 12e6;

/** @type {Norm} */
const LAYER_NORM = { gain: "gain", bias: "bias", epsilon: null, rms: false };

/**
 * A model with a list of parameters for each attention may differ from layer to layer; in any other
 * one, the description of the model says what all of them have.
 * @param {Model} model
 * @param {AttentionInfo | undefined} attention
 * @param {boolean} self  whether it stays within one text
 * @returns {Parts}
 */
function partsOf(model, attention, self) {
  const pre = model?.norm === "pre";
  const { parameters: listed = [], projection = "linear" } = attention ?? {};
  if (listed.length || projection !== "linear") return described(listed, projection, pre);
  const biases = new Set((model?.bias ?? true) ? "qkvo" : "");
  return {
    linear: true,
    projection,
    sliced: false,
    pre,
    before: pre ? LAYER_NORM : null,
    biases,
    perHead: null,
    turns: self && model?.positions === "rotary",
    rotation: null,
    outputs: true,
    outputNorm: null,
    after: pre ? null : LAYER_NORM,
    parameters: [...[..."qkvo"].flatMap((letter) => (biases.has(letter) ? [`W_${letter}`, `b_${letter}`] : [`W_${letter}`])), "gain", "bias"],
  };
}

/** @param {string[]} listed @param {string} projection @param {boolean} pre @returns {Parts} */
function described(listed, projection, pre) {
  const linear = projection === "linear";
  const has = (/** @type {string} */ name) => listed.includes(name);
  const norm = (/** @type {string} */ prefix) => normIn(listed, prefix);
  const [q, k] = [norm("q_"), norm("k_")];
  const turns = has("theta");
  return {
    linear,
    projection,
    sliced: true,
    pre,
    before: pre && linear ? norm("") : null,
    biases: new Set([..."qkvo"].filter((letter) => has(`b_${letter}`))),
    perHead: q && k ? { q, k } : null,
    turns,
    rotation: turns ? { theta: "theta", pairs: "pairs", scale: has("turn_scale") ? "turn_scale" : null } : null,
    outputs: has("W_o"),
    outputNorm: norm("own_"),
    after: pre ? null : norm(""),
    parameters: listed.filter((name) => !/^[Wb]_[qkv]$/.test(name) && name !== "pi"),
  };
}

/** @param {string[]} listed @param {string} prefix @returns {Norm | null} */
function normIn(listed, prefix) {
  const has = (/** @type {string} */ name) => listed.includes(`${prefix}${name}`);
  const rms = has("rms_gain");
  if (!rms && !has("gain")) return null;
  return { gain: `${prefix}${rms ? "rms_gain" : "gain"}`, bias: has("bias") ? `${prefix}bias` : null, epsilon: `${prefix}epsilon`, rms };
}

/**
 * The feed-forward network of a layer, or why its calculation is left out.
 * @param {Model} model
 * @param {string} place
 * @param {Parts} parts  of the attention before it
 * @returns {{network: Network | null, omitted: null | "unknown" | number}}  a number: of numbers, too many
 */
function networkOf(model, place, { sliced, pre }) {
  if (!sliced) return { network: paper(place, pre), omitted: null };
  const info = model?.networks?.find((candidate) => candidate.place === place);
  if (!info) return { network: null, omitted: "unknown" };
  const { activation, hidden, parallel, parameters } = info;
  const gated = parameters.includes("W_g");
  const size = (gated ? 3 : 2) * hidden * (model?.d_model ?? 0);
  if (size > MOST) return { network: null, omitted: size };
  const norm = normIn(parameters, "");
  const network = {
    place,
    activation,
    gated,
    parallel,
    biases: new Set([..."1g2"].filter((letter) => parameters.includes(`b_${letter}`))),
    before: pre ? norm : null,
    outputNorm: normIn(parameters, "own_"),
    after: pre ? null : norm,
    parameters,
  };
  return { network, omitted: null };
}

/** @param {string} place @param {boolean} pre @returns {Network} */
const paper = (place, pre) => ({
  place,
  activation: "relu",
  gated: false,
  parallel: false,
  biases: new Set("12"),
  before: pre ? LAYER_NORM : null,
  outputNorm: null,
  after: pre ? null : LAYER_NORM,
  parameters: ["W_1", "b_1", "W_2", "b_2", "gain", "bias"],
});
