/** A session with a source that answers when it is told to. */

import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { encoding } from "../../static/js/core/store/view-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, trace } from "./trace.js";

/** @import { Page } from "../../static/js/core/store/store.js" */
/** @import { State } from "../../static/js/core/store/link.js" */
/** @typedef {{body: any, signal: AbortSignal, reply: (found: any) => Promise<void>, fail: (error: any) => Promise<void>}} Asked */

export const flush = async () => {
  for (let i = 0; i < 20; i++) await null;
};
export const TABLE = encoding({ length: 2, d_model: 4 });

/**
 * A store and a session over an API that is answered by hand.
 * @param {Partial<State>} [link]
 * @param {{asks?: (page: Page) => any[], free?: boolean, models?: () => Promise<any[]>, pace?: any, pairs?: () => boolean}} [wanted]
 */
export function bound(link = {}, { asks = () => [], free = false, models = async () => [MODEL], pace, pairs } = {}) {
  /** @type {Asked[]} */
  const traces = [];
  /** @type {Asked[]} */
  const answers = [];
  /** @param {Asked[]} list */
  const by = (list) => (/** @type {any} */ body, /** @type {AbortSignal} */ signal) =>
    new Promise((resolve, reject) => {
      const reply = (/** @type {any} */ found) => (resolve(found), flush());
      const fail = (/** @type {any} */ error) => (reject(error), flush());
      list.push({ body, signal, reply, fail });
    });
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "the the", ...link });
  /** @type {any} */
  const api = { models, trace: by(traces), answer: by(answers), pace };
  const needs = (/** @type {Page} */ { link }) => [`${link.block === "cross" ? "decoder.0.cross" : "encoder.0.self"}.weights`];
  const session = bindSession(store, api, { needs, asks, pairs }, { free });
  return { store, session, traces, answers };
}

/** What the server answers. @param {string[]} names @param {object} [more] */
export function served(names, more = {}) {
  const all = trace();
  return { ...all, tensors: Object.fromEntries(names.map((name) => [name, all.tensors[name]])), ...more };
}
export const SELF = served(["encoder.0.self.weights"]);
export const CROSS = served(["decoder.0.cross.weights"], { pieces: { 7: { text: "a", special: false } } });

/** A session that shows its first trace. @param {Parameters<typeof bound>} wanted */
export async function ready(...wanted) {
  const all = bound(...wanted);
  all.session.run();
  await flush();
  await all.traces[0].reply(SELF);
  return all;
}
