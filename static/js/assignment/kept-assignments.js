/** The assignments that this browser created, and what it has answered in others. */

import { keep, keptDocument, keptKeys } from "../lib/browser.js";

/**
 * @typedef {object} Work  what a student has done in an assignment
 * @property {string} member  a random token: the same student after a reload
 * @property {string} nickname
 * @property {(string[] | null)[]} answers  one per question
 * @property {boolean[]} sent  whether the model's answer may be shown, per question
 */

const workOf = (/** @type {string} */ id) => `assignment-work-${id}`;

export const assignmentKeys = keptKeys("assignments");

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
