/**
 * One page that presents in a room: it sends what is on its screen, or, while someone else drives,
 * shows what they present.
 */

import { Problem, failure } from "../core/wire/problem.js";
import { SHUT, createRoomStream } from "./room-stream.js";
import { memberToken } from "./room-storage.js";
import { inOwnLanguage } from "./seat.js";
import { FINAL, createSender } from "./sender.js";
import { connectWhileSeen } from "./while-seen.js";

/** @import { RoomState } from "../core/wire/rooms.js" */
/** @typedef {ReturnType<typeof createPresenter>} Presenter */
/**
 * @typedef {object} Sight
 * @property {boolean} handed  whether someone presents from the driver's seat
 * @property {boolean} closed  whether the room is closed to newcomers
 * @property {boolean} away  whether the teacher looks at something else meanwhile
 * @property {Problem | null} problem
 * @property {import("../core/wire/rooms.js").RoomQuestion | null | undefined} question
 */

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./types.js").Presentable} presented
 * @param {import("../core/wire/rooms.js").Seat} seat
 * @param {object} how
 * @param {boolean} how.resumes  whether the room was open before this page was loaded
 * @param {() => void} how.changed
 * @param {(why: Problem | null) => void} how.ended  called when this page can no longer present; a
 *   Problem "wrong-room-key" if the seat was taken back
 */
export function createPresenter(api, presented, seat, { resumes, changed, ended }) {
  const driver = seat.driver ?? false;
  /** @type {RoomState | null} */
  let last = null;
  /** @type {Problem | null} */
  let problem = null;
  let away = false;
  let over = false;
  const drives = () => !over && last !== null && (driver || !last.handed);
  const sender = createSender(api, () => (drives() ? seat : null), presented, told);
  const reader = { member: driver ? memberToken() : null, exploring: false };
  const stream = createRoomStream(api, seat.code, () => reader, {
    hear,
    failed: (failed) => ((problem = failed), changed()),
    // Twenty screens already follow; the teacher's page can do without the stream.
    ended: () => !SHUT.has(problem?.kind ?? "") && end(problem),
  });

  /** @param {RoomState} state */
  function hear(state) {
    problem = null;
    if (last && state.seq <= last.seq) return changed();
    const [before, first, handed] = [drives(), last === null, last?.handed];
    last = state;
    if (driver && handed && !state.handed) return end(new Problem("wrong-room-key"));
    if (!drives()) follow();
    else if (first) begin(state);
    else if (!before) sender.again();
    changed();
  }

  /** @param {RoomState} state  the first that was heard */
  function begin({ link }) {
    if (resumes) presented.resume?.(link);
    sender.send();
  }

  /** @param {Problem | RoomState} reply  to what was sent */
  function told(reply) {
    if (!(reply instanceof Problem)) return hear(reply);
    problem = reply;
    if (FINAL.has(reply.kind)) end(reply);
    else changed();
  }

  /** @param {Problem | null} why */
  function end(why) {
    if (over) return;
    over = true;
    stream.stop();
    ended(why);
  }

  /** Show what the driver presents. */
  function follow() {
    if (away || !last) return;
    const { link, pointer } = last;
    if (presented.show(link)) presented.point?.(pointer);
    else if (new URL(link, window.location.origin).pathname !== window.location.pathname) window.location.assign(inOwnLanguage(link));
  }

  return {
    start: () => connectWhileSeen(stream, () => over),
    stop() {
      over = true;
      stream.stop();
    },
    /** To be called when the reader changes what is on the screen. */
    moved() {
      if (drives()) return sender.send();
      if (!last || driver || away) return;
      away = true;
      changed();
    },
    pointed: sender.send,
    told,
    /** Follow the driver again. */
    back() {
      away = false;
      follow();
      changed();
    },
    /** Take the seat back; the driver gives it back. */
    async takeBack() {
      away = false;
      const failed = await api.takeBack(seat).then(() => null, failure);
      if (failed) told(failed);
    },
    /** @returns {Sight} */
    sight: () => ({ handed: Boolean(last?.handed), closed: Boolean(last?.closed), away, problem, question: last?.question }),
  };
}
