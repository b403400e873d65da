/** A member's side of the wall: what the member explores is sent while the teacher sees it. */

import { Problem, failure } from "../core/wire/problem.js";
import { debounce } from "../lib/timing.js";
import { ownNickname, sentWork, setSentWork } from "./room-storage.js";

/** @import { RoomState } from "../core/wire/subject-requests.js" */

/** In milliseconds: after the last change, and before trying again. */
const [SETTLED, AGAIN] = [1_500, 4_000];
/** Characters of a link; a longer one is not sent. */
const LONGEST = 2_000;

/**
 * @param {Pick<import("../core/wire/api.js").Api, "sendWork">} api
 * @param {string} code
 * @param {string | null} member  null: a screen, which sends nothing
 * @param {{link: () => string, explores: () => boolean}} of
 */
export function createWorkSender(api, code, member, { link, explores }) {
  /** @type {RoomState["wall"]} */
  let wall = "closed";
  let sent = "";
  const later = debounce(() => void send(), SETTLED);
  const retry = debounce(() => void send(), AGAIN);

  async function send() {
    if (!member || wall === "closed" || !explores()) return;
    const nickname = wall === "named" ? ownNickname().trim() : "";
    const work = { member, link: link(), ...(nickname ? { nickname } : {}) };
    const key = JSON.stringify(work);
    if (key === sent || work.link.length > LONGEST) return;
    const reply = await api.sendWork(code, work).catch(failure);
    if (!(reply instanceof Problem)) {
      sent = key;
      setSentWork(code, reply.id);
    } else if (reply.passing || reply.kind === "room-changes") retry.later();
  }

  return {
    /** To be called when the member changes what is on the screen. */
    moved: later.later,
    /** @param {RoomState} state */
    hear(state) {
      if (state.wall === wall) return;
      wall = state.wall;
      sent = "";
      later.later();
    },
    /** Whether the class is shown what this member made. @param {RoomState} state */
    isPicked: ({ picked }) => Boolean(picked) && picked?.id === sentWork(code),
  };
}
