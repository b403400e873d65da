/**
 * Keeps what is shown in step with the link: asks for the trace when the request changes, for the
 * tensors and the answers that a view needs when they are not there yet. A newer question ends the
 * older one; a late answer is dropped.
 */

import { place } from "../data/blocks.js";
import { opener } from "./lit.js";
import { request } from "../data/request.js";
import { Problem, failure } from "../data/problem.js";
import { held } from "./frozen.js";
import { latest } from "../data/latest.js";
import { keyOf } from "./questions.js";
import { REQUEST_KEYS, choices, merge } from "./link.js";
import { nearest } from "./settled.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("../data/api.js").Api} Api */
/** @typedef {import("./link.js").State} State */
/** @typedef {import("./questions.js").Question} Question */
/**
 * @typedef {object} Wishes  what the present view shows
 * @property {(page: Page) => string[]} needs  tensors of the present trace
 * @property {(page: Page) => Question[]} asks  all that is not in it
 */

const RETRIES = 3;
/** Answers that nobody asks for any more are kept while there are few. */
const KEPT = 32;

/**
 * @param {Store} store
 * @param {Api} api
 * @param {Wishes} wishes
 * @param {{free: boolean}} [options]  whether the first trace may choose the layer and the head
 */
export function bindSession(store, api, wishes, { free } = { free: false }) {
  const trace = latest();
  const tensors = latest();
  const answers = bindAnswers(store, api, wishes);
  let asked = "";

  /** @param {number} [tries] */
  async function run(tries = RETRIES) {
    if (!store.get().link.source.trim()) {
      trace.stop();
      return store.set({ status: "empty", problem: null });
    }
    store.set({ status: "waiting", problem: null });
    const answer = await trace.ask(look);
    if (answer === null) return;
    if (answer instanceof Problem) {
      store.set({ status: "failed", problem: answer });
      if (answer.retryAfter && tries > 0) trace.wait(answer.retryAfter, () => run(tries - 1));
      return;
    }
    const { link } = store.get();
    const { model, trace: seen } = answer;
    const opening = free && opener(seen, model, link);
    free = false;
    store.set({ status: "ready", model, trace: seen, link: opening ? { ...link, ...opening } : link });
  }

  /** @param {AbortSignal} signal */
  async function look(signal) {
    const model = await served(api, store.get().link.model);
    const link = nearest(store.get().link, model);
    const select = wishes.needs({ ...store.get(), model, link });
    if (free) select.push(place({ ...link, layer: "*" }, "weights"));
    if (free) select.push(place({ ...link, layer: "*" }, "mask"));
    return { model, trace: await api.trace(request(link, unique(select)), signal) };
  }

  async function complete() {
    const page = store.get();
    const { trace: seen } = page;
    if (!seen || page.status !== "ready" || (page.share && !page.live)) return;
    const missing = unique(wishes.needs(page)).filter((name) => !seen.tensors[name]);
    const question = `${seen.id} ${missing}`;
    if (!missing.length || question === asked) return;
    asked = question;
    const answer = await tensors.ask((signal) => api.trace(request(page.link, missing), signal));
    if (asked === question) asked = "";
    const present = store.get().trace;
    if (answer === null || answer instanceof Problem || present?.id !== seen.id) return;
    const pieces = { ...present.pieces, ...answer.pieces };
    store.set({ trace: { ...present, pieces, tensors: { ...present.tensors, ...answer.tensors } } });
  }

  // A change of what is asked for has made the page wait; a share that is opened brings its trace.
  store.subscribe(
    ({ link }) => REQUEST_KEYS.map((key) => link[key]),
    ({ status }) => void (status !== "ready" && run()),
  );
  store.subscribe(
    (page) => page,
    () => {
      void complete();
      answers.follow();
    },
  );
  return { run: () => run() };
}

/**
 * Has every question of the present view answered, and nothing else.
 * @param {Store} store
 * @param {Api} api
 * @param {Wishes} wishes
 */
function bindAnswers(store, api, wishes) {
  /** @type {Map<string, AbortController>} */
  const open = new Map();

  /** @param {Question} question @param {string} key */
  async function ask(question, key) {
    const controller = new AbortController();
    open.set(key, controller);
    const found = await api.answer(question, controller.signal).catch((error) => {
      if (controller.signal.aborted) return null;
      return failure(error);
    });
    if (open.get(key) === controller) open.delete(key);
    if (found === null || controller.signal.aborted) return;
    if (found instanceof Problem && found.retryAfter)
      return void setTimeout(follow, found.retryAfter * 1000);
    const kept = Object.entries(store.get().answers).slice(1 - KEPT);
    store.set({ answers: { ...Object.fromEntries(kept), [key]: found } });
  }

  function follow() {
    const page = store.get();
    if (!page.trace || page.status !== "ready") return;
    const asked = new Map(wishes.asks(page).map((question) => [keyOf(question), question]));
    for (const [key, controller] of open) {
      if (asked.has(key)) continue;
      open.delete(key);
      controller.abort();
    }
    /** @type {Page["answers"]} */
    const frozen = {};
    for (const [key, question] of asked) {
      if (page.answers[key] || open.has(key)) continue;
      const found = held(page, question) ?? gone(page, question);
      if (found) frozen[key] = found;
      else void ask(question, key);
    }
    if (Object.keys(frozen).length) store.set({ answers: { ...page.answers, ...frozen } });
  }
  return { follow };
}

/** @param {Page} page @param {Question} question  The table of positions asks no model. */
function gone({ share, live }, question) {
  return share && !live && !("positions" in question) ? new Problem("frozen") : null;
}

/**
 * A share is read once and stays as it is; what is looked at in it may be another place.
 * @param {Store} store
 * @param {Api} api
 * @param {string} id
 * @param {State} initial
 * @param {Partial<State>} asked  by the address bar
 * @param {import("./options.js").Options} options
 */
export async function openShare(store, api, id, initial, asked, options) {
  const share = await api.readShare(id).catch(failure);
  if (share instanceof Problem) return store.set({ status: "failed", problem: share });
  const [models, ...read] = await Promise.all([
    api.models().catch(() => []),
    ...share.asks.map((_, n) => api.readAnswer(share, n).catch(failure)),
  ]);
  const answers = Object.fromEntries(share.asks.map((asked, n) => [keyOf(asked), read[n]]));
  const live = models.some(({ digest }) => digest === share.model.digest);
  const kept = { ...known(share.state, initial), options: choices(share.state, options) };
  const link = merge(initial, kept, elsewhere(asked), { lang: initial.lang });
  const { trace, model } = share;
  store.set({ share, live, trace, model, answers, link, status: "ready" }, "link");
}

/** @param {Record<string, unknown>} state @param {State} initial  Its keys. */
function known(state, initial) {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key in initial));
}

/** @param {Partial<State>} asked  All but what the model was asked. */
function elsewhere(asked) {
  const request = /** @type {readonly string[]} */ (REQUEST_KEYS);
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !request.includes(key)));
}

/**
 * @param {Api} api
 * @param {string | null} id
 * @returns  the model of that name, else the first
 */
async function served(api, id) {
  const models = await api.models();
  return models.find((model) => model.id === id) ?? models[0];
}

/** @param {string[]} names */
const unique = (names) => [...new Set(names)];
