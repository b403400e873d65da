/**
 * Questions that a teacher wrote: a choice, an order, a text, a point on a figure, a goal for works; a
 * number is `number` of the other kinds.
 * A question has its words and options in the author's language and, if the author wrote it, in the
 * other one; which options are right is told only when it is revealed.
 */

import { cellsOf } from "./cells.js";
import { goalWords } from "./challenge-goals.js";

/** @import { Kind, Question } from "./question.js" */

/** The language of this page. */
const pageLanguage = () => (document.documentElement.lang.startsWith("zh") ? "zh" : "en");

/** Its words in the reader's language; "": the page words it. @param {Question} question */
export const wordsOf = ({ words = "", translations }) => translations?.[pageLanguage()]?.words ?? words;

/** Its words, or those of its goal; "": the page words it. @param {import("../lib/i18n.js").Translate} t @param {Question} question */
export const headingOf = (t, question) => wordsOf(question) || goalWords(t, question);

/** @param {Question} question @returns {import("./question.js").Choice[]} */
function optionsOf({ options, translations }) {
  const translated = translations?.[pageLanguage()]?.options ?? [];
  return (options ?? []).map(({ text }, i) => ({ id: String(i), label: translated[i] || text }));
}

/** Whether a teacher wrote all of it, so that no figure adds to its words. @param {Question} question */
export const isOwn = ({ kind, link, share, words }) => kind in OWN_KINDS || (kind === "number" && !link && !share && Boolean(words));

/** Whether the answer to a question can be right or wrong. @param {Question} question */
export const isJudged = ({ kind, right, cells }) => !(kind in OWN_KINDS) || (right ?? cells ?? []).length > 0;

/** What wrong options stand for, once revealed. @param {Question} question @param {string} id */
export const noteOf = ({ options }, id) => options?.[Number(id)]?.note ?? "";

/** @type {Pick<Kind, "fits" | "words" | "choices" | "reveal">} */
const written = {
  fits: () => false,
  words: async ({ question, t }) => [wordsOf(question) || t("Question")],
  choices: async ({ question }) => optionsOf(question),
  async reveal({ question, stated }) {
    const { right } = (await stated?.()) ?? question;
    return { right: (right ?? []).map(String), says: [] };
  },
};

/** @type {Record<string, Kind>} */
export const OWN_KINDS = {
  choice: { ...written, name: (t) => t("A choice"), entry: () => "choice" },
  order: { ...written, name: (t) => t("An order"), entry: () => "order" },
  point: {
    ...written,
    name: (t) => t("A point on the figure"),
    entry: () => "cell",
    choices: cellsOf,
    async reveal({ question, stated }) {
      const { cells } = (await stated?.()) ?? question;
      return { right: cells ?? [], says: [] };
    },
  },
  does: {
    ...written,
    name: (t) => t("A sentence or a head that does something"),
    entry: () => "work",
    words: async ({ question, t }) => [headingOf(t, question)],
    choices: async () => [],
  },
  open: { ...written, name: (t) => t("An answer in words"), entry: () => "text" },
};
