/**
 * Changes that need numbers of a run: rows of another sentence (`freeze`, `patch`, `add`), the order of
 * a seed (`shuffle`), the rest of a row (`set` with `renormalise`). Each becomes rows that replace a
 * tensor's, or a vector, which the graphs take (graph-changes.js).
 */

import { Problem } from "../core/wire/reply.js";
import { createRandom } from "./random-numbers.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { OrtTensor, Tensors } from "./graph-passes.js" */
/**
 * Rows instead of a tensor's own: of (…, N', M') numbers, those of `pairs` (its row, ours); null: row i
 * is row i. `unseen` is the value at keys that it lacks, null if the last axis is not keys.
 * @typedef {{values: Float32Array, shape: number[], pairs: [number, number][] | null, unseen: number | null}} OtherRows
 */
/** @typedef {{source: string, direction?: string, target?: string, decode?: object}} Sentence */
/** @typedef {(sentence: Sentence, name: string) => Promise<{data: Float32Array, shape: number[], dims: string[]}>} ReadTensor */

/** @param {any} effect */
const isObject = (effect) => typeof effect === "object" && effect !== null;

/** Whether a change has to be computed from the pass that it changes. @param {Change} change */
const isOfPass = ({ do: effect }) => isObject(effect) && (effect.renormalise === true || "shuffle" in effect);

/** A sentence without what else the change says of it. @param {any} value @returns {Sentence} */
const sentenceOf = ({ source, direction, target, decode }) => ({ source, ...(direction !== undefined && { direction }), ...(target !== undefined && { target }), ...(decode !== undefined && { decode }) });

/**
 * The changes with their values from other runs.
 * @param {Change[]} changes
 * @param {ReadTensor} readTensor
 * @param {(text: string) => number | null} lengthOf  of a text of this run; null: it is not written yet
 * @returns {Promise<Change[]>}
 */
export function withOtherRuns(changes, readTensor, lengthOf) {
  return Promise.all(changes.map(async (change, index) => {
    const effect = /** @type {any} */ (change.do);
    const field = `interventions[${index}].do`;
    if (isObject(effect?.freeze)) return replacing(change, `${change.at}.weights`, await otherRows(effect.freeze, null, `${change.at}.weights`));
    if (isObject(effect?.patch)) {
      if (effect.patch.to) throw new Problem("unsupported", { field: `${field}.patch.to`, detail: `${field}.patch.to: the effect along one path needs a server` });
      return replacing(change, change.at, await otherRows(effect.patch, effect.patch.rows ?? null, change.at, field));
    }
    if (isObject(effect?.add) && !Array.isArray(effect.add)) return { ...change, do: { add: await difference(effect.add, change.at) } };
    return change;
  }));

  /** @param {any} value @param {[number, number][] | null} pairs @param {string} name @param {string} [field] @returns {Promise<OtherRows>} */
  async function otherRows(value, pairs, name, field) {
    const { data, shape, dims } = await readTensor(sentenceOf(value), name);
    const theirs = shape[shape.length - 2];
    const ours = lengthOf(name);
    if (field && !pairs && ours !== null && theirs !== ours) {
      throw new Problem("does-not-fit", { field: `${field}.rows`, detail: `${field}.rows must say which rows replace which: there are ${theirs} tokens there and ${ours} here`, excess: { limit: ours, unit: "tokens", value: theirs } });
    }
    return { values: data, shape, pairs, unseen: dims.at(-1) === "key" ? (name.endsWith(".scores") ? -Infinity : 0) : null };
  }

  /** @param {any} step @param {string} name @returns {Promise<number[]>} */
  async function difference({ to, minus = null, times = 1 }, name) {
    const ends = await Promise.all([to, ...(minus ? [minus] : [])].map(async (end) => {
      const { data, shape } = await readTensor(sentenceOf(end), name);
      const width = shape[shape.length - 1];
      return end.row < shape[shape.length - 2] ? data.slice(end.row * width, (end.row + 1) * width) : null;
    }));
    const [first, second] = ends;
    // A text that ended earlier has no such row: nothing is added.
    if (!first || second === null) return Array.from({ length: (first ?? second)?.length ?? 0 }, () => 0);
    return Array.from(first, (value, index) => times * (value - (second?.[index] ?? 0)));
  }
}

/** @param {Change} change @param {string} name @param {OtherRows} rows @returns {Change} */
const replacing = (change, name, rows) => ({ ...change, at: name, do: { replace: rows } });

/**
 * The changes of a pass, those with their values that are computed from the pass itself. Each sees what
 * is changed before its tensor is computed, and its tensor as the changes before it in the list left it.
 * @param {Change[]} changes
 * @param {{start: number, rows: number}} span  the rows of the pass
 * @param {{name: (change: Change) => string, order: (name: string) => number}} tensors  the tensor of a
 *   change, and its place in the pass; -1: the pass has none
 * @param {(changes: Change[], names: string[]) => Promise<Tensors>} run
 * @returns {Promise<Change[]>}
 */
export async function withOwnRows(changes, span, { name, order }, run) {
  const ofPass = changes.filter((change) => isOfPass(change) && order(name(change)) >= 0).sort((a, b) => order(name(a)) - order(name(b)));
  /** @type {Map<Change, Change | null>} */
  const computed = new Map(changes.filter(isOfPass).map((change) => [change, null]));
  const present = () => changes.flatMap((change) => computed.get(change) ?? (computed.has(change) ? [] : [change]));
  for (const change of ofPass) {
    const later = new Set(changes.slice(changes.indexOf(change)).filter((candidate) => name(candidate) === name(change)));
    const before = present().filter((change) => !later.has(change));
    computed.set(change, await ownRows(change, span, (names) => run(before, names)));
  }
  return present();
}

/**
 * @param {Change} change
 * @param {{start: number, rows: number}} span
 * @param {(names: string[]) => Promise<Tensors>} read
 * @returns {Promise<Change | null>}  null: it changes no row of the pass
 */
async function ownRows(change, { start, rows }, read) {
  const effect = /** @type {any} */ (change.do);
  if ("shuffle" in effect) {
    const { [change.at]: position } = await read([change.at]);
    const order = createRandom(effect.shuffle).permutation(rows);
    return replacing(change, change.at, { values: position.data, shape: position.dims.slice(1), pairs: order.map((from, to) => [from, to]), unseen: null });
  }
  const [query, key, value] = effect.set;
  if (query < start || query >= start + rows) return null;
  const names = ["weights", "scores", "mask"].map((part) => `${change.at}.${part}`);
  const tensors = await read(names);
  const [weights, scores, mask] = names.map((name) => tensors[name]);
  return key < weights.dims[3] ? replacing(change, names[0], renormalised({ weights, scores, mask }, query - start, query, key, value)) : null;
}

/** Below this sum, weights in single precision have lost digits. */
const FAINT = 1e-30;

/**
 * One row of each head in which a weight is set and the others keep their shares of the rest.
 * @param {{weights: OrtTensor, scores: OrtTensor, mask: OrtTensor}} tensors  (1, H, N, M), the mask (1, N, M)
 * @param {number} row
 * @param {number} query  the position of that row
 * @param {number} key
 * @param {number} value
 * @returns {OtherRows}
 */
function renormalised({ weights, scores, mask }, row, query, key, value) {
  const [, heads, rows, keys] = weights.dims;
  const values = new Float32Array(heads * keys);
  for (let head = 0; head < heads; head++) {
    const first = (head * rows + row) * keys;
    const otherWeights = Array.from(weights.data.subarray(first, first + keys), (weight, index) => (index === key ? 0 : weight));
    const total = otherWeights.reduce((sum, weight) => sum + weight, 0);
    const isFaint = total < FAINT && weights.data[first + key] > 0;
    const shares = isFaint ? sharesOfScores(scores.data.subarray(first, first + keys), mask.data.subarray(row * keys, (row + 1) * keys), key) : otherWeights.map((weight) => (total > 0 ? weight / total : 0));
    shares.forEach((share, index) => (values[head * keys + index] = index === key ? value : (1 - value) * share));
  }
  return { values, shape: [heads, 1, keys], pairs: [[0, query]], unseen: null };
}

/** @param {ArrayLike<number>} scores @param {ArrayLike<number>} mask @param {number} key */
function sharesOfScores(scores, mask, key) {
  const allowed = Array.from(scores, (score, index) => (index !== key && mask[index] ? score : -Infinity));
  const max = Math.max(...allowed);
  if (max === -Infinity) return allowed.map(() => 0);
  const powers = allowed.map((score) => Math.exp(score - max));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
