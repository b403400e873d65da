/** A new assignment: questions are taken from links, and the model's answers to them are computed once. */

import { KINDS, contextOf } from "../ask/question-kinds.js";
import { wordsOf } from "../ask/own-questions.js";
import { answerSources, ask, placeIn } from "../ask/question.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { COLLECTION_ADDRESS, collectionKeys } from "../core/page/own-collections.js";
import { assignmentKeys } from "./owned-pages.js";

/** @import { Api } from "../core/wire/api.js" */
/** @import { Question } from "../ask/question.js" */

/**
 * The questions of a lesson, of a share that asks, or of everything in a collection; with its edit
 * key, also those that its owner wrote.
 * @param {Api} api
 * @param {string} link
 * @param {string} lang
 * @returns {Promise<{title: string, questions: Question[]}>}  throws a Problem
 */
export async function questionsOf(api, link, lang) {
  const [, id] = link.trim().match(COLLECTION_ADDRESS) ?? [];
  if (!id) return ofLink(api, link, lang);
  const { title, items } = await api.readCollection(id, collectionKeys.keyOf(id));
  const questionLists = await Promise.all(items.map((item) => ofLink(api, item.link, lang).catch(() => ({ questions: [] }))));
  const prepared = items.map(({ questions = [] }) => questions.map(({ ask: question }) => /** @type {Question} */ (question)));
  return { title, questions: questionLists.flatMap(({ questions }, i) => [...questions, ...prepared[i]]) };
}

/** @param {Api} api @param {string} link @param {string} lang */
async function ofLink(api, link, lang) {
  const { title, questions = [] } = await api.link(link, lang);
  return { title, questions: await Promise.all(questions.map((question) => placed(api, question))) };
}

/** With the place that it is about; a share opens on it. @param {Api} api @param {Question} question @returns {Promise<Question>} */
async function placed(api, question) {
  return !question.share || question.link ? question : { ...question, link: await placeIn(api, question.share) };
}

/**
 * A question as it is sent, with the model's answer.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {Api} api
 * @param {Question} question
 */
async function withTruth(page, api, question) {
  const kind = KINDS[question.kind];
  if (!kind) throw new Problem("unsupported");
  const { right = [], numbers = [] } = await kind.reveal(ask(page, answerSources(api, question.share), question));
  const { within } = question;
  return { entry: kind.entry(question), ask: question, truth: { right, numbers: [...numbers], ...(typeof within === "number" ? { within } : {}) } };
}

/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {string} lang
 * @property {HTMLElement} root
 * @property {HTMLElement} menu  of lessons; collections of this browser are added to it
 * @property {import("../lib/browser.js").Owned[]} collections
 */

const [MAX_QUESTIONS, MAX_TITLE, MAX_NOTE] = [50, 200, 2000];

/** @param {Plan} plan */
export function createMaker({ page, api, lang, root, menu, collections }) {
  const { t, announce } = page;
  /** @type {Question[]} */
  let questions = [];
  /** What they are about and how they are worded, which takes a run. @type {WeakMap<Question, {context: any[], words: any[]}>} */
  const descriptions = new WeakMap();
  let [title, note, reveal, nicknames, link] = ["", "", "end", false, ""];
  let [busy, message] = [false, ""];
  /** @type {Problem | null} */
  let problem = null;

  /** Add the questions of a link. @param {string} from */
  async function take(from) {
    if (busy) return;
    busy = true;
    draw();
    const reply = await questionsOf(api, from, lang).catch(failure);
    busy = false;
    problem = reply instanceof Problem ? reply : null;
    if (!(reply instanceof Problem)) {
      title ||= reply.title;
      link = "";
      const fresh = reply.questions.filter((question) => !questions.some((existing) => JSON.stringify(existing) === JSON.stringify(question)));
      questions = [...questions, ...fresh].slice(0, MAX_QUESTIONS);
      message = fresh.length === 1 ? t("1 question added.") : fresh.length ? t("{n} questions added.", { n: fresh.length }) : t("There is no other question in it.");
      announce(message);
      for (const question of fresh) void describe(question);
    }
    draw();
  }

  /** @param {Question} question */
  async function describe(question) {
    const askedQuestion = ask(page, answerSources(api, question.share), question);
    const [context, words] = await Promise.all([contextOf(askedQuestion), question.words ? [wordsOf(question)] : KINDS[question.kind].words(askedQuestion)]).catch(() => [[], [question.words ?? ""]]);
    descriptions.set(question, { context, words });
    draw();
  }

  async function make() {
    if (busy) return;
    busy = true;
    problem = null;
    const answered = [];
    for (const [i, question] of questions.entries()) {
      message = t("The model answers question {n} of {all} …", { n: i + 1, all: questions.length });
      draw();
      const answeredQuestion = await withTruth(page, api, question).catch(failure);
      if (answeredQuestion instanceof Problem) return fail(answeredQuestion);
      answered.push(answeredQuestion);
    }
    const assignment = await api.createAssignment({ title: title.trim(), note: note.trim(), questions: answered, reveal: reveal === "each" ? "each" : "end", nicknames }).catch(failure);
    if (assignment instanceof Problem) return fail(assignment);
    assignmentKeys.remember({ id: assignment.id, title: title.trim(), key: assignment.key });
    window.location.assign(`/a/${assignment.id}?lang=${lang}#answers`);
  }

  /** @param {Problem} failed */
  function fail(failed) {
    [busy, message, problem] = [false, "", failed];
    draw();
  }

  function draw() {
    const pasting = (/** @type {Event} */ event) => (event.preventDefault(), link.trim() && void take(link));
    render(
      root,
      el(
        "form",
        { key: "paste", className: "adding", onsubmit: pasting },
        el("label", {}, el("span", {}, t("Or paste a link: of a lesson, a collection, or a share that asks")), el("span", { className: "together" }, el("input", { type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, maxLength: 8000, value: link, oninput: (/** @type {any} */ { target }) => (link = target.value) }), el("button", { type: "submit", className: "button", "aria-disabled": String(busy) }, t("Add questions")))),
      ),
      el("p", { key: "says", className: "says", role: "status" }, message),
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
      questions.length > 0 && el("ol", { key: "list", className: "chosen" }, questions.map(row)),
      questions.length > 0 && form(),
    );
  }

  /** @param {Question} question @param {number} i */
  function row(question, i) {
    const { context, words } = descriptions.get(question) ?? { context: [], words: [question.words ?? ""] };
    const name = t("Leave out question {n}", { n: i + 1 });
    return el(
      "li",
      { key: JSON.stringify(question) },
      el("div", {}, el("p", { className: "meta" }, KINDS[question.kind]?.name(t), context.length ? " · " : "", context), el("p", { className: "asks" }, words)),
      el("button", { type: "button", className: "button quiet", "aria-label": name, title: name, disabled: busy, onclick: () => ((questions = questions.filter((candidate) => candidate !== question)), draw()) }, "×"),
    );
  }

  function form() {
    const typed = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ { target }) => (set(target.value), draw());
    const choice = (/** @type {string} */ value, /** @type {string} */ words) => el("label", { key: value, className: "check" }, el("input", { type: "radio", name: "reveal", value, checked: reveal === value, onchange: () => ((reveal = value), draw()) }), el("span", {}, words));
    return el(
      "form",
      { key: "form", className: "making", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void make()) },
      el("label", { key: "title" }, el("span", {}, t("Title")), el("input", { type: "text", required: true, maxLength: MAX_TITLE, value: title, autocomplete: "off", oninput: typed((text) => (title = text)) })),
      el("label", { key: "note" }, el("span", {}, t("Note to the students (optional)")), el("textarea", { rows: 2, maxLength: MAX_NOTE, value: note, oninput: typed((text) => (note = text)) })),
      el("fieldset", { key: "reveal" }, el("legend", {}, t("The model’s answers are shown")), choice("end", t("at the end, once all answers are sent")), choice("each", t("after each question"))),
      el("label", { key: "nicknames", className: "check" }, el("input", { type: "checkbox", checked: nicknames, onchange: (/** @type {any} */ { target }) => (nicknames = target.checked) }), el("span", {}, t("Ask for a nickname, which is in the table of the answers"))),
      el("p", { key: "make" }, el("button", { type: "submit", className: "button strong", "aria-disabled": String(busy), disabled: !title.trim() }, t("Create the assignment"))),
    );
  }

  const chooser = /** @type {HTMLSelectElement} */ (menu);
  if (collections.length) chooser.append(h("optgroup", { label: t("Your collections") }, ...collections.map(({ id, title: name }) => h("option", { value: `/c/${id}` }, name || id))));
  chooser.addEventListener("change", () => {
    const from = chooser.value;
    chooser.value = "";
    if (from) void take(from);
  });
  draw();
  return { take };
}
