/** A member's work that the teacher presents, until she changes something. */

import { pickedWork, setPickedWork } from "./room-storage.js";
import { inOwnLanguage } from "./speaker-link.js";

/** @import { Work } from "../core/wire/schemas.d.ts" */

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
