/**
 * The members of a room on its teacher's page: how many there are, who they are, what may be done with
 * them, and what they have written, which she sees only once she asks.
 */

import { wording } from "../core/figure/problem-wording.js";
import { createDisclosure } from "../core/page/disclosure.js";
import { collectionKeys } from "../core/page/own-collections.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { button, spelledCode } from "./bar.js";
import { lookedAt, setLookedAt } from "./room-storage.js";

/** @import { MembersReply, RoomCreated } from "../core/wire/schemas.d.ts" */
/** @import { RoomAccess } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

// Who is in a room, as numbers, asked for again and again.

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

// Who is in a room, and the rarer things that its teacher does: close it, remove members, save it.

// Which members of a room a teacher may want to remove, in groups.

/**
 * @typedef {object} Group
 * @property {"absent" | "silent" | "new" | "network"} kind  absent: not connected; silent: have not
 *   answered the question; new: have come lately; network: have come from one address
 * @property {number} [minutes]  of those who have come lately
 * @property {boolean} [own]  whether the network is that of the teacher
 * @property {[number, number]} [came]  when the first and the last of them came, in seconds
 * @property {string[]} ids
 */

/** Minutes since a member has come, for which it is new. */
const NEW = [1, 5, 15];
/** Of networks, the ones with the most members. */
const NETWORKS = 5;

/**
 * The groups of members, without empty ones and without one that says the same as another.
 * @param {MembersReply} room
 * @param {boolean} hasQuestion  whether the room is asked something
 * @returns {Group[]}
 */
export function memberGroups({ members, network, at: now }, hasQuestion) {
  const ids = (/** @type {MembersReply["members"]} */ some) => some.map(({ id }) => id);
  /** @type {Group[]} */
  const groups = [
    { kind: "absent", ids: ids(members.filter(({ here: connected }) => !connected)) },
    { kind: "silent", ids: ids(hasQuestion ? members.filter(({ answered }) => !answered) : []) },
  ];
  let before = 0;
  for (const minutes of NEW) {
    const fresh = ids(members.filter(({ joined }) => joined > now - minutes * 60));
    if (fresh.length > before && fresh.length < members.length) groups.push({ kind: "new", minutes, ids: fresh });
    before = fresh.length;
  }
  const networks = [...new Set(members.map((member) => member.network))].map((n) => members.filter((member) => member.network === n));
  const large = networks.filter((some) => some.length > 1 && some.length < members.length).sort((a, b) => b.length - a.length);
  for (const some of large.slice(0, NETWORKS)) {
    const times = some.map(({ joined }) => joined);
    groups.push({ kind: "network", own: some[0].network === network, came: [Math.min(...times), Math.max(...times)], ids: ids(some) });
  }
  return groups.filter((group) => group.ids.length > 0);
}

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{room: () => RoomCreated | null, asked: () => boolean}} of
 */
export function createMembersDialog({ t }, api, { room, asked: hasQuestion }) {
  const dialog = h("dialog", { className: "members", "aria-label": t("Members") });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);
  /** @type {MembersReply | null} */
  let memberList = null;
  /** The group whose removal is being confirmed. @type {Group | null} */
  let doomed = null;
  let status = "";

  /** Do something in the room, then show who is in it. @param {(room: RoomCreated) => Promise<string>} [memberAction]  returns what was done */
  async function act(memberAction) {
    const of = room();
    if (!of) return;
    const done = memberAction ? await memberAction(of).catch(failure) : "";
    const read = await api.listMembers(of).catch(failure);
    const failed = [done, read].find((reply) => reply instanceof Problem);
    status = failed instanceof Problem ? wording(t, failed) : String(done);
    if (!(read instanceof Problem)) memberList = read;
    doomed = null;
    show();
  }

  const close = (/** @type {boolean} */ closed) => act(async (of) => (await api.adjustRoom(of, { closed }), ""));
  const remove = (/** @type {Group} */ { ids }) =>
    act(async (of) => {
      const { removed } = await api.removeMembers(of, ids);
      return removed === 1 ? t("One member was removed.") : t("{count} members were removed.", { count: removed });
    });

  function show() {
    render(
      dialog,
      el("h2", {}, t("Members")),
      memberList && el("p", {}, t("{here} here, {absent} not connected", { here: memberList.members.filter(({ here: connected }) => connected).length, absent: memberList.members.filter(({ here: connected }) => !connected).length })),
      memberList && door(t, memberList.closed, close),
      memberList && groups(t, memberGroups(memberList, hasQuestion()), doomed, { ask: (group) => ((doomed = group), show()), remove, keep: () => ((doomed = null), show()) }),
      el("p", { className: "status", role: "status" }, status),
      el("form", { method: "dialog" }, el("button", { className: "button", key: "close" }, t("Close"))),
    );
  }

  return {
    async open() {
      memberList = doomed = null;
      status = "";
      show();
      dialog.showModal();
      await act();
    },
    close: () => dialog.close(),
  };
}

/** @param {Translate} t @param {boolean} closed @param {(closed: boolean) => void} close */
const door = (t, closed, close) =>
  el(
    "div",
    { className: "door" },
    el("p", {}, closed ? t("Nobody new can come in. Those who are in the room go on, and can come back.") : t("Whoever has the code can come in.")),
    closed ? button(t("Open again"), () => close(false)) : button(t("Close to newcomers"), () => close(true)),
  );

/**
 * @param {Translate} t @param {Group[]} some @param {Group | null} doomed
 * @param {{ask: (group: Group) => void, remove: (group: Group) => void, keep: () => void}} act
 */
function groups(t, some, doomed, { ask, remove, keep }) {
  if (!some.length) return null;
  if (doomed)
    return el(
      "div",
      { className: "sure", key: "sure" },
      el("p", {}, el("b", {}, named(t, doomed))),
      el("p", {}, t("Remove these {count}? Their answers are deleted, and the room is closed to newcomers.", { count: doomed.ids.length })),
      el("div", {}, button(t("Remove {count}", { count: doomed.ids.length }), () => remove(doomed), "strong"), button(t("Cancel"), keep)),
    );
  const row = (/** @type {Group} */ group, /** @type {number} */ n) =>
    el("li", { key: String(n) }, el("span", {}, named(t, group)), el("b", {}, String(group.ids.length)), button(t("Remove…"), () => ask(group)));
  return el("div", { className: "groups", key: "groups" }, el("h3", {}, t("Remove members")), el("ul", {}, some.map(row)));
}

/** @param {Translate} t @param {Group} group */
function named(t, { kind, minutes = 1, own: isOwnNetwork, came = [0, 0] }) {
  if (kind === "absent") return t("Not connected now");
  if (kind === "silent") return t("Have not answered this question");
  if (kind === "new") return minutes === 1 ? t("Came in the last minute") : t("Came in the last {minutes} minutes", { minutes });
  const [from, to] = came.map((seconds) => new Date(seconds * 1_000).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" }));
  const arrival = from === to ? from : `${from}–${to}`;
  return isOwnNetwork ? t("From your own network, came {when}", { when: arrival }) : t("From one network, came {when}", { when: arrival });
}

// What was presented in a room, as the items of a collection.

/** @typedef {{seq: number, at: number, link: string}} PresentedLink  at: in seconds */

/** The most items of a collection. */
const MAX_ITEMS = 50;
const HOME = "http://room";
/** What a field of a formula may hold in a link of a collection (app/lab.py). */
const NUMBER = /^[\d,. ]{1,20}$/;

/**
 * The links that were presented, without those between: of the links in a row that show the same
 * text or the same figure, the one that was on the screen for the longest time. If there are more
 * than a collection can have, the ones that were shown for the longest time.
 * @param {PresentedLink[]} states  in order
 * @param {Record<string, string[]>} collections  the links of the items of presented collections
 * @returns {{link: string, at: number}[]}  at: seconds since the beginning
 */
export function presentedLinks(states, collections = {}) {
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
  const longest = new Set([...items].sort((a, b) => b.seconds - a.seconds).slice(0, MAX_ITEMS));
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
 * @param {{handOver: () => void, members: () => void, end: () => void, room: () => RoomAccess | null}} act
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
    h("ul", {}, closing(t("Results of the questions"), () => window.open(`/teach/results#${act.room()?.code}`, "_blank", "noopener")), item(t("Save what was presented as a collection"), save)),
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
 * @param {RoomAccess} room
 */
async function keepRecord(t, api, room) {
  const { states } = await api.roomRecord(room);
  const ids = [...new Set(states.flatMap(({ link }) => link.match(/^\/c\/([a-z0-9]+)/)?.[1] ?? []))];
  const read = ids.map(async (id) => [id, (await api.readCollection(id).catch(() => ({ items: [] }))).items.map(({ link }) => link)]);
  const items = presentedLinks(states, Object.fromEntries(await Promise.all(read))).map(({ link, at: time }) => ({ link, title: "", note: t("{minutes} min after the start", { minutes: Math.round(time / 60) }) }));
  const title = t("Room {code}, {day}", { code: spelledCode(room.code), day: new Date(states[0].at * 1_000).toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" }) });
  const { id, edit_key: key } = await api.createCollection({ title, note: "", items });
  collectionKeys.remember({ id, title, key });
  return { id };
}

/** Save all answers to all questions. @param {import("../core/wire/api.js").Api} api @param {RoomCreated | null} room */
export async function saveAnswers(api, room) {
  const file = room && (await api.answersTable(room).catch(failure));
  if (file && !(file instanceof Problem)) download(file, `answers-${room.code}.csv`);
}

// What members have written is on the teacher's page only once she asks to see it, since her screen may be
// the projector. What she opened stays open in this room, also on another page.

/** @typedef {"answers" | "works" | "nicknames"} Unmoderated */

/** @param {import("../lib/i18n.js").Translate} t @param {{code: () => string, drawn: () => void}} of */
export function createUnmoderated(t, { code, drawn }) {
  /** @param {Unmoderated} kind */
  const isOpen = (kind) => lookedAt(code()).includes(kind);

  /** @param {Unmoderated} kind */
  function toggle(kind) {
    const kinds = lookedAt(code());
    setLookedAt(code(), isOpen(kind) ? kinds.filter((open) => open !== kind) : [...kinds, kind]);
    drawn();
  }

  /** @param {Unmoderated} kind @param {string} shows  the button's words while it is hidden @param {string} hides */
  const button = (kind, shows, hides) => el("button", { key: `look-${kind}`, type: "button", className: "button quiet", "aria-expanded": String(isOpen(kind)), onclick: () => toggle(kind) }, isOpen(kind) ? hides : shows);

  return {
    isOpen,
    /** @param {number} count */
    answers: (count) => button("answers", count === 1 ? t("1 answer to look at") : t("{count} answers to look at", { count }), t("Hide the answers")),
    /** @param {number} count */
    works: (count) => button("works", count === 1 ? t("1 work to look at") : t("{count} works to look at", { count }), t("Hide the works")),
    /** @param {{nickname?: string | null}[]} signed  what may have a nickname */
    nicknames: (signed) => signed.some(({ nickname }) => nickname) && button("nicknames", t("Show nicknames"), t("Hide nicknames")),
    /** @param {{nickname?: string | null}} signed */
    nameOf: ({ nickname }) => (isOpen("nicknames") && nickname) || null,
  };
}
