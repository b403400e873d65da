/**
 * The score of a query and a key, by the model's scoring:
 *
 *     scaled-dot     q_i · k_j / √dₖ               (Vaswani et al. 2017, equation 1)
 *     dot            q_i · k_j                      (Luong et al. 2015, equation 8)
 *     additive       w · tanh(q_i + k_j)            (Bahdanau et al. 2015, appendix A.1.2)
 *     additive-bias  w · tanh(q_i + k_j + b)
 *     dot-by         c · q_i · k_j                  with a constant c of the model
 *
 * A soft cap bounds the score before its position term: cap · tanh(score / cap) (Gemma 2).
 *
 * Relative positions act on the result with π, one number for each head and offset j − i, which is
 * clipped at the largest offset: `relative` adds it, `relative-product` multiplies by it.
 */

import { row, sum } from "../../lib/vectors.js";

/** @import { Vector } from "../../lib/vectors.js" */
/** @import { OriginReply } from "../wire/schemas.d.ts" */
/** @import { Tensor } from "../wire/safetensors.js" */

/** @typedef {"scaled-dot" | "dot" | "dot-by" | "additive" | "additive-bias"} Kind */
/** @typedef {"" | "relative" | "relative-product"} Placed */
/**
 * @typedef {object} Scoring
 * @property {Kind} kind
 * @property {Placed} placed  how relative positions change a score
 * @property {string | null} w  the name of the parameter, if the scoring has one
 * @property {string | null} b
 * @property {string | null} pi
 * @property {number} [by]  the constant of "dot-by"
 * @property {number | null} [cap]  the soft cap
 * @property {boolean} [sink]  whether the softmax has a learned score that belongs to no token
 * @property {boolean} [unknown]  whether something is added to the scores that is not known
 */
/**
 * @typedef {object} Scored  a query and a key
 * @property {Float64Array} terms  one per channel
 * @property {number} sum  of the terms
 * @property {number} root  √dₖ, or 1 if the score is not scaled
 * @property {number} raw  the score before the soft cap and the position term
 * @property {number} plain  the score before its position term
 * @property {number | null} pi  the position term
 * @property {number} score
 */

const KINDS = new Set(["scaled-dot", "dot", "additive", "additive-bias"]);
const PLACED = new Set(["", "relative", "relative-product"]);

/**
 * @param {Pick<import("../wire/schemas.d.ts").AttentionInfo, "place" | "stack" | "scoring"> | undefined} attention
 * @returns {Scoring | null}  null: an unknown scoring
 */
export function scoringOf(attention) {
  const [kind = "", placed = ""] = attention?.scoring.split(" & ") ?? [];
  if (!attention || !KINDS.has(kind) || !PLACED.has(placed)) return null;
  return {
    kind: /** @type {Kind} */ (kind),
    placed: /** @type {Placed} */ (placed),
    w: kind.startsWith("additive") ? `${attention.place}.scoring.w` : null,
    b: kind === "additive-bias" ? `${attention.place}.scoring.b` : null,
    pi: placed ? `${attention.stack}.positions.pi` : null,
  };
}

/**
 * The scoring for the worksheet, which also follows scores of models of `transformers`.
 * @param {import("../wire/schemas.d.ts").AttentionInfo | undefined} attention
 * @returns {Scoring | null}
 */
export function workedScoring(attention) {
  const plain = scoringOf(attention);
  if (plain || !attention) return plain;
  const [kind, ...factors] = attention.scoring.split(" & ");
  const number = (/** @type {string} */ prefix) => factors.find((part) => part.startsWith(prefix))?.slice(prefix.length);
  const by = /^dot-by-(.+)$/.exec(kind)?.[1];
  if (!by && !KINDS.has(kind)) return null;
  const cap = number("softcap-");
  const pi = factors.includes("bias") && attention.parameters?.includes("pi") ? `${attention.place}.pi` : null;
  return {
    kind: by ? "dot-by" : /** @type {Kind} */ (kind),
    placed: pi ? "relative" : "",
    w: null,
    b: null,
    pi,
    by: by ? Number(by) : undefined,
    cap: cap ? Number(cap) : null,
    sink: factors.includes("sink"),
    unknown: factors.includes("bias") && !pi,
  };
}

/** The names of its parameters. @param {Scoring | null} scoring @returns {string[]} */
export const learned = (scoring) => [scoring?.w, scoring?.b, scoring?.pi].flatMap((name) => name ?? []);

/** Whether its terms are products, not tanh of a sum. @param {Scoring} scoring */
export const isDot = ({ kind }) => kind === "dot" || kind === "scaled-dot" || kind === "dot-by";

/**
 * @param {Scoring} scoring
 * @param {(name: string) => Tensor} find  finds the parameters that `learned` names
 * @param {number} head
 * @returns {(q: Vector, k: Vector, query: number, key: number) => Scored}
 */
export function scorer(scoring, find, head) {
  const { kind, placed, by = 1, cap = null } = scoring;
  const [w, b, pi] = [scoring.w, scoring.b, scoring.pi].map((name) => (name ? row(find(name), head) : null));
  /** @param {Vector} q @param {Vector} k @param {number} c */
  const term = (q, k, c) => (w ? w[c] * Math.tanh(q[c] + k[c] + (b ? b[c] : 0)) : q[c] * k[c]);
  return (q, k, query, key) => {
    const terms = Float64Array.from(q, (_, c) => term(q, k, c));
    const root = kind === "scaled-dot" ? Math.sqrt(q.length) : 1;
    const all = sum(terms);
    const raw = (all / root) * by;
    const plain = cap === null ? raw : cap * Math.tanh(raw / cap);
    const positionTerm = pi ? pi[column(pi.length, key - query)] : null;
    const score = positionTerm === null ? plain : placed === "relative" ? plain + positionTerm : plain * positionTerm;
    return { terms, sum: all, root, raw, plain, pi: positionTerm, score };
  };
}

/** q · k / √dₖ, without learned parameters. */
export const scaledDot = scorer({ kind: "scaled-dot", placed: "", w: null, b: null, pi: null }, () => { throw new Error("learns nothing"); }, 0);

/**
 * The column of an offset in π; larger offsets count as the largest.
 * @param {number} width  2 · the largest offset + 1
 * @param {number} offset  key − query
 */
export function column(width, offset) {
  const limit = (width - 1) / 2;
  return Math.min(Math.max(offset, -limit), limit) + limit;
}

/**
 * π for every query and key of a head.
 * @param {Tensor} pi  [head, offset]
 * @param {number} head
 * @param {number} rows
 * @param {number} cols
 * @returns {import("../wire/safetensors.js").Matrix}
 */
export function termMatrix(pi, head, rows, cols) {
  const terms = row(pi, head);
  const termOf = (/** @type {number} */ cell) => terms[column(terms.length, (cell % cols) - Math.floor(cell / cols))];
  return { rows, cols, values: Float32Array.from({ length: rows * cols }, (_, cell) => termOf(cell)) };
}

// Names of the terms of scores, as the API has them (docs/inside.md).

/**
 * @param {string} place  of an attention
 * @param {{head: number, query: number, key: number}} at
 * @returns {string}  the name of a cell in `scores` of a reply
 */
export const cellOf = (place, { head, query, key }) => `${place}.${head}.${query}.${key}`;

/** @param {string} cell @returns {string}  the tensor of its terms */
export const termsOf = (cell) => `inside.score.${cell}.parts`;

/**
 * A trace whose terms of scores follow their names, as a table needs them.
 * @param {import("../wire/safetensors.js").Trace} trace
 * @returns {Pick<import("../wire/safetensors.js").Trace, "tensors"> & {tokens: Record<string, {text: string}[]>}}
 */
export function named({ tokens, tensors, scores = {} }) {
  const all = Object.entries(scores).map(([cell, { queries, keys }]) => ({ cell, name: termsOf(cell), sides: { query_term: queries, key_term: keys } }));
  const recorded = all.filter(({ name }) => tensors[name]);
  const word = (/** @type {OriginReply} */ { at: address, part, head }) => ({ text: [address, part, head].filter((piece) => piece !== null).join(".") });
  return {
    tokens: Object.assign({}, tokens, ...recorded.map(({ cell, sides }) => Object.fromEntries(Object.entries(sides).map(([dim, origins]) => [`${cell} ${dim}`, origins.map(word)])))),
    tensors: Object.assign({}, tensors, ...recorded.map(({ cell, name, sides }) => ({
      [name]: { ...tensors[name], over: Object.fromEntries(Object.keys(sides).map((dim) => [dim, `${cell} ${dim}`])) },
    }))),
  };
}
