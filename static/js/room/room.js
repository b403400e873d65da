/** Rooms on a page: the teacher's bar, or a student's if the page is opened in a room. */

import { bindFollowing } from "./follow.js";
import { bindPresenting } from "./present.js";

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./types.js").Presentable} presented
 * @param {HTMLElement} root  of the page, with the room in its data attributes
 */
export function bindRoom(page, api, presented, root) {
  const { room: code, screen } = root.dataset;
  if (code) bindFollowing(page, api, presented, root, { code, screen: screen === "yes" });
  else bindPresenting(page, api, presented, root);
}

/** The height of a room's bar, in pixels: it covers what is at the top of the window. */
export function barHeight() {
  const bar = document.querySelector(".room-bar:not([hidden])");
  return bar instanceof HTMLElement ? bar.offsetHeight : 0;
}
