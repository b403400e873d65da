/**
 * Asks for the run that a link means: the trace of a sentence, or the overview of a long text. Only the
 * server can count tokens: if a text may be long, it is asked to count them first.
 */

import { blockOf } from "../wire/attentions.js";
import { THUMBNAIL, exceeds, isLong, mayBeLong, overviewTrace } from "../wire/long-texts.js";
import { requestBody, changesInForce, pairOf, request, textsOf } from "../wire/request.js";

/** @import { Trace } from "../wire/wire.js" */
/** @import { ModelInfo } from "../wire/model.js" */
/** @import { State } from "./link.js" */
/** @typedef {Pick<import("./data-sources.js").Source, "trace" | "overview">} Source */
/** @typedef {(progress: import("../wire/long-texts.js").Progress) => void} OnProgress */

/**
 * @param {Source} source
 * @param {ModelInfo} model
 * @param {State} link
 * @param {string[]} needs  addresses of what is shown of a trace
 * @param {AbortSignal} signal
 * @param {OnProgress} onProgress
 * @returns {Promise<Trace>}
 */
export async function runOf(source, model, link, needs, signal, onProgress) {
  if (mayBeLong(model, [link.source, link.target, pairOf({ model, link })])) {
    const counted = await source.overview({ ...longRequest(model, link), select: [] }, signal);
    if (exceeds(counted)) return overviewOf(source, model, link, signal, onProgress);
  }
  return source.trace(request(model, link, needs), signal);
}

/**
 * More of the run that is shown.
 * @param {Source} source
 * @param {Pick<import("./store.js").Page, "model" | "link" | "trace">} page
 * @param {string[]} needs  addresses
 * @param {AbortSignal} signal
 * @param {OnProgress} onProgress
 */
export const moreOf = (source, { model, link, trace }, needs, signal, onProgress) =>
  model && isLong(trace) ? overviewOf(source, model, link, signal, onProgress) : source.trace(request(model, link, needs), signal);

/** @param {Source} source @param {ModelInfo} model @param {State} link @param {AbortSignal} signal @param {OnProgress} onProgress  The block of the link. */
async function overviewOf(source, model, link, signal, onProgress) {
  const select = blockOf(model, link.block).rows.map(({ place }) => place);
  const reply = await source.overview({ ...longRequest(model, link), select, cells: THUMBNAIL, dtype: "uint8" }, signal, onProgress);
  return overviewTrace(reply, textsOf(model, link));
}

/**
 * What overviews and tiles of a long text have in common, as the API takes it.
 * @param {ModelInfo} model
 * @param {State} link
 */
export function longRequest(model, link) {
  const { source, target, direction, decode, chat, pair, model: id } = link;
  return requestBody(model, { source, target, direction, decode, chat, pair, model: id, interventions: changesInForce(link) });
}
