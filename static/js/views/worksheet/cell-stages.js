/**
 * Compute one cell of attention by hand, stage by stage, in float64.
 *
 * Each stage starts from the model's values of the previous stage, so that a difference belongs to
 * one stage and does not propagate. The model's values are float32: a stage agrees if no number
 * differs by more than TOLERANCE times the largest of them (or times one).
 *
 * Sources: Vaswani et al. 2017, equations 1 and 2, sections 3.1 and 3.2.2; Ba et al. 2016, Layer
 * Normalization, equation 4; for other scorings and positions see scoring.js and positions.js.
 */

import { affine, plus, row, rows } from "../../lib/vectors.js";
import { addNorm, added, feedForward, normed, reconcile } from "./sublayer.js";
import { plainRotation, rotatedPairs } from "../../core/compute/positions.js";
import { scorer } from "../../core/compute/scoring.js";
import { softmaxRow } from "../../core/compute/attention-row.js";
import { sliceOf } from "./needed-tensors.js";

/** @import { Tensor } from "../../core/wire/safetensors.js" */
/** @import { Vector } from "../../lib/vectors.js" */
/** @import { Names } from "./needed-tensors.js" */
/** @typedef {(name: string) => Tensor} Find */
/** @typedef {{block: string, layer: number, head: number, query: number, key: number}} Cell */
/** @typedef {ReturnType<typeof worksheet>} Worksheet */

/**
 * The whole calculation of a cell. A part that the model does not have, or that is not known, is
 * null.
 * @param {Find} find  the tensors and parameters that `names` lists
 * @param {Cell} cell
 * @param {Names} named
 */
export function worksheet(find, cell, named) {
  const { query } = cell;
  const tensorOf = (/** @type {string} */ letter) => find(`${named.attentionPlace}.${letter}`);
  const x = named.linear ? incoming(find, cell, named) : null;
  const before = x && named.before ? normsBefore(tensorOf, cell, named, x) : null;
  const read = x && (before ? { query: before.query.model, key: before.key?.model ?? x.key } : x);
  const stream = named.outputs ? (x?.query ?? row(find(named.query), query)) : null;
  const around = stream && { x: stream, output: row(tensorOf("output"), query) };
  const projected = read && project(find, tensorOf, cell, named, read);
  return {
    input: x,
    before,
    given: vectors(tensorOf, cell, named),
    project: projected,
    perHead: projected?.q.norm ? reconcileBoth(projected.q.norm, projected.k.norm) : null,
    rotate: projected && named.turns ? rotate(tensorOf, cell, named, projected) : null,
    score: score(find, tensorOf, cell, named),
    softmax: softmax(tensorOf, cell, named),
    mix: mix(tensorOf, cell, named),
    output: named.outputs ? output(tensorOf, cell, named) : null,
    outputNorm: named.outputNorm ? normed(tensorOf, row(tensorOf("projected"), query), row(tensorOf("output"), query), named.outputNorm) : null,
    norm: around && named.after ? addNorm(tensorOf, query, around, named.after) : null,
    added: around && !named.after ? added(tensorOf, query, around) : null,
    ffn: named.network ? fed(find, tensorOf, cell, named, named.network) : null,
  };
}

/**
 * The feed-forward network, which reads the stream after the attention or, in parallel, before it.
 * @param {Find} find
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 * @param {import("./needed-tensors.js").Network} network
 */
function fed(find, tensorOf, { query }, named, network) {
  const stream = row(tensorOf(named.pre ? "residual" : "norm"), query);
  const entry = network.parallel ? row(find(named.query), query) : stream;
  return feedForward((name) => find(`${network.place}.${name}`), query, { stream, entry }, network);
}

/** @typedef {ReturnType<typeof normed>} Normed */

/** @param {Normed} q @param {Normed | null} k */
const reconcileBoth = (q, k) => ({ q, k: k ?? q, check: k ? reconcile(q, k) : q.check });

/**
 * The vectors as they enter the score.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 */
const vectors = (tensorOf, { head, query, key }, { group }) =>
  ({ q: row(tensorOf("q"), query, head), k: row(tensorOf("k"), key, group), v: row(tensorOf("v"), key, group) });

/**
 * The inputs of the attention for the query's and the key's token. If a position is added, x is a
 * sum: of embedding and position at the input, or of the previous layer's output and the position.
 * The model records the former; the latter is only computed here.
 * @param {Find} find
 * @param {Cell} cell
 * @param {Names} named
 */
function incoming(find, { query, key }, { sums, query: from, key: memory, eachLayer }) {
  const isSelfAttention = from === memory;
  if (!sums.length) return { query: row(find(from), query), key: row(find(memory), key), parts: null, check: null };
  const [first, position] = sums.map(find);
  const sum = (/** @type {number} */ index) => plus(row(first, index), row(position, index));
  const parts = { x: row(first, query), position: row(position, query) };
  if (eachLayer) return { query: sum(query), key: isSelfAttention ? sum(key) : row(find(memory), key), parts, check: null };
  const model = find(from);
  const pairs = [...new Set([query, key])].map((index) => ({ computed: sum(index), model: row(model, index) }));
  return { query: row(model, query), key: row(model, key), parts, check: reconcile(...pairs) };
}

/**
 * The layer norms before a pre-norm attention. For cross-attention, the keys' vectors were normed
 * in their own stack.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 * @param {{query: Vector, key: Vector}} x
 */
function normsBefore(tensorOf, { query, key }, named, x) {
  const isSelfAttention = named.query === named.key;
  const norm = /** @type {import("./needed-tensors.js").Norm} */ (named.before);
  const of = (/** @type {number} */ index, /** @type {Vector} */ vector) => normed(tensorOf, vector, row(tensorOf("norm"), index), norm);
  const [first, second] = [of(query, x.query), isSelfAttention ? of(key, x.key) : null];
  return { query: first, key: second, check: second ? reconcile(first, second) : first.check };
}

/**
 * q_i = x_i W_q + b_q and so on, in the channels of the head; with x + position, if positions act
 * on q and k. The recorded q and k are rotated, so they are rotated back for the comparison; those
 * before a norm of their channels are not recorded.
 * @param {Find} find
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 * @param {{query: Vector, key: Vector}} x
 */
function project(find, tensorOf, { head, query, key }, named, x) {
  const { placed, turns, biases, perHead, sliced, group } = named;
  const position = placed ? find(placed) : null;
  /** @param {"q" | "k" | "v"} letter @param {Vector} read @param {number} index */
  const vector = (letter, read, index) => {
    const orders = letter !== "v";
    const headIndex = letter === "q" ? head : group;
    const from = position && orders ? plus(read, row(position, index)) : read;
    const model = row(tensorOf(letter), index, headIndex);
    const start = sliced ? 0 : headIndex * model.length;
    const part = (/** @type {string} */ name) => (sliced ? find(sliceOf(named.attentionPlace, name, head, group)) : tensorOf(name));
    const W = part(`W_${letter}`);
    const b = biases.has(letter) ? row(part(`b_${letter}`)) : null;
    const computed = affine(from, W, b, start, start + model.length);
    const flat = turns && orders ? rotatedPairs(model, index, rotationOf(tensorOf, named, model.length), -1) : model;
    const by = perHead && orders ? perHead[letter] : null;
    const norm = by ? normed(tensorOf, computed, flat, by) : null;
    return { from, read, position: position && orders ? row(position, index) : null, W, b, start, model: norm ? computed : flat, computed, norm };
  };
  const q = vector("q", x.query, query);
  const k = vector("k", x.key, key);
  const v = vector("v", x.key, key);
  return { q, k, v, check: perHead ? reconcile(v) : reconcile(q, k, v) };
}

/**
 * @param {Find} tensorOf
 * @param {Names} named
 * @param {number} width  d_k
 * @returns {import("../../core/compute/positions.js").Rotation}
 */
function rotationOf(tensorOf, { rotation }, width) {
  if (!rotation) return plainRotation(width);
  const { data } = tensorOf(rotation.pairs);
  const theta = row(tensorOf(rotation.theta));
  return {
    pairs: Array.from(theta, (_, pair) => [data[2 * pair], data[2 * pair + 1]]),
    theta,
    scale: rotation.scale ? row(tensorOf(rotation.scale))[0] : 1,
  };
}

/**
 * Rotary positions: rotate q and k, pair by pair, by the positions of their tokens.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 * @param {ReturnType<typeof project>} from
 */
function rotate(tensorOf, { head, query, key }, named, { q, k }) {
  const rotation = rotationOf(tensorOf, named, q.computed.length);
  /** @param {"q" | "k"} letter @param {ReturnType<typeof project>["q"]} of @param {number} position @param {number} headIndex */
  const turned = (letter, of, position, headIndex) => {
    const before = of.norm?.computed ?? of.computed;
    return { before, position, computed: rotatedPairs(before, position, rotation), model: row(tensorOf(letter), position, headIndex) };
  };
  const [first, second] = [turned("q", q, query, head), turned("k", k, key, named.group)];
  return { q: first, k: second, rotation, check: reconcile(first, second) };
}

/**
 * score_ij by the model's scoring, for every key of the row; the terms are those of the cell.
 * @param {Find} find
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 */
function score(find, tensorOf, { head, query, key }, { scoring, group }) {
  if (!scoring) throw new Error(`unknown scoring of ${query}`);
  const q = row(tensorOf("q"), query, head);
  const keys = rows(tensorOf("k"), group);
  const of = scorer(scoring, find, head);
  const { terms, sum: dot, root, raw, plain, pi } = of(q, keys[key], query, key);
  const model = row(tensorOf("scores"), query, head);
  const computed = scoring.unknown ? model : Float64Array.from(keys, (k, j) => of(q, k, query, j).score);
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
    raw,
    plain,
    pi,
    by: scoring.by ?? 1,
    cap: scoring.cap ?? null,
    unknown: scoring.unknown ?? false,
    computed,
    model,
    check: scoring.unknown ? null : reconcile({ computed, model }),
  };
}

/**
 * weight_ij = exp(score_ij − max_i) / Σ exp(score − max_i) over the unmasked keys; the others get
 * zero. A learned sink has a score and takes a weight, like a key, but has no value.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 */
function softmax(tensorOf, { head, query }, { scoring }) {
  const scores = row(tensorOf("scores"), query, head);
  const may = Array.from(row(tensorOf("mask"), query), Boolean);
  const sinkScore = scoring?.sink ? row(tensorOf("sink_score"))[head] : null;
  const { weights, ...steps } = softmaxRow(sinkScore === null ? scores : [...Array.from(scores), sinkScore], (key) => may[key] ?? true);
  const computed = weights.subarray(0, scores.length);
  const model = row(tensorOf("weights"), query, head);
  const sink = sinkScore === null ? null : { score: sinkScore, computed: weights[scores.length], model: row(tensorOf("sink"), head)[query] };
  const pairs = [{ computed, model }, ...(sink ? [{ computed: [sink.computed], model: [sink.model] }] : [])];
  return { scores, may, ...steps, computed, model, sink, check: reconcile(...pairs) };
}

/**
 * mix_i = Σ_j weight_ij v_j; the part of this cell's key is separate from the others.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 */
function mix(tensorOf, { head, query, key }, { group }) {
  const weights = row(tensorOf("weights"), query, head);
  const values = rows(tensorOf("v"), group);
  const parts = values.map((v, j) => Float64Array.from(v, (value) => weights[j] * value));
  const computed = parts.reduce(plus, new Float64Array(values[0].length));
  const pairPart = parts[key];
  const remainder = Float64Array.from(computed, (value, c) => value - pairPart[c]);
  const model = row(tensorOf("mix"), query, head);
  const v = values[key];
  return { weights, v, parts, pairPart, remainder, computed, model, check: reconcile({ computed, model }) };
}

/**
 * output_i = Σ_heads mix_h W_O[rows of h] + b_O: with each head's part separately.
 * @param {Find} tensorOf
 * @param {Cell} cell
 * @param {Names} named
 */
function output(tensorOf, { query }, { biases, outputNorm }) {
  const heads = tensorOf("mix").shape[0];
  const W = tensorOf("W_o");
  const bias = biases.has("o") ? row(tensorOf("b_o")) : null;
  const parts = Array.from({ length: heads }, (_, head) => {
    const mixed = row(tensorOf("mix"), query, head);
    return affine(mixed, W, null, 0, W.shape[1], head * mixed.length);
  });
  const computed = parts.reduce(plus, Float64Array.from(bias ?? new Float64Array(W.shape[1])));
  const model = row(tensorOf(outputNorm ? "projected" : "output"), query);
  return { parts, bias, computed, model, check: reconcile({ computed, model }) };
}
