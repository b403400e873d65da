/** A member's works: what the member explores is sent to the wall, and the teacher may present a work. */

import { Problem, failure } from "../core/wire/reply.js";
import { debounce } from "../lib/timing.js";
import { ownNickname, pickedWork, sentWork, setPickedWork, setSentWork } from "./room-storage.js";
import { inOwnLanguage } from "./bar.js";

/** @import { Work } from "../core/wire/schemas.d.ts" */
/** @import { RoomState } from "../core/wire/requests-by-subject.js" */

// A member's side of the wall: what the member explores is sent while the teacher sees it.

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

// A member's work that the teacher presents, until she changes something.

/** Which page of the server a link opens. @param {string} link */
export const pathOf = (link) => new URL(link, window.location.origin).pathname;

/** @param {string} code @param {Pick<import("./room.js").Presentable, "link" | "show">} presented */
export function createPickedWork(code, presented) {
  let picked = pickedWork(code);
  /** What was on the screen before it. */
  let before = "";

  /** @param {typeof picked} work @param {string} [path]  of the page that shows it */
  function set(work, path) {
    picked = work;
    setPickedWork(code, work, path);
  }

  return {
    current: () => picked,
    clear: () => picked && set(null),
    /** @param {Work} work @param {string} words  of thanks @returns {boolean}  false: another page is opened to show it */
    show({ id, link }, words) {
      before = picked ? before : presented.link();
      set({ id, words }, pathOf(link));
      const isThisPage = presented.show(link);
      if (!isThisPage) window.location.assign(inOwnLanguage(link));
      return isThisPage;
    },
    /** Show again what was on the screen before. */
    goBack() {
      set(null);
      if (before) presented.show(before);
    },
  };
}
