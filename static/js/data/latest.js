/** Waiting for answers, when a newer question may come first. */

import { Problem, failure } from "./problem.js";

/** One question at a time: asking again ends the one before. */
export function latest() {
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
