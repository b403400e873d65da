/**
 * Changes to the model as inputs of its graphs: each is a scale and a bias of a tensor
 * (model/web/graphs.py), and so are several in a row.
 */

import { Problem } from "../core/wire/reply.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { OtherRows } from "./change-values.js" */
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
