/**
 * What a browser remembers of rooms: its random token as a member, the rooms that it opened with
 * their keys, which of them this tab presents in, and what its member has entered for questions.
 */

import { randomToken } from "../lib/browser.js";

/** @import { QuestionReply, RoomCreated } from "../core/wire/schemas.d.ts" */
/** @import { RoomAccess } from "../core/wire/requests-by-subject.js" */

const [MEMBER, ROOMS, PRESENTING, NICKNAMES, NICKNAME, DRAFTS, QUESTION, HOLDING, PICKED, EXPLORED, LOOKED_AT] = ["room-member", "rooms", "room-presenting", "room-nicknames", "room-nickname", "room-drafts", "room-question", "room-held", "room-picked", "room-explored", "room-looked-at"];
const MAX_ROOMS = 8;
/** Rooms whose drafts are kept. */
const MAX_DRAFTED = 4;
/** Without storage, what is remembered until the page is left. @type {Map<string, string>} */
const memory = new Map();

/** @param {"localStorage" | "sessionStorage"} storage @param {string} name */
function read(storage, name) {
  try {
    return window[storage].getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** @param {"localStorage" | "sessionStorage"} storage @param {string} name @param {string | null} value */
function write(storage, name, value) {
  if (value === null) memory.delete(name);
  else memory.set(name, value);
  try {
    if (value === null) window[storage].removeItem(name);
    else window[storage].setItem(name, value);
  } catch {
    // It stays in memory.
  }
}

/** The same after a reload, so that a student is counted once. @returns {string} */
export function memberToken() {
  const stored = read("localStorage", MEMBER);
  if (stored && /^[a-z0-9]{8,64}$/.test(stored)) return stored;
  const token = randomToken();
  write("localStorage", MEMBER, token);
  return token;
}

/** The rooms that this browser opened, the newest first. @returns {RoomCreated[]} */
export function ownRooms() {
  try {
    const stored = JSON.parse(read("localStorage", ROOMS) ?? "[]");
    return Array.isArray(stored) ? stored.filter((room) => room?.code && room.key && room.url) : [];
  } catch {
    return [];
  }
}

/** @param {RoomCreated} room */
export function rememberRoom(room) {
  const otherRooms = ownRooms().filter(({ code }) => code !== room.code);
  write("localStorage", ROOMS, JSON.stringify([room, ...otherRooms].slice(0, MAX_ROOMS)));
}

/** @param {string} code */
export function forgetRoom(code) {
  write("localStorage", ROOMS, JSON.stringify(ownRooms().filter((room) => room.code !== code)));
}

/** The room that this tab presents in, also after a reload. @returns {RoomAccess | null} */
export function presentedRoom() {
  try {
    const stored = JSON.parse(read("sessionStorage", PRESENTING) ?? "null");
    return stored?.code && stored.key && stored.url ? stored : null;
  } catch {
    return null;
  }
}

/** @param {RoomAccess | null} room */
export const setPresentedRoom = (room) => write("sessionStorage", PRESENTING, room && JSON.stringify(room));

const exploringIn = (/** @type {string} */ code) => `room-exploring-${code}`;

/** Whether this tab has let go of a room, also after a reload. @param {string} code */
export const isExploring = (code) => read("sessionStorage", exploringIn(code)) === "1";

/** @param {string} code @param {boolean} exploring */
export const setExploring = (code, exploring) => write("sessionStorage", exploringIn(code), exploring ? "1" : null);

/** Whether this tab prepares something while the class keeps what it saw. @param {string} code */
export const isHeld = (code) => read("sessionStorage", HOLDING) === code;

/** @param {string} code @param {boolean} holding */
export const setHeld = (code, holding) => write("sessionStorage", HOLDING, holding ? code : null);

/**
 * The member's work that this tab presents, on the page where it was opened; null: none.
 * @param {string} code @returns {{id: string, words: string} | null}
 */
export function pickedWork(code) {
  const stored = JSON.parse(read("sessionStorage", PICKED) ?? "null");
  return stored?.code === code && stored.path === window.location.pathname ? stored.picked : null;
}

/** @param {string} code @param {{id: string, words: string} | null} picked @param {string} [path]  of the page that shows it */
export const setPickedWork = (code, picked, path = window.location.pathname) => write("sessionStorage", PICKED, picked && JSON.stringify({ code, path, picked }));

const workIn = (/** @type {string} */ code) => `room-work-${code}`;

/** The entry on a room's wall that this tab sent last, also after a reload; "": none. @param {string} code */
export const sentWork = (code) => read("sessionStorage", workIn(code)) ?? "";

/** @param {string} code @param {string} id */
export const setSentWork = (code, id) => write("sessionStorage", workIn(code), id);

/** What this tab explored when the teacher paused; null: nothing. @param {string} code @returns {string | null} */
export function exploredLink(code) {
  const stored = JSON.parse(read("sessionStorage", EXPLORED) ?? "null");
  return stored?.code === code ? stored.link : null;
}

/** @param {string} code @param {string | null} link */
export const setExploredLink = (code, link) => write("sessionStorage", EXPLORED, link && JSON.stringify({ code, link }));

/** What of the members' words this tab shows in a room, also on another page. @param {string} code @returns {string[]} */
export function lookedAt(code) {
  const stored = JSON.parse(read("sessionStorage", LOOKED_AT) ?? "null");
  return stored?.code === code ? stored.kinds : [];
}

/** @param {string} code @param {string[]} kinds */
export const setLookedAt = (code, kinds) => write("sessionStorage", LOOKED_AT, JSON.stringify({ code, kinds }));

/** Whether this tab's questions ask for nicknames. */
export const asksNicknames = () => read("sessionStorage", NICKNAMES) === "1";

/** @param {boolean} asks */
export const setAsksNicknames = (asks) => write("sessionStorage", NICKNAMES, asks ? "1" : null);

/** The student's nickname in this tab, "" without one. */
export const ownNickname = () => read("sessionStorage", NICKNAME) ?? "";

/** @param {string} nickname */
export const setOwnNickname = (nickname) => write("sessionStorage", NICKNAME, nickname || null);

/** What is stored for each room, the newest last. @returns {[code: string, drafts: Drafts][]} */
function allDrafts() {
  try {
    return Object.entries(JSON.parse(read("localStorage", DRAFTS) ?? "{}") ?? {});
  } catch {
    return [];
  }
}

/** Where what is entered in a room is kept, also when a phone has closed its page. @param {string} code @returns {DraftStorage} */
export const draftStorage = (code) => ({
  read: () => allDrafts().find(([name]) => name === code)?.[1] ?? {},
  write(drafts) {
    const otherDrafts = allDrafts().filter(([name]) => name !== code);
    write("localStorage", DRAFTS, JSON.stringify(Object.fromEntries([...otherDrafts, [code, drafts]].slice(-MAX_DRAFTED))));
  },
});

/** @param {string} code */
export function forgetDrafts(code) {
  const otherDrafts = allDrafts().filter(([name]) => name !== code);
  write("localStorage", DRAFTS, otherDrafts.length ? JSON.stringify(Object.fromEntries(otherDrafts)) : null);
}

/** The question that the teacher is writing, also on another page. @returns {import("../ask/own-question-form.js").QuestionDraft | null} */
export function questionDraft() {
  try {
    const stored = JSON.parse(read("sessionStorage", QUESTION) ?? "null");
    return Array.isArray(stored?.options) ? stored : null;
  } catch {
    return null;
  }
}

/** @param {import("../ask/own-question-form.js").QuestionDraft | null} draft */
export const setQuestionDraft = (draft) => write("sessionStorage", QUESTION, draft && JSON.stringify(draft));

// What a member has entered for the questions of a room, sent or not. A question covers and uncovers the
// page, is asked again, and goes on at another page: whatever the presenter does, and after a reload, the
// entered answer is offered again when its question is. It is kept until the question is revealed; a
// sentence that was sent is not offered for the next one.

/**
 * @typedef {object} Draft
 * @property {number} n  the question in which it was entered last
 * @property {string[]} answer  possibly incomplete
 * @property {string} sent  what was sent last: stage, answer and nickname; "": nothing
 * @property {boolean} over  whether another question of the same words begins without it
 */
/** The drafts of a room by question, the newest last. @typedef {Record<string, Draft>} Drafts */
/** @typedef {{read: () => Drafts, write: (drafts: Drafts) => void}} DraftStorage */
/** @typedef {Pick<QuestionReply, "n" | "entry" | "ask">} DraftedQuestion */

/** Questions of a room whose drafts are kept. */
const MAX_DRAFTS = 60;

/** Two numbers of 32 bits from a text (FNV-1a): a short name for a long question. @param {string} text */
function digest(text) {
  const half = (/** @type {number} */ basis) => [...text].reduce((hash, sign) => Math.imul(hash ^ /** @type {number} */ (sign.codePointAt(0)), 0x01000193) >>> 0, basis).toString(36);
  return `${half(0x811c9dc5)}-${half(0x2166136)}`;
}

/** What a question is, whenever it is asked: its number and its answer do not matter. @param {DraftedQuestion} question */
export function identity({ entry, ask: { value: _value, within: _within, right: _right, cells: _cells, ...about } }) {
  return digest(JSON.stringify([entry, ...Object.entries(about).sort(([a], [b]) => (a < b ? -1 : 1))]));
}

/** @param {DraftStorage} storage */
export function createDrafts(storage) {
  /** @param {DraftedQuestion} question @returns {Draft | null}  what is offered for the question */
  function offered(question) {
    const draft = storage.read()[identity(question)];
    return draft && (draft.n === question.n || !draft.over) ? draft : null;
  }

  /** @param {DraftedQuestion} question @param {Partial<Draft>} changes */
  function change(question, changes) {
    const { n } = question;
    const { [identity(question)]: _former, ...otherDrafts } = storage.read();
    const before = offered(question);
    const draft = { answer: before?.answer ?? [], sent: "", over: false, ...(before?.n === n ? before : {}), n, ...changes };
    storage.write(Object.fromEntries([...Object.entries(otherDrafts), [identity(question), draft]].slice(-MAX_DRAFTS)));
  }

  return {
    offered,
    /** @param {DraftedQuestion} question @param {string[]} answer */
    enter: (question, answer) => change(question, { answer, ...(question.entry === "text" ? { over: false } : {}) }),
    /** @param {DraftedQuestion} question @param {string} sent */
    send: (question, sent) => change(question, { sent, ...(question.entry === "text" ? { over: true } : {}) }),
    /** What was sent to the question itself; "": nothing. @param {DraftedQuestion} question */
    sent(question) {
      const draft = offered(question);
      return draft?.n === question.n ? draft.sent : "";
    },
    /** The question is revealed. @param {DraftedQuestion} question */
    close(question) {
      const draft = offered(question);
      if (draft && !draft.over) change(question, { over: true });
    },
  };
}
