/** Requests about assignments: questions with a link, answered in one's own time. */

import { cut, json } from "./reply.js";

/** @import { Entry, Results } from "./rooms.js" */
/** @typedef {{kind: string, link: string, words?: string, share?: string, page?: string, value?: number}} Asked  a question of the page */
/** @typedef {{right?: string[], numbers?: number[], within?: number}} Truth */
/** @typedef {{entry: Entry, ask: Asked}} Assigned  a question as students get it */
/** @typedef {{title: string, note: string, questions: (Assigned & {truth: Truth})[], reveal: "each" | "end", nicknames: boolean}} NewAssignment */
/** @typedef {{id: string, url: string, title: string, note: string, created: string, questions: Assigned[], reveal: "each" | "end", nicknames: boolean}} Assignment */
/** @typedef {{id: string, url: string, key: string, owner_url: string, expires: string}} MadeAssignment */
/** @typedef {{members: number, results: Results[]}} Summary  results: one per question */
/** @typedef {{member: string, nickname?: string, answers: (string[] | null)[]}} Submission */

const JSON_TYPE = "application/json";
const path = (/** @type {string} */ id) => `/api/assignments/${encodeURIComponent(id)}`;
const bearer = (/** @type {string} */ token) => ({ headers: { Authorization: `Bearer ${encodeURIComponent(token)}` } });

/** @param {import("./connection.js").Connection} connection */
export function assignments({ ask, read, send }) {
  return {
    /** @param {NewAssignment} wanted @returns {Promise<MadeAssignment>} */
    createAssignment: async (wanted) => json(await send("/api/assignments", wanted, JSON_TYPE)),

    /** Read the questions, with the numbers that are revealed to the owner of a token. @param {string} id @param {string} [token]  the key, or that of a student @returns {Promise<Assignment>} */
    readAssignment: async (id, token) => (token ? json(await ask(path(id), bearer(token))) : read(path(id))),

    /** Send a student's answers, instead of those sent before. @param {string} id @param {Submission} submission */
    submitAnswers: async (id, submission) => void (await send(`${path(id)}/answers`, submission, JSON_TYPE)),

    /** @param {string} id @param {string} key @returns {Promise<Summary>} */
    sumUpAnswers: async (id, key) => json(await ask(`${path(id)}/answers`, bearer(key))),

    /** Answers as CSV: all of them, or a student's own. @param {string} id @param {string} token  the key, or that of a student */
    assignmentTable: async (id, token) => (await ask(`${path(id)}/answers.csv`, bearer(token))).blob().catch(cut),

    /** @param {string} id @param {string} key */
    deleteAssignment: async (id, key) => void (await ask(path(id), { method: "DELETE", ...bearer(key) })),
  };
}
