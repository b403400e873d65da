/**
 * What the bar of a page in a room says and offers: of a page that presents, with the code of the room and
 * the link for someone else who presents, and of a page that follows.
 */

import { wording } from "../core/figure/problem-wording.js";
import { isLocal } from "../core/page/short-link.js";
import { currentUrl, readFragment, writeFragment } from "../core/store/address.js";
import { copyText } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { ownNickname, ownRooms, setOwnNickname, setPresentedRoom } from "./room-storage.js";

/** @import { PageContext } from "../core/figure/types.js" */
/** @import { RoomState } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

// The code of a room in large letters with its QR code, and the form of a code as it is shown.

/** A code in two groups, which is easier to read aloud. @param {string} code */
export const spelledCode = (code) => code.toUpperCase().replace(/^(...)(...)$/, "$1 $2");

/** @param {Pick<import("../core/figure/types.js").PageContext, "t" | "phrase">} page */
export function createCodeDialog({ t, phrase }) {
  const dialog = h("dialog", { className: "qr room-code", "aria-label": t("Join the room") });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);

  return {
    /** @param {import("../core/wire/schemas.d.ts").RoomCreated} room */
    open({ code, url }) {
      const { host, hostname } = new URL(url);
      render(
        dialog,
        el("p", { className: "where" }, phrase(t("Open {address} and type the code"), { address: el("b", {}, `${host}/room`) })),
        el("p", { className: "code" }, spelledCode(code)),
        el("img", { src: `/api/qr?${new URLSearchParams({ text: url })}`, alt: t("QR code of the link below") }),
        el("p", { className: "link" }, url),
        isLocal(hostname) && el("p", { className: "local" }, t("This address works on this computer only. Open Headlight at its network address, then show the code.")),
        el("form", { method: "dialog" }, el("button", { className: "button", autofocus: true }, t("Close"))),
      );
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}

/**
 * @typedef {object} BarState
 * @property {import("../core/wire/requests-by-subject.js").RoomAccess} room
 * @property {boolean} handed  whether someone presents from the driver's seat
 * @property {boolean} closed  whether the room is closed to newcomers
 * @property {boolean} away  whether the teacher looks at something else meanwhile
 * @property {boolean} holding  whether the class keeps what it saw, while the teacher prepares
 * @property {boolean} paused  whether nobody explores
 * @property {boolean} shows  whether a member's work is presented
 * @property {boolean} ending  whether the end is being confirmed
 * @property {boolean} [apart]  whether this is a page that a room cannot be shown
 * @property {"none" | "any" | "own"} asks  which questions can be asked now; own: also the one on
 *   the screen
 * @property {import("../core/wire/schemas.d.ts").ClassReply | null} counts
 * @property {import("../core/wire/reply.js").Problem | null} problem
 * @property {HTMLElement} menu
 */
/** What every page of a teacher can do. @typedef {{code: () => void, back: () => void, end: () => void, keep: () => void, save: () => void}} RoomActions */
/** @typedef {RoomActions & {ask: () => void, askOwn: () => void, takeBack: () => void, hold: (holds: boolean) => void, pause: (paused: boolean) => void, wall: () => void, unpick: () => void}} BarActions */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t" | "phrase">} page
 * @param {BarState} state
 * @param {RoomActions} actions  of a page that presents, BarActions
 */
export function barContent({ t, phrase }, state, actions) {
  const { room, handed, holding, shows, closed, ending, counts, problem, apart } = state;
  const message = apart ? t("Room {code} does not see this page") : holding ? t("Room {code} keeps what it saw; only you see this page") : room.driver ? t("You present in room {code}") : handed ? t("Someone else presents in room {code}") : shows ? t("Room {code} sees a student’s work") : t("Presenting in room {code}");
  return [
    el("p", { className: "says" }, el("span", { className: "live-dot", "aria-hidden": "true" }), " ", phrase(message, { code: el("b", {}, spelledCode(room.code)) })),
    el("p", { className: "crowd" }, problem ? wording(t, problem) : [counted(t, counts), closed && counts && el("b", { className: "closed" }, t("closed to newcomers"))]),
    el("div", { className: "room-buttons" }, ending ? sure(t, actions) : apart ? [button(t("Back to the class"), actions.back, "strong"), button(t("Code"), actions.code), !room.driver && state.menu] : presentingButtons(t, state, /** @type {BarActions} */ (actions))),
  ];
}

/** @param {import("../lib/i18n.js").Translate} t @param {BarState} state @param {BarActions} actions */
const presentingButtons = (t, state, actions) => (state.room.driver ? button(t("Stop presenting"), actions.takeBack) : offered(t, state, actions));

/** @param {import("../lib/i18n.js").Translate} t @param {RoomActions} actions */
const sure = (t, { end, keep, save }) => [
  el("span", {}, t("End the room for everyone? Its answers are deleted.")),
  button(t("Download the answers (CSV)"), save),
  button(t("End it"), end, "strong"),
  button(t("Keep it open"), keep),
];

/** @param {import("../lib/i18n.js").Translate} t @param {BarState} state @param {BarActions} actions */
const offered = (t, { handed, away, holding, paused, shows, asks, menu }, actions) => [
  holding && button(t("Show the class"), () => actions.hold(false), "strong"),
  handed && button(t("Take over"), actions.takeBack, "strong"),
  away && button(t("Back to the class"), actions.back),
  shows && !handed && button(t("Back to yours"), actions.unpick, "strong"),
  asks === "own" && button(t("Ask this question"), actions.askOwn, holding ? "quiet" : "strong"),
  asks !== "none" && button(t("Ask…"), actions.ask),
  !holding && !handed && button(t("Hold"), () => actions.hold(true)),
  paused ? button(t("Let them explore"), () => actions.pause(false), "strong") : button(t("Pause exploring"), () => actions.pause(true)),
  button(t("See their work"), actions.wall),
  button(t("Code"), actions.code),
  menu,
];

/** @param {import("../lib/i18n.js").Translate} t @param {BarState["counts"]} counts */
function counted(t, counts) {
  if (!counts) return "";
  const { following, in_step: step, exploring } = counts;
  if (!following && !exploring) return t("Nobody is here yet");
  return t("{step} of {following} in step, {exploring} exploring", { step, following, exploring });
}

/** @param {string} words @param {() => void} onclick @param {"strong" | "quiet"} [kind] */
export const button = (words, onclick, kind = "quiet") => el("button", { type: "button", className: `button ${kind}`, key: words, onclick }, words);

// What the bar of a page that follows a room says.

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

// The driver's seat: with a link from the teacher, someone else presents on their own page, until the
// teacher takes the seat back. The key is in the link's fragment, which no server sees.

const WORD = "drive";

/**
 * If the address has the key of a seat, take it out of the address, keep it in this tab, and open
 * what the room shows as a page that presents.
 * @param {DOMStringMap} dataset  of a page in a room
 * @returns {boolean}  whether this page is being left
 */
export function takeHandover({ room: code, roomLink = "/" }) {
  const [word, key] = readFragment(window).split("=");
  if (!code || word !== WORD || !key) return false;
  writeFragment(window, "");
  setPresentedRoom({ code, url: currentUrl(window), key, driver: true });
  window.location.replace(inOwnLanguage(roomLink));
  return true;
}

/** A link to a page, in the language of this one. @param {string} link */
export function inOwnLanguage(link) {
  const url = new URL(link, window.location.origin);
  url.searchParams.set("lang", document.documentElement.lang);
  return String(url);
}

/** @param {Pick<import("../core/figure/types.js").PageContext, "t">} page */
export function createHandoverDialog({ t }) {
  const dialog = h("dialog", { className: "qr seat", "aria-label": t("Let someone else present") });
  let picture = "";
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", forget);
  document.body.append(dialog);

  function forget() {
    if (picture) URL.revokeObjectURL(picture);
    picture = "";
    render(dialog);
  }

  /** @param {string} url @param {boolean} [copied] */
  function show(url, copied) {
    render(
      dialog,
      el("p", { className: "where" }, t("Whoever opens this link presents in your place.")),
      el("p", { className: "local" }, t("Show it to one person only, not on the projector. You can take over again at any time.")),
      el("img", { src: picture, alt: t("QR code of the link below") }),
      el("p", { className: "link" }, url),
      el("form", { method: "dialog" }, el("button", { type: "button", className: "button", key: "copy", onclick: async () => show(url, await copyText(url)) }, copied ? t("Copied.") : t("Copy")), " ", el("button", { key: "close", className: "button", autofocus: true }, t("Close"))),
    );
  }

  return {
    /** @param {{url: string, qr: string}} link */
    open({ url, qr }) {
      picture = URL.createObjectURL(new Blob([qr], { type: "image/svg+xml" }));
      show(url);
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}
