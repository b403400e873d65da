/** The assignments that this browser created, and what it has answered in others. */

import { keep, keptDocument } from "../lib/browser.js";

/** @typedef {{id: string, title: string, key: string}} Own */
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

/** @returns {Own[]}  the one that was used last first */
export function ownAssignments() {
  const found = keptDocument(LIST);
  return Array.isArray(found) ? found.filter((one) => one?.id && one.key) : [];
}

/** @param {string} id @returns {string}  "": not known here */
export const assignmentKey = (id) => ownAssignments().find((one) => one.id === id)?.key ?? "";

/** @param {Own} one */
export const rememberAssignment = (one) => keep(LIST, JSON.stringify([one, ...ownAssignments().filter(({ id }) => id !== one.id)].slice(0, LONGEST)));

/** @param {string} id */
export const forgetAssignment = (id) => keep(LIST, JSON.stringify(ownAssignments().filter((one) => one.id !== id)));

/**
 * @param {string} id
 * @param {number} count  of questions
 * @param {() => string} token  makes a random one
 * @returns {Work}
 */
export function workIn(id, count, token) {
  const found = keptDocument(workOf(id));
  const [answers, sent] = [found?.answers, found?.sent];
  if (typeof found?.member === "string" && answers?.length === count && sent?.length === count) return { nickname: "", ...found };
  return { member: token(), nickname: "", answers: Array(count).fill(null), sent: Array(count).fill(false) };
}

/** @param {string} id @param {Work} work */
export const keepWork = (id, work) => keep(workOf(id), JSON.stringify(work));
