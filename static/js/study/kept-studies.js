/** The studies that this browser created, and its part in others. */

import { keep, keptDocument, keptKeys } from "../lib/browser.js";

/**
 * @typedef {object} Part  what a participant has done in a study
 * @property {string} member  a random token: the same participant after a reload
 * @property {boolean} read  whether the pages between the tests were read
 * @property {(number | null)[]} answers  to the test that is open, not sent yet
 */

export const studyKeys = keptKeys("studies");

const partOf = (/** @type {string} */ id) => `study-part-${id}`;

/** @param {string} id @returns {Part | null}  null: this browser does not take part yet */
export function partIn(id) {
  const stored = keptDocument(partOf(id));
  return typeof stored?.member === "string" ? { read: false, answers: [], ...stored } : null;
}

/** @param {string} id @param {Part} part */
export const keepPart = (id, part) => keep(partOf(id), JSON.stringify(part));
