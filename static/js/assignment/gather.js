/** The questions that links ask, and the model's answers to them. */

import { KINDS } from "../ask/kinds.js";
import { ask, answerSources } from "../ask/question.js";
import { Problem } from "../core/wire/problem.js";
import { format } from "../core/store/link.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { Api } from "../core/wire/api.js" */
/** @import { Question } from "../ask/question.js" */

const COLLECTION = /^(?:https?:\/\/[^/]+)?(?:\/[^?#]*)?\/c\/(\w+)/;

/**
 * The questions of a lesson, of a share that asks, or of everything in a collection.
 * @param {Api} api
 * @param {string} link
 * @param {string} lang
 * @returns {Promise<{title: string, questions: Question[]}>}  throws a Problem
 */
export async function questionsOf(api, link, lang) {
  const [, id] = link.trim().match(COLLECTION) ?? [];
  if (!id) return ofLink(api, link, lang);
  const { title, items } = await api.readCollection(id);
  const found = await Promise.all(items.map((item) => ofLink(api, item.link, lang).catch(() => ({ questions: [] }))));
  return { title, questions: found.flatMap(({ questions }) => questions) };
}

/** @param {Api} api @param {string} link @param {string} lang */
async function ofLink(api, link, lang) {
  const { title, questions = [] } = await api.link(link, lang);
  return { title, questions: await Promise.all(questions.map((one) => placed(api, one))) };
}

/** With the place that it is about; a share opens on it. @param {Api} api @param {Question} question @returns {Promise<Question>} */
async function placed(api, question) {
  if (!question.share || question.link) return question;
  const opened = await answerSources(api, question.share).source.open?.(linkTo());
  return { ...question, link: opened?.link ? format(opened.link, OPTIONS) : "" };
}

/**
 * A question as it is sent, with the model's answer.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {Api} api
 * @param {Question} question
 */
export async function withTruth(page, api, question) {
  const kind = KINDS[question.kind];
  if (!kind) throw new Problem("unsupported");
  const { right = [], numbers = [] } = await kind.reveal(ask(page, answerSources(api, question.share), question));
  const { within } = question;
  return { entry: kind.entry(question), ask: question, truth: { right, numbers: [...numbers], ...(typeof within === "number" ? { within } : {}) } };
}
