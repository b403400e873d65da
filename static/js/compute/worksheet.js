/**
 * Compute one cell of attention by hand, stage by stage, in float64.
 *
 * Each stage starts from the model's values of the previous stage, so that a difference belongs to
 * one stage and does not propagate. The model's values are float32: a stage agrees if no number
 * differs by more than TOLERANCE times the largest of them (or times one).
 *
 * Sources: Vaswani et al. 2017, equations 1 and 2, sections 3.1 and 3.2.2; Ba et al. 2016, Layer
 * Normalization, equation 4; for other scorings and positions see scoring.js and rotary.js.
 */

import { affine, plus, row, rows } from "../lib/vectors.js";
import { reconcile } from "./reconcile.js";
import { rotated } from "./rotary.js";
import { scorer } from "./scoring.js";
import { softmaxRow } from "./softmax-row.js";
import { addNorm, added, feedForward, normed } from "./sublayer.js";

/** @typedef {import("../data/wire.js").Tensor} Tensor */
/** @typedef {import("../lib/vectors.js").Vector} Vector */
/** @typedef {(name: string) => Tensor} Find */
/** @typedef {{block: string, layer: number, head: number, query: number, key: number}} Cell */
/** @typedef {import("./worksheet-names.js").Names} Names */
/** @typedef {import("./reconcile.js").Check} Check */
/** @typedef {ReturnType<typeof worksheet>} Worksheet */

/**
 * The whole calculation of a cell.
 * @param {Find} find  the tensors and parameters that `names` lists
 * @param {Cell} cell
 * @param {Names} named
 */
export function worksheet(find, cell, named) {
  const { query } = cell;
  const here = (/** @type {string} */ letter) => find(`${named.here}.${letter}`);
  const x = incoming(find, cell, named);
  const before = named.pre ? normsBefore(here, cell, named, x) : null;
  const read = before ? { query: before.query.model, key: before.key?.model ?? x.key } : x;
  const around = { x: x.query, output: row(here("output"), query) };
  const projected = project(find, here, cell, named, read);
  return {
    input: x,
    before,
    project: projected,
    rotate: named.turns ? rotate(here, cell, projected) : null,
    score: score(find, here, cell, named),
    softmax: softmax(here, cell),
    mix: mix(here, cell),
    output: output(here, cell, named),
    norm: named.pre ? null : addNorm(here, query, around),
    added: named.pre ? added(here, query, around) : null,
    ffn: named.ffn ? feedForward((letter) => find(`${named.ffn}.${letter}`), here, query, named.pre) : null,
  };
}

/**
 * The inputs of the attention for the query's and the key's token. If a position is added, x is a
 * sum: of embedding and position at the input, or of the previous layer's output and the position.
 * The model records the former; the latter is only computed here.
 * @param {Find} find
 * @param {Cell} cell
 * @param {Names} named
 */
function incoming(find, { query, key }, { sums, query: from, key: memory, eachLayer }) {
  const own = from === memory;
  if (!sums.length) return { query: row(find(from), query), key: row(find(memory), key), parts: null, check: null };
  const [first, position] = sums.map(find);
  const sum = (/** @type {number} */ at) => plus(row(first, at), row(position, at));
  const parts = { x: row(first, query), position: row(position, query) };
  if (eachLayer) return { query: sum(query), key: own ? sum(key) : row(find(memory), key), parts, check: null };
  const model = find(from);
  const pairs = [...new Set([query, key])].map((at) => ({ computed: sum(at), model: row(model, at) }));
  return { query: row(model, query), key: row(model, key), parts, check: reconcile(...pairs) };
}

/**
 * The layer norms before a pre-norm attention. For cross-attention, the keys' vectors were normed
 * in their own stack.
 * @param {Find} here
 * @param {Cell} cell
 * @param {Names} named
 * @param {{query: Vector, key: Vector}} x
 */
function normsBefore(here, { query, key }, named, x) {
  const own = named.query === named.key;
  const [first, second] = [normed(here, query, x.query), own ? normed(here, key, x.key) : null];
  return { query: first, key: second, check: second ? reconcile(first, second) : first.check };
}

/**
 * q_i = x_i W_q + b_q and so on, in the channels of the head; with x + position, if positions act
 * on q and k.
 * @param {Find} find
 * @param {Find} here
 * @param {Cell} cell
 * @param {Names} named
 * @param {{query: Vector, key: Vector}} x
 */
function project(find, here, { head, query, key }, { placed, turns, bias }, x) {
  const position = placed ? find(placed) : null;
  /** @param {"q" | "k" | "v"} letter @param {Vector} read @param {number} at */
  const vector = (letter, read, at) => {
    const orders = letter !== "v";
    const from = position && orders ? plus(read, row(position, at)) : read;
    const model = row(here(letter), at, head);
    const start = head * model.length;
    const W = here(`W_${letter}`);
    const b = bias ? row(here(`b_${letter}`)) : null;
    const computed = affine(from, W, b, start, start + model.length);
    // The recorded values are already rotated.
    const flat = turns && orders ? rotated(model, -at) : model;
    return { from, read, position: position && orders ? row(position, at) : null, W, b, start, model: flat, computed };
  };
  const q = vector("q", x.query, query);
  const k = vector("k", x.key, key);
  const v = vector("v", x.key, key);
  return { q, k, v, check: reconcile(q, k, v) };
}

/**
 * Rotary positions: rotate q and k, pair by pair, by the positions of their tokens.
 * @param {Find} here
 * @param {Cell} cell
 * @param {ReturnType<typeof project>} from
 */
function rotate(here, { head, query, key }, { q, k }) {
  /** @param {string} letter @param {Vector} before @param {number} at */
  const turned = (letter, before, at) => ({ before, at, computed: rotated(before, at), model: row(here(letter), at, head) });
  const [first, second] = [turned("q", q.computed, query), turned("k", k.computed, key)];
  return { q: first, k: second, check: reconcile(first, second) };
}

/**
 * score_ij by the model's scoring, for every key of the row; the terms are those of the cell.
 * @param {Find} find
 * @param {Find} here
 * @param {Cell} cell
 * @param {Names} named
 */
function score(find, here, { head, query, key }, { scoring }) {
  if (!scoring) throw new Error(`unknown scoring of ${query}`);
  const q = row(here("q"), query, head);
  const keys = rows(here("k"), head);
  const of = scorer(scoring, find, head);
  const { terms, sum: dot, root, plain, pi } = of(q, keys[key], query, key);
  const computed = Float64Array.from(keys, (k, j) => of(q, k, query, j).score);
  const model = row(here("scores"), query, head);
  const [w, b] = [scoring.w, scoring.b].map((name) => (name ? row(find(name), head) : null));
  return {
    kind: scoring.kind,
    placed: scoring.placed,
    offset: key - query,
    q,
    k: keys[key],
    w,
    b,
    products: terms,
    dot,
    root,
    plain,
    pi,
    computed,
    model,
    check: reconcile({ computed, model }),
  };
}

/**
 * weight_ij = exp(score_ij − max_i) / Σ exp(score − max_i) over the unmasked keys; the others get
 * zero.
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
 * mix_i = Σ_j weight_ij v_j; the part of this cell's key is separate from the others.
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
  return { weights, v, parts, own, others, computed, model, check: reconcile({ computed, model }) };
}

/**
 * output_i = Σ_heads mix_h W_O[rows of h] + b_O: with each head's part separately.
 * @param {Find} here
 * @param {Cell} cell
 * @param {Names} named
 */
function output(here, { query }, { bias: biased }) {
  const heads = here("mix").shape[0];
  const W = here("W_o");
  const bias = biased ? row(here("b_o")) : null;
  const parts = Array.from({ length: heads }, (_, head) => {
    const mixed = row(here("mix"), query, head);
    return affine(mixed, W, null, 0, W.shape[1], head * mixed.length);
  });
  const computed = parts.reduce(plus, Float64Array.from(bias ?? new Float64Array(W.shape[1])));
  const model = row(here("output"), query);
  return { parts, bias, computed, model, check: reconcile({ computed, model }) };
}
