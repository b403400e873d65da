/**
 * Sources of a figure's numbers: a server, a frozen share, a model that runs in the page, or given numbers. All have the same
 * interface; what a source does not have is thrown as a Problem.
 */

import { encodingTable } from "../compute/positions.js";
import { completed } from "../wire/model-description.js";
import { Problem, failure } from "../wire/reply.js";
import { DEFAULTS, REQUEST_KEYS, mergeStates, stateOfShare } from "./link.js";
import { isDeparted, tileFromShare, runOfShare } from "./share-contents.js";
import { BLANK } from "./store.js";
import { isUnread } from "../wire/safetensors.js";
import { missingAddresses, summaryAddress, wholeTensorName } from "../wire/tensor-cache.js";
import { withOtherRun, runKind } from "./runs-with-and-without-changes.js";
import { keyOf, ownRun, runOf } from "./view-requests.js";

/** @import { Api, Share } from "../wire/api.js" */
/** @import { ModelInfo } from "../wire/model-description.js" */
/** @import { Trace } from "../wire/safetensors.js" */
/** @import { State } from "./link.js" */
/** @import { Question, Answer } from "./view-requests.js" */
/** @typedef {Partial<import("./store.js").Page>} Opened */
/**
 * @typedef {object} Source
 * @property {Pick<import("../wire/connection.js").Pace, "busy" | "left">} [pace]  how often it asks to be sent a sentence;
 *   absent: it is never busy
 * @property {(link: State) => Promise<Opened>} [open]  what is available before any request,
 *   including the link; absent: nothing
 * @property {() => Promise<ModelInfo[]>} models  the first is the default
 * @property {(request: object, signal?: AbortSignal) => Promise<Trace>} trace
 * @property {(request: object, signal?: AbortSignal, onProgress?: (progress: import("../wire/long-texts.js").Progress) => void) => Promise<Trace>} overview  of a long text
 * @property {(request: object, signal?: AbortSignal) => Promise<import("../wire/safetensors.js").Tensor>} tile  of a long text
 * @property {(question: Question, signal?: AbortSignal) => Promise<Answer>} answer
 * @property {(path: string, body: object, signal?: AbortSignal) => AsyncGenerator<any, void, void>}
 *   lines of a long computation as they arrive
 */

/**
 * The server.
 * @param {Api} api
 * @returns {Source}
 */
export function served(api) {
  return {
    pace: api.pace,
    models: () => api.models(),
    trace: (request, signal) => api.trace(request, signal),
    overview: (request, signal, onProgress) => api.overview(request, signal, onProgress),
    tile: (request, signal) => api.tile(request, signal),
    answer: (question, signal) => api.answer(question, signal),
    lines: (path, body, signal) => api.lines(path, body, signal),
  };
}

/**
 * A share: it is read once and does not change, but the reader may look at other places in it. What
 * it does not contain is requested from its model while that is served; then the reader may also
 * change the request, and the address contains the change.
 * @param {Api} api
 * @param {{id: string, initial: State, requested?: Partial<State>, options:
 *   import("./link-options.js").Options}} parts  initial: the state of an empty share; requested: the
 *   request in the address bar
 * @returns {Source}
 */
export function frozen(api, { id, initial, requested = {}, options }) {
  const server = served(api);
  /** @type {Share | null} */
  let ownShare = null;
  /** @type {import("./store.js").Page["answers"]} */
  let stored = {};
  /** The model of the share as served now. @type {ModelInfo | null} */
  let model = null;
  /** The default model. @type {ModelInfo | undefined} */
  let first;
  /** Models of its replies that are not served any more, or not with the same weights. @type {Set<string>} */
  const gone = new Set();
  const ask = () => {
    if (!model) throw new Problem("frozen");
    return server;
  };
  /**
   * @template {{model?: string}} T
   * @param {T} request
   * @returns {T} the request to the share's model, under its present id; one to another model as it is
   */
  const toIt = (request) => {
    const isForShare = request.model === undefined || request.model === ownShare?.model.id;
    return model && isForShare && (request.model ?? first?.id) !== model.id ? { ...request, model: model.id } : request;
  };
  return {
    pace: api.pace,
    async open() {
      const { share, models: served, answers } = await read(api, id);
      [ownShare, stored, first] = [share, answers, served[0]];
      model = served.find(({ digest }) => digest === share.model.digest) ?? null;
      const otherModels = madeBy(answers);
      for (const otherModel of otherModels) if (!served.some(({ id, digest }) => id === otherModel.id && digest === otherModel.digest)) gone.add(otherModel.id);
      const ids = new Set(otherModels.map(({ id }) => id));
      const models = [...otherModels, ...(model ? served.filter(({ id }) => !ids.has(id)) : [share.model])];
      const requestedState = model && requested.source !== undefined ? { ...requestOf(DEFAULTS), ...requested } : elsewhere(requested);
      const link = mergeStates(initial, stateOfShare(share.state, options), requestedState, { lang: initial.lang });
      const opened = { share, answers, link, trace: share.trace, model: share.model, models, live: model !== null };
      return { ...opened, ...placed(opened) };
    },
    models: async () => (model ? [model] : server.models()),
    async trace(request, signal) {
      const { select = [], summarise = [] } = /** @type {{select?: string[], summarise?: string[]}} */ (request);
      const mine = ownShare && runOf({ trace: request }) === runOfShare(ownShare) ? ownShare.trace : null;
      const missing = missingAddresses(mine, [...select, ...summarise.map(summaryAddress)]);
      if (mine && !missing.length) return mine;
      const unread = missing.map(wholeTensorName);
      if (ownShare && mine && !model && unread.every((name) => isUnread(mine, name ?? ""))) {
        const tensors = await Promise.all(unread.map((name) => api.readRounded(/** @type {Share} */ (ownShare), name ?? "")));
        return { ...mine, tensors: { ...mine.tensors, ...Object.fromEntries(tensors.map((tensor, n) => [unread[n], tensor])) } };
      }
      const reply = await ask().trace(toIt(request), signal);
      return mine ? { ...mine, ...extended(mine, reply) } : reply;
    },
    overview: async (request, signal, onProgress) => ask().overview(toIt(request), signal, onProgress),
    tile: async (request, signal) => (ownShare && tileFromShare(ownShare, request)) ?? ask().tile(toIt(request), signal),
    async answer(question, signal) {
      if ("positions" in question) return server.answer(question, signal);  // it does not need a model
      if (!("trace" in question)) return ask().answer(question, signal);
      const { model: of = "" } = /** @type {{model?: string}} */ (question.trace);
      if (gone.has(of)) throw new Problem("frozen");
      return ask().answer({ trace: toIt(question.trace) }, signal);
    },
    async *lines(path, body, signal) {
      const storedLines = path === "/api/sweep" ? stored[keyOf({ sweep: body })] : null;
      if (storedLines && !(storedLines instanceof Problem)) yield* /** @type {import("./view-requests.js").Streamed} */ (storedLines).lines;
      else yield* ask().lines(path, toIt(body), signal);
    },
  };
}

/** @param {Trace} trace @param {Trace} addition  of the same run */
const extended = (trace, addition) => ({
  tensors: { ...addition.tensors, ...trace.tensors },
  summaries: { ...addition.summaries, ...trace.summaries },
  pieces: { ...addition.pieces, ...trace.pieces },
});

/** @param {State} link */
const requestOf = (link) => Object.fromEntries(REQUEST_KEYS.map((key) => [key, link[key]]));

/**
 * What is shown first: the share's own run, the model as trained if that is frozen too, or the
 * reader's changed version, which must be run.
 * @param {Pick<import("./store.js").Page, "share" | "answers" | "link" | "model" | "trace" | "live">} opened
 * @returns {Partial<import("./store.js").Page>}
 */
function placed({ share, answers, link, model, trace, live }) {
  const page = { ...BLANK, share, answers, link, model, trace, live };
  const changed = trace && { of: runOfShare(/** @type {Share} */ (share)), trace, model };
  const trained = [runKind(link) === "trained" ? page : withOtherRun(page)].map(ownRun)[0];
  const trainedEntry = Object.entries(answers).find(([key, reply]) => !(reply instanceof Problem) && runOf(JSON.parse(key)) === trained);
  const beside = trainedEntry ? { of: trained, trace: /** @type {Trace} */ (trainedEntry[1]), model } : null;
  const runs = runKind({ ...link, options: {} }) === "changed" ? { changed, trained: beside } : { changed: null, trained: changed };
  if (isDeparted(page)) return live ? { runs, status: "waiting" } : { runs };
  if (ownRun(page) === changed?.of) return { runs };
  // As trained, which the share may not contain.
  if (beside) return { runs, trace: beside.trace };
  return live ? { runs, status: "waiting" } : { runs, link: withOtherRun(page).link };
}

/**
 * The share, the frozen replies to its additional requests, and the models served now.
 * @param {Api} api
 * @param {string} id
 */
async function read(api, id) {
  const share = await api.readShare(id);
  const [models, ...replies] = await Promise.all([
    api.models().catch(() => []),
    ...share.asks.map((_, n) => api.readAnswer(share, n).catch(failure)),
  ]);
  const answers = Object.fromEntries(share.asks.map((question, n) => [keyOf(question), replies[n]]));
  return { share, answers, models };
}

/**
 * The models, other than the share's, that made some of its replies.
 * @param {import("./store.js").Page["answers"]} answers
 */
function madeBy(answers) {
  const described = Object.values(answers).map((reply) => /** @type {Partial<Trace>} */ (reply).described);
  const models = described.flatMap((description) => (description ? [completed(description)] : []));
  return models.filter(({ id }, i) => models.findIndex((candidate) => candidate.id === id) === i);
}

/** @param {Partial<State>} requested  All but what the model was asked. */
function elsewhere(requested) {
  const request = /** @type {readonly string[]} */ (REQUEST_KEYS);
  return Object.fromEntries(Object.entries(requested).filter(([key]) => !request.includes(key)));
}

/**
 * @typedef {object} RunningModel  in the page
 * @property {ModelInfo} description  with only the capabilities that it has there
 * @property {Source["trace"]} trace
 * @property {Source["lines"]} lines
 * @property {Api["learning"]} [learning]  a sentence at every saved step of its training; absent: it has none here
 */

/**
 * Models that run in the page.
 * @param {RunningModel[]} models  the first is the default
 * @returns {Source}
 */
export function local(...models) {
  const lacks = () => new Problem("unsupported", { detail: "this needs a server" });
  /** @param {{model?: string}} request */
  function modelOf({ model: id = models[0].description.id }) {
    const model = models.find(({ description }) => description.id === id);
    if (!model) throw lacks();
    return model;
  }
  /** @type {Source["trace"]} */
  const trace = async (request, signal) => modelOf(request).trace(request, signal);
  return {
    models: async () => models.map(({ description }) => description),
    trace,
    overview: async () => Promise.reject(lacks()),
    tile: async () => Promise.reject(lacks()),
    async answer(question, signal) {
      if ("trace" in question) return trace(question.trace, signal);
      if ("positions" in question) return positionsTable(question.positions);
      if ("learning" in question) return modelOf(question.learning).learning?.(question.learning, signal) ?? Promise.reject(lacks());
      throw lacks();
    },
    async *lines(path, body, signal) {
      yield* modelOf(body).lines(path, body, signal);
    },
  };
}

/** The largest length and width of a table in the page, as on a public server: it is computed while the page waits. */
const MAX_POSITIONS = 512;

/**
 * Positional encodings, which depend on no model.
 * @param {{variant: string, length: number, d_model: number}} table
 * @returns {import("../wire/api.js").Positions}
 */
function positionsTable(table) {
  for (const [field, size] of Object.entries({ length: table.length, d_model: table.d_model }))
    if (size < 1 || size > MAX_POSITIONS) throw new Problem("out-of-range", { field, detail: `${field} must be from 1 to ${MAX_POSITIONS}` });
  return { ...table, ...encodingTable(table.length, table.d_model) };
}

/**
 * Given numbers, with the description of their model.
 * @param {{model: ModelInfo, trace: Trace}} numbers
 * @returns {Source}
 */
export function given({ model, trace }) {
  const lacks = () => new Problem("not-given");
  return {
    open: async (link) => ({ model, trace, live: false, link }),
    models: async () => [model],
    trace: async () => Promise.reject(lacks()),
    overview: async () => Promise.reject(lacks()),
    tile: async () => Promise.reject(lacks()),
    answer: async () => Promise.reject(lacks()),
    async *lines() {
      throw lacks();
    },
  };
}
