/**
 * What is requested for a page: the run that its link means, and what a view needs besides the run's tensors.
 * Such a question is plain data; equal questions are sent once, and the answer is in the store under the
 * question's key.
 */

import { THUMBNAIL, exceeds, isLong, mayBeLong, overviewTrace } from "../wire/long-texts.js";
import { blockOf } from "../wire/model-description.js";
import { changesInForce, pairOf, request, requestBody, textsOf } from "../wire/request.js";

/** @import { Positions } from "../wire/api.js" */
/** @import { ModelInfo } from "../wire/model-description.js" */
/** @import { Problem } from "../wire/reply.js" */
/** @import { Trace } from "../wire/safetensors.js" */
/** @import { State } from "./link.js" */
/** @import { Page } from "./store.js" */

/** @typedef {Record<string, import("../wire/safetensors.js").Tensor>} Tensors */
/**
 * @typedef {{trace: object}
 *   | {parameters: {model: string, select: string[]}}
 *   | {learning: {model: string, example: number}}
 *   | {positions: {variant: string, length: number, d_model: number}}} Question
 */
/** @typedef {Question | {sweep: object}} Kept  what a share can hold the reply to */
/** @typedef {{lines: object[]}} Streamed  the lines of a sweep */
/** @typedef {Trace | Tensors | Positions | Streamed | import("../../views/training/training-history.js").Learned} Answer */

/** @param {Kept} question  The order of its members says nothing. */
export const keyOf = (question) => JSON.stringify(question, (_, value) => sorted(value));

/** @param {unknown} value */
function sorted(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * @template {Answer} T
 * @param {Page} page
 * @param {Question} question
 * @returns {T | Problem | undefined}  undefined: loading
 */
export function answer(page, question) {
  return /** @type {T | Problem | undefined} */ (page.answers[keyOf(question)]);
}

/**
 * Another run than the page's own.
 * @param {Page} page
 * @param {Record<string, unknown> & {select: string[]}} changes  as the API takes them; null
 *   removes a key
 * @returns {Question}
 */
export function runQuestion({ model, link }, changes) {
  const { source, model: id, direction, target, decode, pad_to, chat, pair } = link;
  const interventions = changesInForce(link);
  return { trace: requestBody(model, { source, model: id, direction, target, decode, interventions, pad_to, chat, pair, ...changes }) };
}

/**
 * Whether a question is about the page's own run, whatever it selects.
 * @param {Page} page
 * @param {Question} question
 */
export const ofThisRun = (page, question) => "trace" in question && runOf(question) === ownRun(page);

/** The name of the run that the page requests. @param {Page} page */
export const ownRun = (page) => runOf(runQuestion(page, { select: [] }));

/** The name of the run that a question is about, whatever it selects. @param {Kept} question */
export function runOf(question) {
  const { select: _, summarise: __, dtype: ___, ...run } = /** @type {any} */ ("trace" in question ? question.trace : {});
  return keyOf({ trace: run });
}

/**
 * @param {Page} page
 * @param {string[]} select  such as "encoder.0.self.W_q"
 * @returns {Question}
 */
export function parameters({ model, link }, select) {
  return { parameters: { model: model?.id ?? link.model ?? "", select } };
}

/** @param {{variant?: string, length: number, d_model: number}} table @returns {Question} */
export function encoding({ variant = "sinusoidal", length, d_model }) {
  return { positions: { variant, length, d_model } };
}

/**
 * An answer to another question about the same run, with all tensors that this one selects.
 * @param {Page["answers"]} answers
 * @param {Question} question
 * @returns {Trace | null}
 */
export function containedAnswer(answers, question) {
  if (!("trace" in question)) return null;
  const { select, summarise, dtype } = /** @type {{select: string[], summarise?: string[], dtype?: string}} */ (question.trace);
  if (summarise || dtype) return null;
  const of = runOf(question);
  for (const [key, answer] of Object.entries(answers)) {
    const { tensors } = /** @type {Partial<Trace>} */ (answer);
    if (tensors && select.every((name) => tensors[name]?.dtype !== undefined) && isOfRun(key, of)) return /** @type {Trace} */ (answer);
  }
  return null;
}

/** Whether a question is about a run, in full numbers. @param {string} key  of the question @param {string} of  the run */
export function isOfRun(key, of) {
  const question = JSON.parse(key);
  return "trace" in question && !question.trace.dtype && runOf(question) === of;
}

// Asks for the run that a link means: the trace of a sentence, or the overview of a long text. Only the
// server can count tokens: if a text may be long, it is asked to count them first.

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
export async function requestRun(source, model, link, needs, signal, onProgress) {
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
