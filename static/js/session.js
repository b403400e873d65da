/**
 * Keeps what is shown in step with the link: asks for the trace when the request changes, for a
 * layer's tensors when a view needs them. A newer question ends the older one; a late answer is
 * dropped.
 */

import { BLOCK, extent, opener } from "./blocks.js";
import { Problem, request } from "./api.js";
import { REQUEST_KEYS } from "./url.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./url.js").State} State */

const SELECT = ["*.weights", "*.mask"];
const RETRIES = 3;

/**
 * @param {Store} store
 * @param {Api} api
 * @param {(page: Page) => string[]} needs  tensors that the present view shows beside the weights
 * @param {{free: boolean}} [options]  whether the first trace may choose the layer and the head
 */
export function bindSession(store, api, needs, { free } = { free: false }) {
  const trace = latest();
  const details = latest();
  const places = latest();
  let asked = "";

  /** @param {number} [tries] */
  async function run(tries = RETRIES) {
    const { link } = store.get();
    if (!link.source.trim()) {
      trace.stop();
      return store.set({ status: "empty", problem: null });
    }
    store.set({ status: "waiting", problem: null });
    const answer = await trace.ask((signal) => api.trace(request(link, SELECT), signal));
    if (answer === null) return;
    if (answer instanceof Problem) {
      store.set({ status: "failed", problem: answer });
      if (answer.retryAfter && tries > 0) trace.wait(answer.retryAfter, () => run(tries - 1));
      return;
    }
    const { link: present } = store.get();
    const place = free ? opener(answer, present.block) : {};
    free = false;
    store.set(
      {
        status: "ready",
        trace: answer,
        details: {},
        link: inside({ ...present, ...place }, answer),
      },
      "replace",
    );
  }

  async function complete() {
    const page = store.get();
    if (page.link.view === "positions") void locate();
    if (!page.trace || page.share || page.status !== "ready") return;
    const missing = needs(page).filter((name) => !page.trace?.tensors[name] && !page.details[name]);
    const question = `${page.trace.id} ${missing}`;
    if (!missing.length || question === asked) return;
    asked = question;
    const answer = await details.ask((signal) => api.trace(request(page.link, missing), signal));
    // What the inspector cannot be given it says itself; the picture stands without it.
    if (asked === question) asked = "";
    if (answer === null || answer instanceof Problem || store.get().trace !== page.trace) return;
    store.set({ details: { ...store.get().details, ...answer.tensors } });
  }

  /** The encodings of as many positions as the rows have, as wide as the model. */
  async function locate() {
    const { trace, positions, link } = store.get();
    if (!trace) return;
    const length = trace.tokens[BLOCK[link.block].query].length;
    if (positions?.length === length) return;
    const answer = await places.ask(async (signal) => {
      const model = store.get().model ?? (await served(api, link.model, signal));
      return { model, positions: await api.positions(length, model.d_model, signal) };
    });
    if (answer !== null && !(answer instanceof Problem)) store.set(answer);
  }

  store.subscribe((page, previous) => {
    const asks = REQUEST_KEYS.some((key) => page.link[key] !== previous.link[key]);
    if (asks && page.trace === previous.trace) return void run();
    if (page.trace && page.link.block !== previous.link.block)
      store.go(inside(page.link, page.trace));
    void complete();
  });
  return { run: () => run() };
}

/**
 * A share is read once and stays as it is; what is looked at in it may be another place.
 * @param {Store} store
 * @param {Api} api
 * @param {string} id
 * @param {State} initial
 * @param {Partial<State>} asked  by the address bar
 */
export async function openShare(store, api, id, initial, asked) {
  const share = await api.readShare(id).catch(failure);
  if (share instanceof Problem) return store.set({ status: "failed", problem: share });
  const link = inside(
    { ...initial, ...share.state, ...elsewhere(asked), lang: initial.lang },
    share.trace,
  );
  store.set({ share, trace: share.trace, model: share.model, link, status: "ready" });
}

/** @param {Partial<State>} asked  All but what the model was asked. */
function elsewhere(asked) {
  const request = /** @type {readonly string[]} */ (REQUEST_KEYS);
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !request.includes(key)));
}

/**
 * @param {Api} api
 * @param {string | null} id  null: the first
 * @param {AbortSignal} signal
 */
async function served(api, id, signal) {
  const models = await api.models(signal);
  return models.find((model) => model.id === id) ?? models[0];
}

/** One question at a time: asking again ends the one before. */
function latest() {
  let controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const stop = () => {
    clearTimeout(timer);
    controller.abort();
  };
  return {
    stop,
    /**
     * @template T
     * @param {(signal: AbortSignal) => Promise<T>} question
     * @returns {Promise<T | Problem | null>}  null: nobody waits for it any more
     */
    async ask(question) {
      stop();
      const mine = (controller = new AbortController());
      const answer = await question(mine.signal).catch((error) =>
        mine.signal.aborted ? null : failure(error),
      );
      return mine.signal.aborted ? null : answer;
    },
    /** @param {number} seconds @param {() => void} task */
    wait(seconds, task) {
      timer = setTimeout(task, seconds * 1000);
    },
  };
}

/**
 * @param {unknown} error
 * @returns {Problem}
 */
function failure(error) {
  if (error instanceof Problem) return error;
  throw error;
}

/**
 * The nearest place that is there: a pin of an older sentence, a layer of a larger model is let go.
 * @param {State} link
 * @param {import("./wire.js").Trace} trace
 * @returns {State}
 */
function inside(link, trace) {
  const { query, key } = BLOCK[link.block];
  const { layers, heads } = extent(trace, link.block);
  const place = { layer: Math.min(link.layer, layers - 1), head: Math.min(link.head, heads - 1) };
  const fits =
    (link.query ?? 0) < trace.tokens[query].length && (link.key ?? 0) < trace.tokens[key].length;
  return { ...link, ...place, ...(fits ? {} : { query: null, key: null }) };
}
