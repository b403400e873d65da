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

/** @returns {OwnAssignment[]}  the one that was used last first */
export function ownAssignments() {
  const stored = keptDocument(LIST);
  return Array.isArray(stored) ? stored.filter((assignment) => assignment?.id && assignment.key) : [];
}

/** @param {string} id @returns {string}  "": not known here */
export const assignmentKey = (id) => ownAssignments().find((assignment) => assignment.id === id)?.key ?? "";

/** @param {OwnAssignment} assignment */
export const rememberAssignment = (assignment) => keep(LIST, JSON.stringify([assignment, ...ownAssignments().filter(({ id }) => id !== assignment.id)].slice(0, LONGEST)));

/** @param {string} id */
export const forgetAssignment = (id) => keep(LIST, JSON.stringify(ownAssignments().filter((assignment) => assignment.id !== id)));

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
