/**
 * Changes to the model as inputs of its graphs: each is a scale and a bias of a tensor
 * (model/web/graphs.py), and so are several in a row.
 */

import { Problem } from "../core/wire/reply.js";
import { createRandom } from "./random-numbers.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { OrtTensor, Tensors } from "./graph-passes.js" */

/** @typedef {{name: string, dims: string[], over: Record<string, string>}} GraphOutput */
/** @typedef {{name: string, dims: string[], layers: number, neutral: number | boolean}} ChangeInput */
/** @typedef {{texts: {name: string, axes: (string | number)[], dtype: string}[], changes: ChangeInput[], outputs: GraphOutput[]}} GraphDescription */
/** @typedef {{dtype: "float32" | "bool" | "int64", shape: number[], data: Float32Array | Uint8Array | BigInt64Array}} GraphTensor */
/**
 * The rows of a pass: by text, the position of the first row and the number of rows that are read
 * in this pass, and the number of keys.
 * @typedef {Record<string, {start: number, rows: number, keys: number}>} Span
 */
/** @typedef {{scale: Float32Array, bias: Float32Array, shape: number[]}} Affine */
/** @typedef {{head: number, row: number, unit: number, position: number}} Cell */

const LAYER = /\.(\d+)\./;
/** The tensor of an attention that an effect changes. @type {Record<string, string>} */
const OF_ATTENTION = { zero: "weights", set: "weights", freeze: "weights", uniform: "scores", temperature: "scores", cut: "scores", mean: "mix" };
const OF_TENSOR = ["zero", "scale", "fill", "add", "patch", "shuffle"];
/** Tensors whose order can change: the text is complete before the run. */
const SHUFFLED = "source.position";

/** @param {string} name  such as "encoder.1.self.q" @returns {string}  "encoder.*.self.q" */
const stackedName = (name) => name.replace(LAYER, ".*.");

/** @param {string} name */
const layerOf = (name) => Number(LAYER.exec(name)?.[1] ?? 0);

/** @param {any} effect */
const kindOf = (effect) => (typeof effect === "string" ? effect : (Object.keys(effect ?? {}).find((key) => key !== "renormalise") ?? ""));

/**
 * The tensors that change nothing.
 * @param {GraphDescription} graph
 * @returns {Record<string, GraphTensor>}
 */
export function neutralInputs(graph) {
  return Object.fromEntries(graph.changes.map(({ name, dims, layers, neutral }) => [name, filled(neutral, [layers, ...dims.slice(1).map(() => 1)])]));
}

/**
 * @param {number | boolean} value
 * @param {number[]} shape
 * @returns {GraphTensor}
 */
function filled(value, shape) {
  const size = shape.reduce((product, length) => product * length, 1);
  if (typeof value === "boolean") return { dtype: "bool", shape, data: new Uint8Array(size).fill(value ? 1 : 0) };
  return { dtype: "float32", shape, data: new Float32Array(size).fill(value) };
}

/**
 * Which changes a graph takes, and which tensors they change: other graphs take the others.
 * @param {GraphDescription} graph
 * @param {Change[]} changes
 * @param {{heads: number, width: (name: string) => number, means: Record<string, Float32Array>}} sizes
 * @param {Span} span
 * @returns {Record<string, GraphTensor>}  the inputs that are not neutral
 */
export function changeInputs(graph, changes, sizes, span) {
  /** @type {Map<string, Affine>} */
  const affines = new Map();
  /** @type {Record<string, GraphTensor>} */
  const inputs = {};
  for (const change of changes) {
    const kind = kindOf(change.do);
    const name = tensorOf(graph, change, kind);
    const output = graph.outputs.find((candidate) => candidate.name === name);
    if (!output) continue;
    if (kind === "drop" && output.name.endsWith(".residual")) {
      const input = inputOf(graph, `${stackedName(output.name)}.keep`);
      const keep = inputs[input.name] ?? filled(true, [input.layers, ...input.dims.slice(1).map(() => 1)]);
      keep.data[layerOf(output.name)] = 0;
      inputs[input.name] = keep;
      continue;
    }
    const affine = affines.get(output.name) ?? unchanged(output, sizes, span);
    affines.set(output.name, affine);
    if (kind === "replace") replaceRows(affine, change, change.do.replace, span[output.over[output.dims[output.dims.length - 2]] ?? output.over.query].start);
    else applyChange(affine, output, change, kind, span, sizes.means);
  }
  for (const [name, affine] of affines) stack(inputs, graph, name, affine);
  return inputs;
}

/** @param {GraphDescription} graph @param {string} name */
function inputOf(graph, name) {
  const input = graph.changes.find((candidate) => candidate.name === name);
  if (!input) throw new Problem("unsupported", { detail: `${name} cannot be changed in this page` });
  return input;
}

/**
 * The name of the tensor that a change acts on.
 * @param {Pick<GraphDescription, "outputs">} graph
 * @param {Change} change
 * @param {string} kind
 */
function tensorOf({ outputs }, { at: place }, kind) {
  const isAttention = outputs.some(({ name }) => name === `${place}.weights`);
  return isAttention ? `${place}.${OF_ATTENTION[kind]}` : place;
}

/** The name of the tensor that a change acts on. @param {Pick<GraphDescription, "outputs">} graph @param {Change} change */
export const changedTensor = (graph, change) => tensorOf(graph, change, kindOf(change.do));

/**
 * Check that the page can make all of the changes.
 * @param {Change[]} changes
 * @param {GraphOutput[]} outputs  of all graphs
 * @param {string[]} texts
 */
export function checkChanges(changes, outputs, texts) {
  changes.forEach((change, index) => {
    const kind = kindOf(change?.do);
    const isEffect = kind in OF_ATTENTION || OF_TENSOR.includes(kind) || ["drop", "mask"].includes(kind);
    if (!isEffect) throw new Problem("unsupported", { field: `interventions[${index}].do`, detail: `interventions[${index}].do: ${kind || "this change"} needs a server` });
    const isPlace = kind === "shuffle" ? change.at === SHUFFLED : kind === "mask" ? texts.includes(change.at) : outputs.some(({ name }) => name === tensorOf({ outputs }, change, kind));
    if (!isPlace) throw new Problem("unknown-place", { field: `interventions[${index}].at`, detail: `interventions[${index}].at must be a place of the model` });
  });
}

/** @param {Change[]} changes @param {string} text @returns {number[]}  hidden tokens of a text */
export const hiddenTokens = (changes, text) => changes.filter((change) => change.at === text && kindOf(change.do) === "mask").map((change) => change.do.mask);

/** @param {GraphOutput} output @param {{heads: number, width: (name: string) => number}} sizes @param {Span} span @returns {Affine} */
function unchanged({ name, dims, over }, { heads, width }, span) {
  const shape = dims.map((dim) => {
    if (dim === "head") return heads;
    if (dim === "query") return span[over.query].rows;
    // Keys of k and v are the rows that are read in this pass; those of scores are all so far.
    if (dim === "key") return dims.includes("query") ? span[over.key].keys : span[over.key].rows;
    return width(name);
  });
  const size = shape.reduce((product, length) => product * length, 1);
  return { shape, scale: new Float32Array(size).fill(1), bias: new Float32Array(size) };
}

/**
 * Make one change after those that are made already.
 * @param {Affine} affine
 * @param {GraphOutput} output
 * @param {Change} change
 * @param {string} kind
 * @param {Span} span
 * @param {Record<string, Float32Array>} means
 */
function applyChange({ scale, bias, shape }, { name, dims, over }, change, kind, span, means) {
  const [columns, rows] = [shape[shape.length - 1], shape[shape.length - 2]];
  const start = span[over[dims[dims.length - 2]] ?? over.query].start;
  const value = change.do?.[kind];
  const chosen = { head: change.head ?? null, heads: change.heads ?? null, rows: change.rows ?? null, units: change.units ?? null };
  const mean = means[name];
  for (let index = 0; index < scale.length; index++) {
    const unit = index % columns;
    const row = Math.floor(index / columns) % rows;
    const head = Math.floor(index / columns / rows);
    const cell = { head, row, unit, position: start + row };
    if (!isChosen(cell, chosen, shape.length > 2)) continue;
    if (kind === "cut") {
      if (edges(value).some(([query, key]) => query === cell.position && key === unit)) bias[index] = -Infinity;
    } else if (kind === "set") {
      if (value[0] === cell.position && value[1] === unit) [scale[index], bias[index]] = [0, value[2]];
    } else {
      const [factor, term] = effect(kind, value, unit, mean?.[head * columns + unit] ?? 0);
      scale[index] *= factor;
      bias[index] = factor === 0 ? term : bias[index] * factor + term;
    }
  }
}

/**
 * Rows of another run, or of this one, instead of a tensor's own.
 * @param {Affine} affine
 * @param {Change} change
 * @param {OtherRows} other
 * @param {number} start  the position of the first row
 */
function replaceRows({ scale, bias, shape }, change, { values, shape: theirShape, pairs, unseen }, start) {
  const [columns, rows] = [shape[shape.length - 1], shape[shape.length - 2]];
  const [theirColumns, theirRows] = [theirShape[theirShape.length - 1], theirShape[theirShape.length - 2]];
  const theirRow = new Map(pairs?.map(([theirs, ours]) => [ours, theirs]) ?? Array.from({ length: theirRows }, (_, row) => [row, row]));
  const chosen = { head: change.head ?? null, heads: change.heads ?? null, rows: null, units: null };
  for (let index = 0; index < scale.length; index++) {
    const unit = index % columns;
    const row = Math.floor(index / columns) % rows;
    const head = Math.floor(index / columns / rows);
    const from = theirRow.get(start + row);
    if (from === undefined || from >= theirRows || !isChosen({ head, row, unit, position: start + row }, chosen, shape.length > 2)) continue;
    if (unit >= theirColumns && unseen === null) continue;
    scale[index] = 0;
    bias[index] = unit < theirColumns ? values[(head * theirRows + from) * theirColumns + unit] : (unseen ?? 0);
  }
}

/** @param {Cell} cell @param {{head: number | null, heads: number[] | null, rows: number[] | null, units: number[] | null}} chosen @param {boolean} hasHeads */
const isChosen = ({ head, unit, position }, chosen, hasHeads) =>
  (!hasHeads || chosen.head === null || chosen.head === head) && (!hasHeads || !chosen.heads || chosen.heads.includes(head)) && (!chosen.rows || chosen.rows.includes(position)) && (!chosen.units || chosen.units.includes(unit));

/** @param {any} cut @returns {number[][]} */
const edges = (cut) => (Array.isArray(cut[0]) ? cut : [cut]);

/** @param {string} kind @param {any} value @param {number} unit @param {number} mean @returns {[number, number]}  factor and term */
function effect(kind, value, unit, mean) {
  if (kind === "mean") return [0, mean];
  if (kind === "fill") return [0, value];
  if (kind === "scale") return [value, 0];
  if (kind === "temperature") return [1 / value, 0];
  if (kind === "add") return [1, value[unit]];
  return [0, 0];  // zero, uniform, drop
}

/**
 * Put the change of one layer among those of all.
 * @param {Record<string, GraphTensor>} inputs
 * @param {GraphDescription} graph
 * @param {string} name
 * @param {Affine} affine
 */
function stack(inputs, graph, name, { shape, scale, bias }) {
  for (const [part, numbers] of /** @type {[string, Float32Array][]} */ ([["scale", scale], ["bias", bias]])) {
    const input = inputOf(graph, `${stackedName(name)}.${part}`);
    inputs[input.name] ??= filled(input.neutral, [input.layers, 1, ...shape]);
    inputs[input.name].data.set(/** @type {any} */ (numbers), layerOf(name) * numbers.length);
  }
}

// Changes that need numbers of a run: rows of another sentence (`freeze`, `patch`, `add`), the order of a
// seed (`shuffle`), the rest of a row (`set` with `renormalise`). Each becomes rows that replace a
// tensor's, or a vector, which the graphs take.

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
