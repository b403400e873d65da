/**
 * Asking the server, the same way for every question: a newer question ends the older one, a late
 * answer is dropped, a busy server is asked again, and whatever goes wrong comes out as a Problem.
 */

import { Problem, failure } from "./problem.js";

/** Times that a busy server is asked again. */
const TRIES = 3;
/** Seconds to wait for it at most; who is told to wait longer is told so, and may ask again. */
const PATIENCE = 30;

/** @typedef {ReturnType<typeof createAsker>} Asker */

/** One question at a time. */
export function createAsker() {
  let controller = new AbortController();
  return {
    /** Ends the present question; nobody hears its answer. */
    stop: () => controller.abort(),

    /**
     * @template T
     * @param {(signal: AbortSignal) => Promise<T>} question  asked once a try
     * @param {(problem: Problem) => void} [meanwhile]  hears of a problem after which it is asked again
     * @returns {Promise<T | Problem | null>}  null: nobody waits for it any more
     */
    async ask(question, meanwhile = () => {}) {
      controller.abort();
      const { signal } = (controller = new AbortController());
      for (let left = TRIES; ; left--) {
        const answer = await attempt(question, signal);
        if (signal.aborted) return null;
        if (!(answer instanceof Problem) || !answer.retryAfter) return answer;
        if (left === 0 || answer.retryAfter > PATIENCE) return answer.final();
        meanwhile(answer);
        await pause(answer.retryAfter, signal);
        if (signal.aborted) return null;
      }
    },
  };
}

/**
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} question
 * @param {AbortSignal} signal
 * @returns {Promise<T | Problem | null>}
 */
async function attempt(question, signal) {
  try {
    return await question(signal);
  } catch (error) {
    return signal.aborted ? null : failure(error);
  }
}

/** @param {number} seconds @param {AbortSignal} signal  Ends it early. */
function pause(seconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });
}
