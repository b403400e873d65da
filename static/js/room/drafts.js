/**
 * What a member has entered for the questions of a room, sent or not. A question covers and uncovers
 * the page, is asked again, and goes on at another page: whatever the presenter does, and after a
 * reload, the entered answer is offered again when its question is. It is kept until the question is
 * revealed; a sentence that was sent is not offered for the next one.
 */

/** @import { QuestionReply } from "../core/wire/schemas.d.ts" */
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
