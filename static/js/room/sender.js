/** What a presenter's page sends, and what it asks for again and again. */

import { Problem, failure } from "../core/wire/problem.js";
import { throttle } from "../lib/timing.js";

/** @import { Seat } from "../core/wire/rooms.js" */

/** In milliseconds: between two states that are sent, between two counts, before trying again. */
const [PACE, COUNT, AGAIN] = [150, 2_000, 2_000];
/** Kinds of problems after which the room can no longer be presented in. */
export const FINAL = new Set(["unknown-room", "wrong-room-key"]);

/**
 * Sends the newest state, one request at a time.
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => Seat | null} room  null: nothing is sent at present
 * @param {import("./types.js").Presentable} presented
 * @param {(reply: Problem | import("../core/wire/rooms.js").RoomState) => void} told
 */
export function createSender(api, room, presented, told) {
  let sent = "";
  let sending = false;
  const pace = throttle(() => void send(), PACE);

  async function send() {
    const to = room();
    if (!to || sending) return;
    const state = { link: presented.link(), pointer: presented.pointer?.() ?? null };
    const key = JSON.stringify([to.code, state]);
    if (key === sent) return;
    sending = true;
    const reply = await api.present(to, state).catch(failure);
    sending = false;
    told(reply);
    const failed = reply instanceof Problem ? reply : null;
    if (!failed) sent = key;
    else if (FINAL.has(failed.kind) || !failed.passing) return;
    setTimeout(pace.later, failed ? AGAIN : 0);
  }

  return {
    send: pace.later,
    /** Send the state even if it was sent before: someone else has presented since. */
    again() {
      sent = "";
      pace.later();
    },
  };
}

/**
 * Counts the class as long as the page is seen.
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => Seat | null} room
 * @param {(counts: import("../core/wire/rooms.js").ClassCounts) => void} hear
 */
export function createCounting(api, room, hear) {
  let timer = 0;

  async function count() {
    const of = room();
    if (!of) return;
    const found = document.hidden ? null : await api.classCounts(of).catch(failure);
    if (room() !== of) return;
    if (found && !(found instanceof Problem)) hear(found);
    timer = window.setTimeout(count, COUNT);
  }

  return {
    start: () => (clearTimeout(timer), void count()),
    stop: () => clearTimeout(timer),
  };
}
