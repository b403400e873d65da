/** Who is in a room: its teacher closes it to newcomers, and removes members. */

import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { button } from "./bar.js";

/** @import { RoomCreated, MembersReply } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

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
export function groupsOf({ members, network, at: now }, hasQuestion) {
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

  const close = (/** @type {boolean} */ closed) => act(async (of) => (await api.closeRoom(of, closed), ""));
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
      memberList && groups(t, groupsOf(memberList, hasQuestion()), doomed, { ask: (group) => ((doomed = group), show()), remove, keep: () => ((doomed = null), show()) }),
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
