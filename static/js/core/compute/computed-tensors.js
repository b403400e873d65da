/**
 * Numbers that the page computes itself, as tensors: for exports of values that are in no tensor of the run,
 * and for thumbnails.
 */

import { attentionAt, blockOf, masks, place, sameRuleMask, withMask } from "../wire/model-description.js";
import { coarseAddress, tensorAt } from "../wire/tensor-cache.js";
import { plainStep } from "../wire/tokens.js";
import { headView, meanPlane, meanView, plane } from "../wire/safetensors.js";

/** @import { Picture } from "../draw/head-grid.js" */
/** @import { State } from "../store/link.js" */
/** @import { Model } from "../wire/model-description.js" */
/** @import { Matrix, Numbers, Tensor, Trace } from "../wire/safetensors.js" */

/**
 * @typedef {object} ComputedTensors
 * @property {Record<string, {text: string}[]>} tokens  that an axis may follow, by name
 * @property {Record<string, Tensor>} tensors
 */

/**
 * @param {Record<string, string | null>} axes  its dims in order, and the tokens that each follows
 * @param {number[]} shape
 * @param {Numbers | number[]} values
 * @returns {Tensor}
 */
export function tensor(axes, shape, values) {
  const over = Object.fromEntries(Object.entries(axes).flatMap(([dim, of]) => (of ? [[dim, of]] : [])));
  return { dims: Object.keys(axes), over, shape, dtype: "float32", data: Float32Array.from(values) };
}

/**
 * @param {Matrix} matrix
 * @param {string} [rows]  the name of the tokens of its rows
 * @param {string} [cols]
 */
export function matrix({ rows: height, cols: width, values }, rows = "query", cols = "key") {
  return tensor({ query: rows, key: cols }, [height, width], values);
}

/** @param {import("../wire/tokens.js").Step[]} steps  As a label says them. */
export const named = (steps) => steps.map((step) => ({ text: plainStep(step) }));

/**
 * A comparison, over the tokens of both runs.
 * @param {import("../store/comparison.js").Comparison} comparison
 * @returns {ComputedTensors}  NaN where masked, and where only the other run has a number
 */
export function trio({ a, b, delta, rows, cols }) {
  return {
    tokens: { query: named(rows.steps), key: named(cols.steps) },
    tensors: { a: matrix(a.matrix), b: matrix(b.matrix), delta: matrix(delta.matrix) },
  };
}

/**
 * In the JSON format of the API.
 * @param {ComputedTensors} numbers
 * @param {object} about  what the tensors describe
 */
export function json({ tokens, tensors }, about) {
  const written = Object.entries(tensors).map(([name, tensor]) => [name, { ...tensor, data: nested(plain(tensor), tensor.shape) }]);
  return JSON.stringify({ ...about, tokens, tensors: Object.fromEntries(written) });
}

/** @param {Tensor} tensor @returns {(number | boolean)[]} */
const plain = ({ dtype, data }) => (dtype === "bool" ? Array.from(data, Boolean) : [...data]);

/** @param {any[]} values @param {number[]} shape @returns {any[]} */
function nested(values, [size, ...inner]) {
  if (!inner.length) return values;
  const step = values.length / size;
  return Array.from({ length: size }, (_, i) => nested(values.slice(i * step, (i + 1) * step), inner));
}

// Learned attention sinks (gpt-oss): a head's weight that goes to no token, so that a row of its
// weights sums to less than 1. Views show it as one more column after the tokens.

/** @param {import("../wire/schemas.d.ts").AttentionInfo | undefined} attention */
export const hasSink = (attention) => Boolean(attention?.scoring.includes("sink"));

/** @param {Model} model @param {Pick<State, "block" | "layer">} location @returns {string[]}  the tensor, if there is a sink */
export const sinkNeeds = (model, location) => (hasSink(attentionAt(model, place(model, location))) ? [place(model, location, "sink")] : []);

/** @param {Model} model @param {string} block @returns {string[]}  the same for all of its layers */
export const sinksNeeded = (model, block) => blockOf(model, block).rows.flatMap((_, layer) => sinkNeeds(model, { block, layer }));

/**
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer" | "head">} location
 * @returns {Numbers | null}  a head's weight on its sink, for each row; null: without one
 */
export function sinkWeights(model, trace, location) {
  const tensor = trace?.tensors[place(model, location, "sink")];
  if (!tensor || location.head >= tensor.shape[0]) return null;
  const [, rows] = tensor.shape;
  return tensor.data.subarray(location.head * rows, (location.head + 1) * rows);
}

/**
 * @param {Matrix} matrix
 * @param {Numbers | null} sink
 * @returns {Matrix}  with the sink as its last column; the same without one
 */
export function withSink(matrix, sink) {
  if (!sink) return matrix;
  const { rows, cols, values } = matrix;
  const wider = new Float32Array(rows * (cols + 1));
  for (let row = 0; row < rows; row++) {
    wider.set(values.subarray(row * cols, (row + 1) * cols), row * (cols + 1));
    wider[row * (cols + 1) + cols] = sink[row];
  }
  return { ...matrix, cols: cols + 1, values: wider };
}

/** @param {import("../../lib/i18n.js").Translate} t @returns {import("../wire/tokens.js").Step}  the label of its column */
export const sinkStep = (t) => ({ reads: null, writes: { space: "", word: t("attention sink"), nth: null, lang: "", special: true } });

// What thumbnails show: weights in 8 bits, which are enough for a picture.

/**
 * The weights of all heads of a block, of a long text as well.
 * @param {Model} model
 * @param {string} block
 * @returns {string[]}  addresses
 */
export function thumbnailWeights(model, block) {
  return [...blockOf(model, block).rows.map(({ place }) => coarseAddress(`${place}.weights`)), ...masks(model, block)];
}

/** @param {Model} model @param {string} block @returns {string[]}  addresses of the tensors for thumbnails of all heads of a block */
export const thumbnailTensors = (model, block) => [...thumbnailWeights(model, block), ...sinksNeeded(model, block)];

/**
 * A head's picture; nothing is copied.
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer" | "head">} location
 * @returns {Picture | null}
 */
export function headThumbnail(model, trace, location) {
  const weights = tensorAt(trace, place(model, location, "weights"));
  if (!trace || !weights || location.head >= weights.shape[0]) return null;
  return { ...headView(weights, location.head), may: sameRuleMask(model, trace, location)?.data ?? null, sink: sinkWeights(model, trace, location) };
}

/**
 * A head's weights as precisely as the trace has them; NaN where masked.
 * @param {Model} model
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer" | "head">} location
 * @returns {import("../wire/safetensors.js").Matrix | null}
 */
export function approximateWeights(model, trace, location) {
  const weights = tensorAt(trace, place(model, location, "weights"));
  if (!weights || location.head >= weights.shape[0]) return null;
  const matrix = plane(weights, { head: location.head });
  const mask = sameRuleMask(model, trace, location);
  return mask ? withMask(matrix, mask.data) : matrix;
}

/**
 * The mean of a layer's heads.
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer">} location
 * @returns {Picture | null}
 */
export function layerThumbnail(model, trace, location) {
  const weights = tensorAt(trace, place(model, location, "weights"));
  if (!trace || !weights) return null;
  const sink = trace.tensors[place(model, location, "sink")];
  const shape = sink && [...sink.shape, 1];
  return { ...meanView(weights), may: sameRuleMask(model, trace, location)?.data ?? null, sink: sink && shape ? meanPlane({ ...sink, shape }).values : null };
}
