/**
 * One cell of attention worked out by hand, stage after stage, in float64.
 *
 * Each stage starts from the model's own values of the stage before it, so that a difference is
 * that stage's alone and is not handed on. What the model recorded is float32: a stage agrees when
 * no number differs by more than TOLERANCE times the largest of them (or times one).
 *
 * Sources: Vaswani et al. 2017, equations 1 and 2, sections 3.1 and 3.2.2; Ba et al. 2016, Layer
 * Normalization, equation 4.
 */

import { blockOf, place, stacked, within } from "../data/attentions.js";
import { affine, plus, row, rows, sum, times } from "../lib/vectors.js";
import { softmaxRow } from "./softmax-row.js";

/** @typedef {import("../data/wire.js").Tensor} Tensor */
/** @typedef {import("../lib/vectors.js").Vector} Vector */
/** @typedef {(name: string) => Tensor} Find */
/** @typedef {{block: string, layer: number, head: number, query: number, key: number}} Cell */
/**
 * @typedef {object} Check
 * @property {number} largest  difference between what is worked out here and the model's own
 * @property {number} count  how many numbers were compared
 * @property {boolean} agrees
 */
/** @typedef {ReturnType<typeof names>} Names */
/** @typedef {ReturnType<typeof worksheet>} Worksheet */

export const TOLERANCE = 1e-5;
/** Inside the square root of a layer norm: torch's, which the model leaves as it is. */
export const EPSILON = 1e-5;

/**
 * What the sheet of a cell is worked out from.
 * @param {import("../data/attentions.js").Model} model
 * @param {Pick<Cell, "block" | "layer">} at
 */
export function names(model, { block, layer }) {
  const { stack, query, key } = blockOf(model, block);
  const here = place(model, { block, layer });
  const all = stacked(model, stack);
  const before = all[all.findIndex(({ id }) => id === block) - 1];
  const x = before ? `${place(model, { block: before.id, layer })}.norm` : top(stack, layer, query);
  const other = within(model, key);
  const memory = key === query ? x : top(other.stack, other.rows.length, key);
  const sums = x.endsWith(".input") ? [`${query}.embedding`, `${query}.position`] : [];
  const ffn = all.at(-1)?.id === block ? `${stack}.${layer}.ffn` : null;
  /** @param {string} at @param {string[]} letters */
  const under = (at, letters) => letters.map((letter) => `${at}.${letter}`);
  return {
    here,
    query: x,
    key: memory,
    sums,
    ffn,
    tensors: [
      ...new Set([x, memory, ...sums]),
      ...under(here, ["q", "k", "v", "scores", "mask", "weights", "mix"]),
      ...under(here, ["output", "residual", "norm"]),
      ...(ffn ? under(ffn, ["hidden", "output", "residual", "norm"]) : []),
    ],
    parameters: [
      ...under(here, ["W_q", "b_q", "W_k", "b_k", "W_v", "b_v", "W_o", "b_o", "gain", "bias"]),
      ...(ffn ? under(ffn, ["W_1", "b_1", "W_2", "b_2", "gain", "bias"]) : []),
    ],
  };
}

/** What a stack hands on after so many layers. @param {string} stack @param {number} layers @param {string} text */
const top = (stack, layers, text) => (layers ? `${stack}.${layers - 1}.ffn.norm` : `${text}.input`);

/**
 * The whole calculation of a cell.
 * @param {Find} find  the tensors and parameters that `names` lists
 * @param {Cell} cell
 * @param {Names} named
 */
export function worksheet(find, cell, named) {
  const { query, key } = cell;
  const here = (/** @type {string} */ letter) => find(`${named.here}.${letter}`);
  const x = { query: row(find(named.query), query), key: row(find(named.key), key) };
  const residual = { x: x.query, output: row(here("output"), query) };
  return {
    input: { ...x, ...sums(find, cell, named) },
    project: project(here, cell, x),
    score: score(here, cell),
    softmax: softmax(here, cell),
    mix: mix(here, cell),
    output: output(here, cell),
    norm: addNorm(here, query, residual),
    ffn: named.ffn ? feedForward((letter) => find(`${named.ffn}.${letter}`), here, query) : null,
  };
}

/**
 * x = embedding + position, in the first layer; above it x is what the layer below handed on.
 * @param {Find} find
 * @param {Cell} cell
 * @param {Names} named
 */
function sums(find, { query, key }, { sums, query: from }) {
  if (!sums.length) return { embedding: null, position: null, check: null };
  const [embedding, position] = sums.map(find);
  const added = (/** @type {number} */ at) => plus(row(embedding, at), row(position, at));
  const model = find(from);
  const pairs = [...new Set([query, key])].map((at) => ({
    computed: added(at),
    model: row(model, at),
  }));
  return {
    embedding: row(embedding, query),
    position: row(position, query),
    check: reconcile(...pairs),
  };
}

/**
 * q_i = x_i W_q + b_q and so on, in the channels of the head.
 * @param {Find} here
 * @param {Cell} cell
 * @param {{query: Vector, key: Vector}} x
 */
function project(here, { head, query, key }, x) {
  /** @param {"q" | "k" | "v"} letter @param {Vector} from @param {number} at */
  const vector = (letter, from, at) => {
    const model = row(here(letter), at, head);
    const start = head * model.length;
    const [W, b] = [here(`W_${letter}`), row(here(`b_${letter}`))];
    return {
      from,
      W,
      b,
      start,
      model,
      computed: affine(from, W, b, start, start + model.length),
    };
  };
  const q = vector("q", x.query, query);
  const k = vector("k", x.key, key);
  const v = vector("v", x.key, key);
  return { q, k, v, check: reconcile(q, k, v) };
}

/**
 * score_ij = q_i · k_j / √d_k, of every key of the row; the products are those of the cell.
 * @param {Find} here
 * @param {Cell} cell
 */
function score(here, { head, query, key }) {
  const q = row(here("q"), query, head);
  const keys = rows(here("k"), head);
  const products = times(q, keys[key]);
  const root = Math.sqrt(q.length);
  const computed = Float64Array.from(keys, (k) => sum(times(q, k)) / root);
  const model = row(here("scores"), query, head);
  return {
    q,
    k: keys[key],
    products,
    dot: sum(products),
    root,
    computed,
    model,
    check: reconcile({ computed, model }),
  };
}

/**
 * weight_ij = exp(score_ij − max_i) / Σ exp(score − max_i) over the keys that the mask leaves; the
 * others get zero.
 * @param {Find} here
 * @param {Cell} cell
 */
function softmax(here, { head, query }) {
  const scores = row(here("scores"), query, head);
  const may = Array.from(row(here("mask"), query), Boolean);
  const { weights: computed, ...steps } = softmaxRow(scores, (key) => may[key]);
  const model = row(here("weights"), query, head);
  return { scores, may, ...steps, computed, model, check: reconcile({ computed, model }) };
}

/**
 * mix_i = Σ_j weight_ij v_j; what this cell's key brings is apart from what the others bring.
 * @param {Find} here
 * @param {Cell} cell
 */
function mix(here, { head, query, key }) {
  const weights = row(here("weights"), query, head);
  const values = rows(here("v"), head);
  const parts = values.map((v, j) => Float64Array.from(v, (value) => weights[j] * value));
  const computed = parts.reduce(plus, new Float64Array(values[0].length));
  const own = parts[key];
  const others = Float64Array.from(computed, (value, c) => value - own[c]);
  const model = row(here("mix"), query, head);
  const v = values[key];
  return {
    weights,
    v,
    parts,
    own,
    others,
    computed,
    model,
    check: reconcile({ computed, model }),
  };
}

/**
 * output_i = Σ_heads mix_h W_O[rows of h] + b_O: each head's part by itself.
 * @param {Find} here
 * @param {Cell} cell
 */
function output(here, { query }) {
  const heads = here("mix").shape[0];
  const W = here("W_o");
  const bias = row(here("b_o"));
  const parts = Array.from({ length: heads }, (_, head) => {
    const mixed = row(here("mix"), query, head);
    return affine(mixed, W, null, 0, W.shape[1], head * mixed.length);
  });
  const computed = parts.reduce(plus, Float64Array.from(bias));
  const model = row(here("output"), query);
  return { parts, bias, computed, model, check: reconcile({ computed, model }) };
}

/**
 * residual = x + output, norm = (residual − μ) / √(σ² + ε) · γ + β, over the features of one row.
 * @param {Find} here
 * @param {number} query
 * @param {{x: Vector, output: Vector}} from
 */
function addNorm(here, query, { x, output }) {
  const residual = { computed: plus(x, output), model: row(here("residual"), query) };
  const mean = sum(residual.model) / residual.model.length;
  const centred = Float64Array.from(residual.model, (value) => value - mean);
  const variance = sum(times(centred, centred)) / centred.length;
  const [gain, bias] = [row(here("gain")), row(here("bias"))];
  const deviation = Math.sqrt(variance + EPSILON);
  const computed = centred.map((value, f) => (value / deviation) * gain[f] + bias[f]);
  const model = row(here("norm"), query);
  const check = reconcile(residual, { computed, model });
  return { x, output, residual, mean, variance, deviation, gain, bias, computed, model, check };
}

/**
 * FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, then added and normed.
 * @param {Find} here  of the feed-forward network
 * @param {Find} before  of the attention whose norm it reads
 * @param {number} query
 */
function feedForward(here, before, query) {
  const x = row(before("norm"), query);
  const sums = affine(x, here("W_1"), row(here("b_1")));
  const hidden = { computed: sums.map((z) => Math.max(0, z)), model: row(here("hidden"), query) };
  const strongest = Array.from(hidden.model, (_, unit) => unit)
    .filter((unit) => hidden.model[unit] > 0)
    .sort((a, b) => hidden.model[b] - hidden.model[a]);
  const bias = row(here("b_2"));
  const computed = affine(hidden.model, here("W_2"), bias);
  const output = { computed, model: row(here("output"), query) };
  return {
    hidden: { x, b: row(here("b_1")), sums, ...hidden, strongest, check: reconcile(hidden) },
    output: { bias, ...output, check: reconcile(output) },
    norm: addNorm(here, query, { x, output: output.model }),
  };
}

/**
 * @param {...{computed: Vector, model: Vector}} pairs
 * @returns {Check}
 */
export function reconcile(...pairs) {
  let [largest, size, count] = [0, 1, 0];
  for (const { computed, model } of pairs) {
    count += model.length;
    for (let i = 0; i < model.length; i++) {
      const difference = Math.abs(computed[i] - model[i]);
      largest = Math.max(largest, Number.isNaN(difference) ? Infinity : difference);
      size = Math.max(size, Math.abs(model[i]));
    }
  }
  return { largest, count, agrees: largest <= TOLERANCE * size };
}
