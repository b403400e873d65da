/** Stream one causal sweep at a time; complete sweeps are cached while the page is open. */

import { createAsker } from "../../core/wire/connection.js";
import { Problem } from "../../core/wire/problem.js";
import { begun, more } from "./head-sweep.js";

/** @import { Sweep } from "./head-sweep.js" */
/**
 * @typedef {object} State
 * @property {string} key  of the request
 * @property {Sweep | null} sweep  the results so far
 * @property {Problem | null} problem
 * @property {boolean} running
 * @property {number} since  start time, in milliseconds of the page's clock
 */

/** @type {Map<string, Sweep>} */
const known = new Map();
/** The number of cached sweeps. */
const KEPT = 32;

/**
 * @param {Pick<import("../../core/store/data-sources.js").Source, "lines">} source
 * @param {() => void} show  called for every new result
 */
export function sweeper(source, show) {
  /** @type {State} */
  let state = { key: "", sweep: null, problem: null, running: false, since: 0 };
  const asker = createAsker();

  /** @param {object} body @param {AbortSignal} signal */
  async function follow(body, signal) {
    state = { ...state, problem: null, running: true };
    show();
    for await (const line of source.lines("/api/sweep", body, signal)) {
      if (signal.aborted) break;
      if (line.start) state.sweep = begun(line.start);
      else if (line.changes && state.sweep) state.sweep = more(state.sweep, line);
      show();
    }
    const { sweep } = state;
    if (!sweep || sweep.done < sweep.total) throw new Problem("offline");
    return sweep;
  }

  const sweeper = {
    state: () => state,
    /** Stop; the results so far stay. */
    stop() {
      asker.stop();
      state = { ...state, running: false };
    },

    /**
     * @param {object} body  as the API takes it
     * @param {boolean} [anew]  also if it equals the last request
     */
    async ask(body, anew = false) {
      const key = JSON.stringify(body);
      if (key === state.key && !anew) return;
      asker.stop();
      const kept = known.get(key) ?? null;
      state = { key, sweep: kept, problem: null, running: false, since: performance.now() };
      if (kept) return show();
      const fails = (/** @type {Problem} */ problem) => {
        state = { ...state, running: false, problem };
        show();
      };
      const found = await asker.ask((signal) => follow(body, signal), fails);
      if (found === null) return;
      if (found instanceof Problem) return fails(found);
      keep(key, found);
      state = { ...state, running: false };
      show();
    },
  };
  return sweeper;
}

/** @param {string} key @param {Sweep} sweep  a whole one */
function keep(key, sweep) {
  if (known.size >= KEPT) known.delete(String([...known.keys()][0]));
  known.set(key, sweep);
}
