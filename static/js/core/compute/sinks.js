/**
 * Learned attention sinks (gpt-oss): a head's weight that goes to no token, so that a row of its
 * weights sums to less than 1. Views show it as one more column after the tokens.
 */

import { attentionAt, blockOf, place } from "../wire/attentions.js";

/** @import { Model } from "../wire/attentions.js" */
/** @import { Matrix, Numbers, Trace } from "../wire/wire.js" */
/** @import { State } from "../store/link.js" */

/** @param {import("../wire/model.js").Attention | undefined} attention */
export const hasSink = (attention) => Boolean(attention?.scoring.includes("sink"));

/** @param {Model} model @param {Pick<State, "block" | "layer">} at @returns {string[]}  the tensor, if there is a sink */
export const sinkNeeds = (model, at) => (hasSink(attentionAt(model, place(model, at))) ? [place(model, at, "sink")] : []);

/** @param {Model} model @param {string} block @returns {string[]}  the same for all of its layers */
export const sinksNeeded = (model, block) => blockOf(model, block).rows.flatMap((_, layer) => sinkNeeds(model, { block, layer }));

/**
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer" | "head">} at
 * @returns {Numbers | null}  a head's weight on its sink, for each row; null: without one
 */
export function sinkWeights(model, trace, at) {
  const tensor = trace?.tensors[place(model, at, "sink")];
  if (!tensor || at.head >= tensor.shape[0]) return null;
  const [, rows] = tensor.shape;
  return tensor.data.subarray(at.head * rows, (at.head + 1) * rows);
}

/**
 * @param {Matrix} matrix
 * @param {Numbers | null} sink
 * @returns {Matrix}  with the sink as its last column; the same without one
 */
export function withSink({ rows, cols, values }, sink) {
  if (!sink) return { rows, cols, values };
  const wider = new Float32Array(rows * (cols + 1));
  for (let row = 0; row < rows; row++) {
    wider.set(values.subarray(row * cols, (row + 1) * cols), row * (cols + 1));
    wider[row * (cols + 1) + cols] = sink[row];
  }
  return { rows, cols: cols + 1, values: wider };
}

/** @param {import("../../lib/i18n.js").Translate} t @returns {import("../wire/tokens.js").Step}  the label of its column */
export const sinkStep = (t) => ({ reads: null, writes: { space: "", word: t("attention sink"), nth: null, lang: "", special: true } });
