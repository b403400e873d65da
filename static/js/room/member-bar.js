/** What the bar of a page that follows a room says. */

import { el } from "../lib/render.js";
import { spelledCode } from "./bar.js";
import { ownNickname, ownRooms, setOwnNickname } from "./room-storage.js";

/** @import { RoomState } from "../core/wire/subject-requests.js" */
/** @import { PageContext } from "../core/figure/types.js" */
/** @import { Translate } from "../lib/i18n.js" */

const MAX_NICKNAME = 40;

/**
 * @typedef {object} Following
 * @property {string} code
 * @property {boolean} screen  whether it is a second screen
 * @property {boolean} exploring
 * @property {string | null} ended  what is said of its end; null: it goes on
 * @property {boolean} isLost  whether the connection is broken
 * @property {boolean} isMade  whether what is presented was made by this member
 * @property {RoomState | null} last
 */

/** @param {Pick<PageContext, "t" | "phrase">} page @param {Pick<import("./room.js").Presentable, "says">} presented @param {Following} following */
export function memberMessage({ t, phrase }, presented, { code, screen, exploring, ended, isLost, isMade, last }) {
  const name = spelledCode(code);
  const dot = el("span", { className: "live-dot", "aria-hidden": "true" });
  if (ended) return el("p", { className: "says", role: "status" }, ended);
  if (isLost) return el("p", { className: "says" }, t("Connecting to room {code}…", { code: name }));
  const thanks = last?.picked && !exploring && el("p", { key: "thanks", className: screen ? "thanks" : "says thanks" }, thanked(t, last.picked, isMade));
  if (screen) return [el("p", { className: "says" }, dot, " ", phrase(t("Join at {address} with the code {code}"), { address: el("b", {}, joinAddress(code)), code: el("b", {}, name) })), thanks];
  if (thanks) return thanks;
  if (last?.paused) return el("p", { className: "says" }, t("Your teacher has paused exploring. Look at what the class sees."));
  if (exploring && last) return el("p", { className: "says" }, phrase(t("The class: {what}"), { what: el("b", {}, presented.says(last.link)) }));
  return el("p", { className: "says" }, dot, " ", phrase(t("Following room {code}"), { code: el("b", {}, name) }));
}

/**
 * Where the class joins, as the server names itself to others: the teacher's screen may be at an address
 * that only this computer knows. Another computer's screen got here by one that others know.
 * @param {string} code
 */
function joinAddress(code) {
  const url = ownRooms().find((room) => room.code === code)?.url;
  return `${url ? new URL(url).host : window.location.host}/room`;
}

/** Whose work the class looks at, with a word of thanks. @param {Translate} t @param {NonNullable<RoomState["picked"]>} picked @param {boolean} isMade */
function thanked(t, picked, isMade) {
  const words = picked.words || t("Thank you!");
  return isMade ? t("The class looks at what you made. {words}", { words }) : t("Made by a student of this class. {words}", { words });
}

/** That the teacher sees what is explored, with a field for a nickname if she asked for it. @param {Translate} t @param {RoomState | null} state @param {() => void} changed */
export function seenNote(t, state, changed) {
  const wall = state?.wall ?? "closed";
  if (!state || wall === "closed" || state.paused) return null;
  const name = t("Nickname (optional, for the teacher)");
  const oninput = (/** @type {any} */ { target }) => (setOwnNickname(target.value), changed());
  const field = el("input", { type: "text", maxLength: MAX_NICKNAME, autocomplete: "nickname", placeholder: name, "aria-label": name, value: ownNickname(), oninput });
  return el("div", { className: "crowd seen", key: "seen" }, t("Your teacher sees what you explore."), wall === "named" && field);
}
