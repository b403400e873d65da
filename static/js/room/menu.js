/** The rarer things that a teacher does with a room, in one menu. */

import { wording } from "../core/figure/problem-wording.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { remember } from "../core/store/kept-collections.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { spelled } from "./bar.js";

/** @import { Seat } from "../core/wire/subject-requests.js" */

// What was presented in a room, as the items of a collection.

/** @typedef {{seq: number, at: number, link: string}} Shown  at: in seconds */

/** The most items of a collection. */
const MOST = 50;
const HOME = "http://room";
/** What a field of a formula may hold in a link of a collection (app/answers/figure_states.py). */
const NUMBER = /^[\d,. ]{1,20}$/;

/**
 * The links that were presented, without those between: of the links in a row that show the same
 * text or the same figure, the one that was on the screen for the longest time. If there are more
 * than a collection can have, the ones that were shown for the longest time.
 * @param {Shown[]} states  in order
 * @param {Record<string, string[]>} collections  the links of the items of presented collections
 * @returns {{link: string, at: number}[]}  at: seconds since the beginning
 */
export function recorded(states, collections = {}) {
  /** @type {{key: string, link: string, at: number, seconds: number}[]} */
  const items = [];
  states.forEach(({ link, at: time }, i) => {
    const item = itemOf(link, collections);
    if (!item) return;
    const seconds = (states[i + 1]?.at ?? Infinity) - time;
    const last = items.at(-1);
    const since = time - states[0].at;
    if (last?.key !== item.key) items.push({ ...item, at: since, seconds });
    else if (seconds >= last.seconds) Object.assign(last, { ...item, seconds });
  });
  const longest = new Set([...items].sort((a, b) => b.seconds - a.seconds).slice(0, MOST));
  return items.filter((item) => longest.has(item)).map(({ link, at: time }) => ({ link, at: time }));
}

/**
 * A presented link as an item of a collection, with what it is about; null: it cannot be one.
 * @param {string} link
 * @param {Record<string, string[]>} collections
 * @returns {{key: string, link: string} | null}
 */
function itemOf(link, collections) {
  const { pathname, searchParams, hash, search } = new URL(link, HOME);
  const shows = searchParams.get("shows");
  const state = new URLSearchParams(shows ?? "");
  // What the workspace or the lab can show is an item of its own.
  const ownItem = shows && itemOf(`${state.has("x") ? "/lab" : "/"}?${shows}`, collections);
  if (ownItem) return ownItem;
  const [, kind, id] = pathname.split("/");
  if (kind === "learn") {
    // Others stay in the lesson: a formula, unless a number is half typed, and models of the zoo. A
    // run is deleted later.
    const fits = shows && !state.has("run") && [...state].every(([name, value]) => !name.startsWith("f_") || NUMBER.test(value));
    const query = fits ? `?${new URLSearchParams({ shows })}` : "";
    return { key: pathname + hash, link: pathname + (hash.startsWith("#figure-") ? query + hash : "") };
  }
  if (kind === "c") {
    const item = collections[id]?.[Number(hash.replace("#item-", "")) - 1];
    return item ? itemOf(item, {}) : null;
  }
  if (kind === "s") return { key: pathname, link };
  if (kind === "lab") return searchParams.has("x") ? { key: `/lab ${searchParams.get("tokens")}`, link } : null;
  const text = searchParams.get("source") ?? new URLSearchParams(hash.slice(1)).get("source");
  return text ? { key: `/ ${text}`, link: pathname + search + hash } : null;
}

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{handOver: () => void, members: () => void, end: () => void, room: () => Seat | null}} act
 */
export function createRoomMenu({ t }, api, act) {
  const opener = h("button", { type: "button", className: "button quiet", "aria-expanded": "false" }, t("Room"), h("span", { "aria-hidden": "true" }, "\u00a0▾"));
  const item = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => h("li", {}, h("button", { type: "button", onclick }, words));
  const closing = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => item(words, () => (menu.close(), onclick()));
  const status = h("p", { role: "status" });
  const panel = h(
    "div",
    { className: "drop", hidden: true },
    h("ul", {}, closing(t("Members…"), act.members), closing(t("Let someone else present…"), act.handOver), closing(t("Open a second screen"), () => window.open(`/room/${act.room()?.code}?screen=1`, "_blank", "noopener"))),
    h("ul", {}, item(t("Save what was presented as a collection"), save)),
    status,
    h("ul", {}, closing(t("End…"), act.end)),
  );
  const menu = createDisclosure(opener, () => panel, (open) => {
    panel.hidden = !open;
    render(status);
  });

  async function save() {
    const room = act.room();
    if (!room) return;
    render(status, t("Saving…"));
    const reply = await keepRecord(t, api, room).catch(failure);
    render(status, reply instanceof Problem ? wording(t, reply) : el("a", { href: `/c/${reply.id}#edit`, target: "_blank" }, t("Saved. Edit the collection")));
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
  const items = recorded(states, Object.fromEntries(await Promise.all(read))).map(({ link, at: time }) => ({ link, title: "", note: t("{minutes} min after the start", { minutes: Math.round(time / 60) }) }));
  const title = t("Room {code}, {day}", { code: spelled(room.code), day: new Date(states[0].at * 1_000).toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" }) });
  const { id, edit_key: key } = await api.createCollection({ title, note: "", items });
  remember({ id, title, key });
  return { id };
}
