/** Follow a run from its first event until it ends, across network failures. */

import { failure } from "../core/wire/problem.js";
import { throttle } from "../lib/timing.js";
import { fresh, heard, over } from "./live-run.js";

/** @import { LiveRun } from "./live-run.js" */
/** @import { RunInfo } from "../core/wire/subject-requests.js" */

/**
 * In milliseconds: the interval between redraws, and the first and the longest delay before
 * reconnecting.
 */
const [PACE, FIRST, MOST] = [200, 500, 10_000];

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {{hear: (run: LiveRun) => void, failed: (problem: import("../core/wire/problem.js").Problem) => void}} listener
 */
export function createFollower(api, { hear, failed }) {
  let controller = new AbortController();
  /** @type {LiveRun | null} */
  let run = null;
  const told = throttle(() => run && hear(run), PACE);

  /** Read one connection until it ends. @param {LiveRun} from @param {AbortSignal} signal */
  async function listen(from, signal) {
    for await (const event of api.runEvents(from.id, from.next, signal)) {
      if (signal.aborted || !run) return;
      run = heard(run, event);
      told.later();
    }
  }

  return {
    stop: () => (controller.abort(), told.cancel()),
    /** @param {RunInfo | null} info  null: the same run again */
    async follow(info) {
      controller.abort();
      const { signal } = (controller = new AbortController());
      if (info) run = fresh(info);
      for (let wait = FIRST; run && !signal.aborted; wait = Math.min(wait * 2, MOST)) {
        const { next } = run;
        try {
          await listen(run, signal);
        } catch (error) {
          if (signal.aborted) return;
          const problem = failure(error);
          failed(problem);
          if (!problem.passing) return;
        }
        if (run && over(run)) return told.now();
        if (run && run.next > next) wait = FIRST;
        await pause(wait, signal);
      }
    },
  };
}

/** @param {number} milliseconds @param {AbortSignal} signal  ends it early */
const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });
