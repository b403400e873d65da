/** The ways to enter an answer. */

import { choiceEntry } from "./entry-choice.js";
import { numbersEntry } from "./entry-numbers.js";
import { sharesEntry } from "./entry-shares.js";

/** @import { Answer, Choice, Question, Revealed } from "./question.js" */
/**
 * @typedef {object} Shown  what is drawn
 * @property {import("../lib/i18n.js").Translate} t
 * @property {Question} question
 * @property {Choice[]} choices
 * @property {Answer} answer  of the reader, possibly incomplete
 * @property {Revealed | null} found  null: not revealed yet
 * @property {Answer[] | null} tally  the answers of a class; null: none are shown
 * @property {boolean} fixed  whether the answer can no longer be changed
 * @property {(answer: Answer) => void} change
 */
/**
 * @typedef {object} Entry
 * @property {(answer: Answer, choices: Choice[]) => boolean} complete
 * @property {(answer: Answer, found: Revealed, question: Question) => boolean} right
 * @property {(answer: Answer, found: Revealed, t: Shown["t"]) => string} [says]  how near it was
 * @property {(shown: Shown) => import("../lib/render.js").Child[]} draw
 */

/** @type {Record<"choice" | "numbers" | "shares", Entry>} */
export const ENTRIES = { choice: choiceEntry, numbers: numbersEntry, shares: sharesEntry };
