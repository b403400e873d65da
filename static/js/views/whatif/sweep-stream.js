/** One causal sweep at a time, as it comes; what was swept whole is kept while the page is open. */

import { Problem, failure } from "../../data/problem.js";
import { begun, more } from "../../compute/head-sweep.js";

/** @typedef {import("../../compute/head-sweep.js").Sweep} Sweep */
/**
 * @typedef {object} State
 * @property {string} key  of what is asked
 * @property {Sweep | null} sweep  as far as it is
 * @property {Problem | null} problem
 * @property {boolean} running
 * @property {number} since  milliseconds of the page's clock
 */

/** @type {Map<string, Sweep>} */
const known = new Map();
/** Sweeps kept. */
const KEPT = 32;

/**
 * @param {import("../../data/api.js").Api} api
 * @param {() => void} show  called whenever there is more
 */
export function sweeper(api, show) {
  /** @type {State} */
  let state = { key: "", sweep: null, problem: null, running: false, since: 0 };
  let controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;

  /** @param {object} body @param {AbortSignal} signal */
  async function follow(body, signal) {
    for await (const line of api.lines("/api/sweep", body, signal)) {
      if (signal.aborted) return;
      if (line.start) state.sweep = begun(line.start);
      else if (line.heads && state.sweep) state.sweep = more(state.sweep, line);
      show();
    }
  }

  const sweeper = {
    state: () => state,
    stop() {
      clearTimeout(later);
      controller.abort();
    },

    /** @param {Problem} problem  Why it cannot be asked at all. */
    refuse: (problem) => void (state = { ...state, key: "", sweep: null, problem, running: false }),

    /**
     * @param {object} body  as the API takes it
     * @param {boolean} [anew]  even where it is what was asked last
     */
    async ask(body, anew = false) {
      const key = JSON.stringify(body);
      if (key === state.key && !anew) return;
      sweeper.stop();
      const { signal } = (controller = new AbortController());
      const kept = known.get(key) ?? null;
      state = { key, sweep: kept, problem: null, running: !kept, since: performance.now() };
      show();
      if (kept) return;
      const found = await follow(body, signal).catch((error) => (signal.aborted ? null : failure(error)));
      if (state.key !== key || signal !== controller.signal) return;
      state = { ...state, running: false, problem: found instanceof Problem ? found : null };
      const { sweep } = state;
      if (sweep && sweep.done === sweep.total) {
        if (known.size >= KEPT) known.delete(String([...known.keys()][0]));
        known.set(key, sweep);
      }
      show();
      const wait = state.problem?.retryAfter;
      if (wait) later = setTimeout(() => void sweeper.ask(body, true), wait * 1000);
    },
  };
  return sweeper;
}
