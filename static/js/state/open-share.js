/** Opening a share: it is read once and stays as it is; what is looked at in it may be another place. */

import { Problem, failure } from "../data/problem.js";
import { REQUEST_KEYS, merge, stated } from "./link.js";
import { keyOf } from "./questions.js";

/** @typedef {import("./link.js").State} State */

/**
 * @param {import("./store.js").Store} store
 * @param {import("../data/api.js").Api} api
 * @param {import("../data/asker.js").Asker} asker
 * @param {{id: string, initial: State, asked: Partial<State>, options: import("./options.js").Options}} wanted
 *   asked: by the address bar
 */
export async function openShare(store, api, asker, { id, initial, asked, options }) {
  const fails = (/** @type {Problem} */ problem) => store.set({ status: "failed", problem });
  const found = await asker.ask(() => read(store, api, id), fails);
  if (found === null) return;
  if (found instanceof Problem) return fails(found);
  const { share, answers, live } = found;
  const link = merge(initial, stated(share.state, options), elsewhere(asked), { lang: initial.lang });
  const { trace, model } = share;
  store.set({ share, live, trace, model, answers, link, status: "ready", problem: null }, "link");
}

/**
 * The share, the frozen answers to its further questions, and whether its model is still served.
 * @param {import("./store.js").Store} store
 * @param {import("../data/api.js").Api} api
 * @param {string} id
 */
async function read(store, api, id) {
  store.set({ status: "waiting", problem: null });
  const share = await api.readShare(id);
  const [models, ...read] = await Promise.all([
    api.models().catch(() => []),
    ...share.asks.map((_, n) => api.readAnswer(share, n).catch(failure)),
  ]);
  const answers = Object.fromEntries(share.asks.map((question, n) => [keyOf(question), read[n]]));
  return { share, answers, live: models.some(({ digest }) => digest === share.model.digest) };
}

/** @param {Partial<State>} asked  All but what the model was asked. */
function elsewhere(asked) {
  const request = /** @type {readonly string[]} */ (REQUEST_KEYS);
  return Object.fromEntries(Object.entries(asked).filter(([key]) => !request.includes(key)));
}
