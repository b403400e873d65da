/** Works for a goal: links of the workspace, of which only what may be chosen counts. */

import { DEFAULTS, mergeStates, parse } from "../core/store/link.js";
import { el } from "../lib/dom.js";
import { goalWords, ruleSentences } from "./challenge-goals.js";
import { wordsOf } from "./own-questions.js";

/** @import { Translate } from "../lib/i18n.js" */
/** @import { Question } from "./question.js" */

/** Characters of a work's link. */
export const MAX_LINK = 2_000;
/** Characters of a typed sentence. */
export const MAX_SENTENCE = 400;

/** What a page shows as a link of the workspace; null: no sentence. @param {string} link */
export function workLink(link) {
  const { search } = new URL(link, "http://room");
  const query = new URLSearchParams(search).get("shows") ?? search.slice(1);
  const work = `/?${new URLSearchParams(query)}`;
  return new URLSearchParams(query).get("source")?.trim() && work.length <= MAX_LINK ? work : null;
}

/** The question's own figure with another sentence. @param {Question} question @param {string} sentence */
export function withSentence({ link }, sentence) {
  const query = new URLSearchParams(link);
  query.set("source", sentence);
  for (const name of ["target", "query", "key"]) query.delete(name);
  return `/?${query}`;
}

/** The sentence of a question or of a work. @param {{link: string}} of */
export const originalOf = ({ link }) => mergeStates(DEFAULTS, parse(link.replace("/?", ""))).source;

/** What is asked, below its heading, which says the goal if the teacher has not written another. @param {Translate} t @param {Question} question */
export function goalList(t, question) {
  const sentences = [wordsOf(question) && goalWords(t, question), ...ruleSentences(t, question)].filter(Boolean);
  return el("ul", { key: "goal", className: "goal", hidden: !sentences.length }, sentences.map((sentence, i) => el("li", { key: i }, sentence)));
}
