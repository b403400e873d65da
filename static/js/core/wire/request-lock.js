/** Requests of which the next waits until the last is answered. */

import { failure } from "./problem.js";

/** @import { Problem } from "./problem.js" */

/**
 * @param {(busy: boolean) => void} turned  told before a request, and when it is answered
 * @returns {<T>(request: () => Promise<T>) => Promise<T | Problem | null>}  null: another is under way
 */
export function createRequestLock(turned) {
  let busy = false;
  return async (request) => {
    if (busy) return null;
    turned((busy = true));
    const answer = await request().catch(failure);
    turned((busy = false));
    return answer;
  };
}
