/** What thumbnails show: weights in 8 bits, which are enough for a picture. */

import { sameRuleMask, blockOf, withMask, masks, place } from "../wire/attentions.js";
import { sinkWeights, sinksNeeded } from "./computed-tensors.js";
import { coarseAddress, tensorAt } from "../wire/tensor-cache.js";
import { headView, meanPlane, meanView, plane } from "../wire/wire.js";

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
 * @returns {import("../wire/wire.js").Matrix | null}
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
