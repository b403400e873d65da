/** What thumbnails show: weights in 8 bits, which are enough for a picture. */

import { alike, blockOf, masked, masks, place } from "../wire/attentions.js";
import { sinkWeights, sinksNeeded } from "./computed-tensors.js";
import { coarse, tensorAt } from "../wire/tensor-cache.js";
import { glance, mean, plane } from "../wire/wire.js";

/** @import { Model } from "../wire/attentions.js" */
/** @import { Trace } from "../wire/wire.js" */
/** @import { Picture } from "../draw/head-grid.js" */
/** @import { State } from "../store/link.js" */

/**
 * The weights of all heads of a block, of a long text as well.
 * @param {Model} model
 * @param {string} block
 * @returns {string[]}  addresses
 */
export function pictures(model, block) {
  return [...blockOf(model, block).rows.map(({ place }) => coarse(`${place}.weights`)), ...masks(model, block)];
}

/** @param {Model} model @param {string} block @returns {string[]}  addresses of the tensors for thumbnails of all heads of a block */
export const thumbnails = (model, block) => [...pictures(model, block), ...sinksNeeded(model, block)];

/**
 * A head's picture; nothing is copied.
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer" | "head">} at
 * @returns {Picture | null}
 */
export function glimpse(model, trace, at) {
  const weights = tensorAt(trace, place(model, at, "weights"));
  if (!trace || !weights || at.head >= weights.shape[0]) return null;
  return { ...glance(weights, at.head), may: alike(model, trace, at)?.data ?? null, sink: sinkWeights(model, trace, at) };
}

/**
 * A head's weights as precisely as the trace has them; NaN where masked.
 * @param {Model} model
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer" | "head">} at
 * @returns {import("../wire/wire.js").Matrix | null}
 */
export function roughly(model, trace, at) {
  const weights = tensorAt(trace, place(model, at, "weights"));
  if (!weights || at.head >= weights.shape[0]) return null;
  const matrix = plane(weights, { head: at.head });
  const mask = alike(model, trace, at);
  return mask ? masked(matrix, mask.data) : matrix;
}

/**
 * The mean of a layer's heads.
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {Pick<State, "block" | "layer">} at
 * @returns {Picture | null}
 */
export function layerGlimpse(model, trace, at) {
  const weights = tensorAt(trace, place(model, at, "weights"));
  if (!trace || !weights) return null;
  const sink = trace.tensors[place(model, at, "sink")];
  const shape = sink && [...sink.shape, 1];
  return { ...mean(weights), may: alike(model, trace, at)?.data ?? null, sink: sink && shape ? mean({ ...sink, shape }).values : null };
}
