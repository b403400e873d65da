/**
 * Following a room across network failures: a stream of events or, where something between the
 * browser and the server holds streams back, one request after another that waits for a change.
 */

import { failure } from "../core/wire/reply.js";

/** @import { RoomState } from "../core/wire/requests-by-subject.js" */

/** In milliseconds: until the first event; without a sign of life; before trying again, first and at most. */
const [HELLO, SILENCE, FIRST_WAIT, LONGEST_WAIT] = [3_000, 40_000, 500, 8_000];
/** Kinds of problems of a room that lets nobody in at present. */
export const SHUT = new Set(["room-full", "room-closed"]);
/** Kinds of problems after which trying again is of no use. */
const FINAL = new Set(["unknown-room", ...SHUT]);

/**
 * @typedef {object} Listening
 * @property {(state: RoomState) => void} hear  called with states that are each newer than the last
 * @property {(problem: import("../core/wire/reply.js").Problem) => void} failed  called with each failure
 * @property {() => void} reconnected  called when the server replies again after failures, also without a newer state
 * @property {() => void} ended  called when the room has ended, or lets nobody in
 */

/**
 * @param {Pick<import("../core/wire/api.js").Api, "roomEvents" | "roomState">} api
 * @param {string} code
 * @param {() => import("../core/wire/requests-by-subject.js").Reader} reader
 * @param {Listening} listener
 */
export function createRoomStream(api, code, reader, { hear, failed, reconnected, ended }) {
  let controller = new AbortController();
  let seq = 0;
  let polls = false;
  let isBroken = false;

  /** @param {RoomState} state */
  function take(state) {
    if (isBroken) {
      isBroken = false;
      reconnected();
    }
    if (state.seq > seq) {
      seq = state.seq;
      hear(state);
    }
    if (state.over) {
      controller.abort();
      ended();
    }
  }

  /** Read one stream until it ends or is silent. @param {AbortSignal} stopped */
  async function listen(stopped) {
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped, silence.signal]);
    let greeted = false;
    let timer = setTimeout(() => silence.abort(), HELLO);
    try {
      for await (const state of api.roomEvents(code, reader(), signal)) {
        clearTimeout(timer);
        if (state) greeted = true;
        timer = setTimeout(() => silence.abort(), greeted ? SILENCE : HELLO);
        if (state) take(state);
      }
    } catch (error) {
      if (!silence.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
    // Something between holds streams back, or cuts them off.
    polls ||= !greeted && !stopped.aborted;
  }

  /** @param {AbortSignal} signal */
  async function run(signal) {
    for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      const before = seq;
      try {
        if (polls) take(await api.roomState(code, reader(), { since: isBroken ? undefined : seq, signal }));
        else await listen(signal);
        wait = FIRST_WAIT;
      } catch (error) {
        if (signal.aborted) return;
        const problem = failure(error);
        isBroken = true;
        failed(problem);
        if (FINAL.has(problem.kind)) return void ended();
      }
      if (polls && seq > before) wait = FIRST_WAIT / 2;
      else await pause(wait * (0.5 + Math.random()), signal);
    }
  }

  return {
    /** Connect, or connect anew, for example because the reader has changed. */
    start() {
      controller.abort();
      controller = new AbortController();
      void run(controller.signal);
    },
    stop: () => controller.abort(),
  };
}

/** @param {number} milliseconds @param {AbortSignal} signal  ends it early */
const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });

// When a page is connected to its room.

/**
 * Connect as long as the page is seen: a hidden page has no use for a connection, of which a browser
 * allows six to a server. It gets the present state when it is seen again.
 * @param {{start: () => void, stop: () => void}} stream
 * @param {() => boolean} over  whether the room has ended for this page
 */
export function connectWhileVisible(stream, over) {
  const update = () => (over() || document.hidden ? stream.stop() : stream.start());
  document.addEventListener("visibilitychange", update);
  window.addEventListener("online", update);
  window.addEventListener("pagehide", stream.stop);
  window.addEventListener("pageshow", ({ persisted }) => persisted && update());
  update();
}
