/** The assignments that this browser created, and what it has answered in others. */

import { keep, keptDocument } from "../lib/browser.js";

/** @typedef {{id: string, title: string, key: string}} OwnAssignment */
/**
 * @typedef {object} Work  what a student has done in an assignment
 * @property {string} member  a random token: the same student after a reload
 * @property {string} nickname
 * @property {(string[] | null)[]} answers  one per question
 * @property {boolean[]} sent  whether the model's answer may be shown, per question
 */

const LIST = "assignments";
const LONGEST = 100;
const workOf = (/** @type {string} */ id) => `assignment-work-${id}`;

/** What this browser created, with its keys. @param {string} name  of the list in this browser */
export function keptKeys(name) {
  /** @returns {OwnAssignment[]}  the one that was used last first */
  function all() {
    const stored = keptDocument(name);
    return Array.isArray(stored) ? stored.filter((entry) => entry?.id && entry.key) : [];
  }
  return {
    all,
    /** @param {string} id @returns {string}  "": not known here */
    keyOf: (id) => all().find((entry) => entry.id === id)?.key ?? "",
    /** @param {OwnAssignment} entry */
    remember: (entry) => keep(name, JSON.stringify([entry, ...all().filter(({ id }) => id !== entry.id)].slice(0, LONGEST))),
    /** @param {string} id */
    forget: (id) => keep(name, JSON.stringify(all().filter((entry) => entry.id !== id))),
  };
}

const assignmentKeys = keptKeys(LIST);
export const ownAssignments = assignmentKeys.all;
export const assignmentKey = assignmentKeys.keyOf;
export const rememberAssignment = assignmentKeys.remember;
export const forgetAssignment = assignmentKeys.forget;

/**
 * @param {string} id
 * @param {number} count  of questions
 * @param {() => string} token  makes a random one
 * @returns {Work}
 */
export function workIn(id, count, token) {
  const stored = keptDocument(workOf(id));
  const [answers, sent] = [stored?.answers, stored?.sent];
  if (typeof stored?.member === "string" && answers?.length === count && sent?.length === count) return { nickname: "", ...stored };
  return { member: token(), nickname: "", answers: Array(count).fill(null), sent: Array(count).fill(false) };
}

/** @param {string} id @param {Work} work */
export const keepWork = (id, work) => keep(workOf(id), JSON.stringify(work));
