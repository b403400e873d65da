/** Who is in a room, as numbers, asked for again and again by its teacher's page. */

import { Problem, failure } from "../core/wire/problem.js";

/** @import { RoomAccess } from "../core/wire/subject-requests.js" */

/** Milliseconds between two counts. */
const COUNT = 2_000;

/**
 * Counts the class as long as the page is seen.
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => RoomAccess | null} room
 * @param {(counts: import("../core/wire/schemas.d.ts").ClassReply) => void} hear
 * @param {(problem: Problem) => void} [failed]
 */
export function createCounting(api, room, hear, failed = () => {}) {
  let timer = 0;

  async function count() {
    const of = room();
    if (!of) return;
    const reply = document.hidden ? null : await api.classCounts(of).catch(failure);
    if (room() !== of) return;
    if (reply instanceof Problem) failed(reply);
    else if (reply) hear(reply);
    if (room() !== of) return;
    timer = window.setTimeout(count, COUNT);
  }

  return {
    start: () => (clearTimeout(timer), void count()),
    stop: () => clearTimeout(timer),
  };
}
