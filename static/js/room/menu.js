/** The rarer things that a teacher does with a room, in one menu. */

import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { remember } from "../core/store/kept-collections.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { spelled } from "./code.js";
import { recorded } from "./record.js";

/** @import { Seat } from "../core/wire/rooms.js" */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{handOver: () => void, members: () => void, end: () => void, room: () => Seat | null}} act
 */
export function createRoomMenu({ t }, api, act) {
  const opener = h("button", { type: "button", className: "button quiet", "aria-expanded": "false" }, t("Room"), h("span", { "aria-hidden": "true" }, "\u00a0▾"));
  const item = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => h("li", {}, h("button", { type: "button", onclick }, words));
  const closing = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => item(words, () => (menu.close(), onclick()));
  const told = h("p", { role: "status" });
  const panel = h(
    "div",
    { className: "drop", hidden: true },
    h("ul", {}, closing(t("Members…"), act.members), closing(t("Let someone else present…"), act.handOver), closing(t("Open a second screen"), () => window.open(`/room/${act.room()?.code}?screen=1`, "_blank", "noopener"))),
    h("ul", {}, item(t("Save what was presented as a collection"), save)),
    told,
    h("ul", {}, closing(t("End…"), act.end)),
  );
  const menu = createDisclosure(opener, () => panel, (open) => {
    panel.hidden = !open;
    render(told);
  });

  async function save() {
    const room = act.room();
    if (!room) return;
    render(told, t("Saving…"));
    const made = await keepRecord(t, api, room).catch(failure);
    render(told, made instanceof Problem ? wording(t, made) : el("a", { href: `/c/${made.id}#edit`, target: "_blank" }, t("Saved. Edit the collection")));
  }

  return { element: h("div", { className: "disclosure" }, opener, panel) };
}

/**
 * Create a collection of what was presented in a room; this browser can edit it.
 * @param {import("../lib/i18n.js").Translate} t
 * @param {import("../core/wire/api.js").Api} api
 * @param {Seat} room
 */
async function keepRecord(t, api, room) {
  const { states } = await api.roomRecord(room);
  const ids = [...new Set(states.flatMap(({ link }) => link.match(/^\/c\/([a-z0-9]+)/)?.[1] ?? []))];
  const read = ids.map(async (id) => [id, (await api.readCollection(id).catch(() => ({ items: [] }))).items.map(({ link }) => link)]);
  const items = recorded(states, Object.fromEntries(await Promise.all(read))).map(({ link, at }) => ({ link, title: "", note: t("{minutes} min after the start", { minutes: Math.round(at / 60) }) }));
  const title = t("Room {code}, {day}", { code: spelled(room.code), day: new Date(states[0].at * 1_000).toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" }) });
  const { id, edit_key: key } = await api.createCollection({ title, note: "", items });
  remember({ id, title, key });
  return { id };
}
