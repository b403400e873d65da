/**
 * Keeps what is shown in step with the link: asks for the trace when the request changes, for the
 * tensors and the answers that a view needs when they are not there yet.
 */

import { everywhere } from "../data/blocks.js";
import { createAsker } from "../data/asker.js";
import { Problem } from "../data/problem.js";
import { request } from "../data/request.js";
import { bindAnswers, without } from "./answers.js";
import { opener } from "./lit.js";
import { REQUEST_KEYS } from "./link.js";
import { openShare } from "./open-share.js";
import { nearest } from "./settled.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("../data/api.js").Api} Api */
/**
 * @typedef {object} Wishes  what the present view shows
 * @property {(page: Page) => string[]} needs  tensors of the present trace
 * @property {(page: Page) => import("./questions.js").Question[]} asks  all that is not in it
 * @property {import("./settled.js").Views} [viewOf]  what the views ask of a model
 */
/** @typedef {Parameters<typeof openShare>[3]} Frozen */

/**
 * @param {Store} store
 * @param {Api} api
 * @param {Wishes} wishes
 * @param {{free?: boolean, frozen?: Frozen | null}} [options]  whether the first trace may choose the
 *   layer and the head; the share that is opened in place of a first trace
 */
export function bindSession(store, api, wishes, { free = false, frozen = null } = {}) {
  const asker = createAsker();
  const tensors = bindTensors(store, api, wishes.needs);
  const answers = bindAnswers(store, api, wishes.asks);

  /** Asks for the trace, even where it is here; where a share is to be opened, for that. */
  async function run() {
    tensors.stop();
    if (frozen && !store.get().share) return openShare(store, api, asker, frozen);
    if (!store.get().link.source.trim()) {
      asker.stop();
      return store.set({ status: "empty", problem: null });
    }
    const fails = (/** @type {Problem} */ problem) => store.set({ status: "failed", problem });
    const found = await asker.ask(look, fails);
    if (found === null) return;
    if (found instanceof Problem) return fails(found);
    const { model, trace } = found;
    const link = fit(store.get().link, model);
    const opening = free && opener(trace, model, link);
    free = false;
    store.set({ status: "ready", model, trace, link: opening ? { ...link, ...opening } : link });
  }

  /** @param {Page["link"]} link @param {import("../data/model.js").ModelInfo} model */
  const fit = (link, model) => nearest(link, model, wishes.viewOf);

  /** @param {AbortSignal} signal */
  async function look(signal) {
    store.set({ status: "waiting", problem: null });
    const model = await served(api, store.get().link.model);
    const link = fit(store.get().link, model);
    const select = wishes.needs({ ...store.get(), model, link });
    if (free) select.push(...everywhere(model, link.block).flatMap((at) => [`${at}.weights`, `${at}.mask`]));
    return { model, trace: await api.trace(request(model, link, unique(select)), signal) };
  }

  /** Asks again for what went wrong, and for nothing else. */
  async function retry() {
    if (store.get().status !== "ready") return run();
    tensors.stop();
    store.set({ problem: null, answers: without(store.get().answers, (_, { passing }) => passing) });
  }

  // A change of what is asked for has made the page wait; a share that is opened brings its trace.
  store.subscribe(
    ({ link }) => REQUEST_KEYS.map((key) => link[key]),
    ({ status }) => void (status !== "ready" && run()),
  );
  store.subscribe(
    (page) => page,
    () => {
      void tensors.follow();
      answers.follow();
    },
  );
  return { run, retry };
}

/**
 * Asks for the tensors of the present trace that the view needs and that are not there yet. A
 * problem with them is the page's, whose trace stays as it is.
 * @param {Store} store
 * @param {Pick<Api, "trace">} api
 * @param {Wishes["needs"]} needs
 */
function bindTensors(store, api, needs) {
  const asker = createAsker();
  let asked = "";

  function stop() {
    asker.stop();
    asked = "";
  }

  async function follow() {
    const page = store.get();
    const { trace: seen, link, status, share, live } = page;
    if (!seen || status !== "ready") return;
    const missing = unique(needs(page)).filter((name) => !seen.tensors[name]);
    if (!missing.length) {
      if (!page.problem) return;
      stop();
      return store.set({ problem: null });
    }
    const question = `${seen.id} ${missing}`;
    if (question === asked) return;
    asked = question;
    if (share && !live) return; // the page says what was not frozen (chrome/not-frozen.js)
    const more = await asker.ask(async (signal) => {
      store.set({ problem: null });
      const answer = await api.trace(request(page.model, link, missing), signal);
      if (!missing.every((name) => answer.tensors[name])) throw new Problem("garbled");
      return answer;
    }, fails);
    const { trace: present } = store.get();
    if (more === null || present?.id !== seen.id) return;
    if (more instanceof Problem) return fails(more);
    const pieces = { ...present.pieces, ...more.pieces };
    store.set({ trace: { ...present, pieces, tensors: { ...present.tensors, ...more.tensors } } });
  }

  /** @param {Problem} problem */
  const fails = (problem) => store.set({ problem });

  return { stop, follow };
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
