/**
 * Where a figure's numbers come from: a server, a share that was frozen, or numbers worked out on
 * the spot. Each answers in the same words, and what it does not have comes out as a Problem.
 */

import { Problem, failure } from "../data/problem.js";
import { REQUEST_KEYS, merge, stated } from "./link.js";
import { keyOf } from "./view-requests.js";

/** @typedef {import("../data/api.js").Api} Api */
/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("./link.js").State} State */
/** @typedef {import("./view-requests.js").Question} Question */
/** @typedef {import("./view-requests.js").Answer} Answer */
/** @typedef {Partial<import("./store.js").Page>} Opened */
/**
 * @typedef {object} Source
 * @property {(link: State) => Promise<Opened>} [open]  what there is before anything is asked, the
 *   link among it; absent: nothing
 * @property {() => Promise<ModelInfo[]>} models  the first is the default
 * @property {(request: object, signal?: AbortSignal) => Promise<Trace>} trace
 * @property {(question: Question, signal?: AbortSignal) => Promise<Answer>} answer
 * @property {(path: string, body: object, signal?: AbortSignal) => AsyncGenerator<any, void, void>} lines
 *   what takes long, as it comes
 */

/**
 * The server: what it answers is what it is asked.
 * @param {Api} api
 * @returns {Source}
 */
export function served(api) {
  return {
    models: () => api.models(),
    trace: (request, signal) => api.trace(request, signal),
    answer: (question, signal) => api.answer(question, signal),
    lines: (path, body, signal) => api.lines(path, body, signal),
  };
}

/**
 * A share: it is read once and stays as it is; what is looked at in it may be another place. What it
 * does not hold is asked of its model, where that is still served.
 * @param {Api} api
 * @param {{id: string, initial: State, asked?: Partial<State>, options: import("./options.js").Options}} wanted
 *   initial: what a share that says nothing stands for; asked: by the address bar
 * @returns {Source}
 */
export function frozen(api, { id, initial, asked = {}, options }) {
  const server = served(api);
  let live = false;
  const ask = () => {
    if (!live) throw new Problem("frozen");
    return server;
  };
  return {
    async open() {
      const { share, ...opened } = await read(api, id);
      live = opened.live;
      const link = merge(initial, stated(share.state, options), elsewhere(asked), { lang: initial.lang });
      return { ...opened, share, trace: share.trace, model: share.model, link };
    },
    models: server.models,
    trace: async (request, signal) => ask().trace(request, signal),
    // The table of positions asks no model.
    answer: async (question, signal) => ("positions" in question ? server : ask()).answer(question, signal),
    async *lines(path, body, signal) {
      yield* ask().lines(path, body, signal);
    },
  };
}

/**
 * The share, the frozen answers to its further questions, and whether its model is still served.
 * @param {Api} api
 * @param {string} id
 */
async function read(api, id) {
  const share = await api.readShare(id);
  const [models, ...found] = await Promise.all([
    api.models().catch(() => []),
    ...share.asks.map((_, n) => api.readAnswer(share, n).catch(failure)),
  ]);
  const answers = Object.fromEntries(share.asks.map((question, n) => [keyOf(question), found[n]]));
  return { share, answers, live: models.some(({ digest }) => digest === share.model.digest) };
}

/** @param {Partial<State>} asked  All but what the model was asked. */
function elsewhere(asked) {
  const request = /** @type {readonly string[]} */ (REQUEST_KEYS);
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !request.includes(key)));
}

/**
 * Numbers that are already there, of a model that says what it can.
 * @param {{model: ModelInfo, trace: Trace}} numbers
 * @returns {Source}
 */
export function given({ model, trace }) {
  const lacks = () => new Problem("not-given");
  return {
    open: async (link) => ({ model, trace, live: false, link }),
    models: async () => [model],
    trace: async () => Promise.reject(lacks()),
    answer: async () => Promise.reject(lacks()),
    async *lines() {
      throw lacks();
    },
  };
}
