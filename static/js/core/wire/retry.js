/**
 * Sending requests: a newer request cancels the older one, a late reply is dropped, a busy server
 * is retried, and every failure is returned as a Problem.
 */

import { Problem, failure } from "./problem.js";

/** How often to retry; a busy server, which says when it will have time, is retried until it answers. */
const TRIES = 3;
/**
 * The longest wait before a retry, in seconds; if the server asks for more, the page says so and
 * offers to try again.
 */
const PATIENCE = 30;

/** @typedef {ReturnType<typeof createAsker>} Asker */

/** Send one request at a time. */
export function createAsker() {
  let controller = new AbortController();
  return {
    /** Cancel the current request; its reply is ignored. */
    stop: () => controller.abort(),

    /**
     * @template T
     * @param {(signal: AbortSignal) => Promise<T>} question  called once per attempt
     * @param {(problem: Problem) => void} [meanwhile]  called with each problem that is retried
     * @returns {Promise<T | Problem | null>}  null: cancelled
     */
    async ask(question, meanwhile = () => {}) {
      controller.abort();
      const { signal } = (controller = new AbortController());
      for (let left = TRIES; ; ) {
        const answer = await attempt(question, signal);
        if (signal.aborted) return null;
        if (!(answer instanceof Problem) || !answer.retryAfter) return answer;
        if (left === 0 || answer.retryAfter > PATIENCE) return answer.final();
        if (answer.kind !== "busy") left--;
        meanwhile(answer);
        await pause(answer.retryAfter * 1000, signal);
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

/** @param {number} milliseconds @param {AbortSignal} signal  Ends it early. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });
}
