/** One question of an assignment: what it is about, its words, and how it is answered. */

import {
  MAX_LINK, MAX_SENTENCE, goalList, headingOf, isOwn, isTyped, originalOf, verdictWords, withSentence, workLink,
} from "../ask/own-questions.js";
import { KINDS, contextOf } from "../ask/question-kinds.js";
import { createPrediction } from "../ask/predict.js";
import { ask, answerSources } from "../ask/question.js";
import { el, h, render } from "../lib/dom.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";

/** @import { OpenQuestion } from "../core/wire/schemas.d.ts" */
/** @import { Result } from "../ask/predict.js" */
/** @import { Question } from "../ask/question.js" */

/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {string} id  of the assignment
 * @property {() => string} token  of the reader: the student's, or the assignment's key
 * @property {OpenQuestion} assigned
 * @property {number} number  from 1
 * @property {string[] | null} [answer]  given earlier
 * @property {(answer: string[] | null) => void} [onAnswer]
 * @property {boolean} [answers]  false: the reader only looks
 */
/** @typedef {ReturnType<typeof createQuestion>} AssignedQuestion */

const LONGEST = 200;

/** @param {Plan} plan */
export function createQuestion({ page, api, id, token, assigned, number, answer = null, onAnswer = () => {}, answers = true }) {
  const { t } = page;
  const { ask: about, entry } = assigned;
  const context = h("p", { className: "context" });
  const words = h("h2", { className: "asks", id: `asks-${number}`, tabIndex: -1 }, headingOf(t, about));
  const precise = h("p", { className: "precise" });
  const place = h("div", { className: "choosing" });
  const below = h("div", { className: "below" });
  const element = h("li", { className: `assigned predict${answers ? "" : " watching"}`, id: `question-${number}` }, h("p", { className: "kind" }, t("Question {n}", { n: number })), context, words, precise, place, below);
  const sources = { ...answerSources(api, about.share), stated };
  /** @type {import("../ask/predict.js").Prediction | null} */
  let prediction = null;
  /** @type {ReturnType<typeof createWorkEntry> | null} */
  let work = null;
  let [opened, closed] = [false, false];

  /** The question with what it states of its answer, which the server tells once it is revealed. */
  async function stated() {
    const { questions } = await api.readAssignment(id, token());
    return Object.assign(about, questions[number - 1].ask);
  }

  /** Show how it is answered. */
  function open() {
    if (opened) return;
    opened = true;
    if (entry === "text") {
      words.textContent ||= t("Write a sentence.");
      return void (answers && place.append(field()));
    }
    if (entry === "work") {
      words.textContent ||= t("A challenge");
      work = createWorkEntry(page, api, { id, index: number - 1, question: about, labelled: words.id, answer, answers, onAnswer });
      if (closed) work.close();
      return place.append(work.element);
    }
    if (!(about.kind in KINDS)) return place.append(h("p", { className: "problem" }, t("This page cannot ask a question of this kind.")));
    prediction = createPrediction({ root: place, page, sources, question: about, label: words, answer, controls: false, onAnswer });
    if (closed || !answers) prediction.close();
    const askedQuestion = ask(page, sources, about);
    void contextOf(askedQuestion).then((contextParts) => render(context, contextParts), () => {});
    // An author may say "this head", which is known only beside a figure.
    if (about.words && (about.page === "lab" || isOwn(about))) return;
    void KINDS[about.kind].words(askedQuestion).then((wording) => render(about.words ? precise : words, wording), () => {});
  }

  function field() {
    const area = h("textarea", { rows: 2, maxLength: LONGEST, value: answer?.[0] ?? "", readOnly: closed, "aria-labelledby": words.id });
    area.addEventListener("input", () => onAnswer(area.value.trim() ? [area.value.trim()] : null));
    return area;
  }

  return {
    element,
    below,
    open,
    /** The right answer; null: it is not known. @param {boolean} guessed  whether the reader's is judged @returns {Promise<Result | null>} */
    async reveal(guessed) {
      open();
      if (work) return answers ? { answer: null, right: await work.reveal(), revealed: { says: [] } } : null;
      return (await prediction?.reveal({ guessed })) ?? null;
    },
    /** What can be answered, of a question with choices or fields. */
    choices: async () => KINDS[about.kind]?.choices(ask(page, sources, about)) ?? [],
    /** Accept no more changes. */
    close() {
      closed = true;
      prediction?.close();
      work?.close();
      for (const area of place.querySelectorAll("textarea")) area.readOnly = true;
    },
    /** @param {string[][]} classAnswers  the answers of a class */
    tally: (classAnswers) => prediction?.tally(classAnswers),
    focus: () => words.focus(),
  };
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {object} of
 * @param {string} of.id  of the assignment
 * @param {number} of.index  of the question, from 0
 * @param {Question} of.question
 * @param {string} of.labelled  the id of its words
 * @param {string[] | null} of.answer  given earlier: the link of a work, and what proves its verdict
 * @param {boolean} of.answers  false: the reader only looks
 * @param {(answer: string[]) => void} of.onAnswer
 */
function createWorkEntry({ t }, api, { id, index, question, labelled, answer, answers, onAnswer }) {
  const element = h("div", { className: "work-entry" });
  const types = isTyped(question);
  let typed = answer ? (types ? originalOf({ link: answer[0] }) : answer[0]) : types ? originalOf(question) : "";
  let [busy, closed, status, isProblem] = [false, !answers, "", false];
  /** @type {boolean | null} */
  let right = null;

  async function run(/** @type {string | null} */ link) {
    if (!link) return finish(t("Paste the link of a page that shows a sentence."), true);
    busy = true;
    draw();
    const reply = await api.checkWork(id, { question: index, link }).catch(failure);
    busy = false;
    if (reply instanceof Problem) return finish(wording(t, reply), true);
    right = reply.verdict.does;
    finish(verdictWords(t, question, reply.verdict) || t("It ran."));
    return reply;
  }

  /** @param {string} words @param {boolean} [failed] */
  function finish(words, failed = false) {
    [status, isProblem] = [words, failed];
    draw();
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (busy || closed || !typed.trim()) return;
    const reply = await run(types ? withSentence(question, typed.trim()) : pasted(typed));
    if (!reply) return;
    answer = [reply.link, reply.seal];
    onAnswer(answer);
  }

  function draw() {
    const read = (/** @type {any} */ { target }) => ((typed = target.value), draw());
    const shared = { value: typed, readOnly: closed, oninput: read };
    const field = types
      ? el("textarea", { key: "field", rows: 2, maxLength: MAX_SENTENCE, "aria-labelledby": labelled, ...shared })
      : el("input", { key: "field", type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, maxLength: 4 * MAX_LINK, "aria-label": t("The link of what you found"), placeholder: t("The link of what you found"), ...shared });
    const href = types ? withSentence(question, typed.trim()) : `/?${question.link}`;
    render(
      element,
      goalList(t, question),
      answers && !types && el("p", { key: "how", className: "hint" }, t("Open it in the workspace, find it there, and paste the address of that page here.")),
      answers && el("form", { key: "form", onsubmit: submit }, field, el("p", { className: "actions" }, el("button", { type: "submit", className: "button strong", disabled: busy || closed || !typed.trim() }, t("Try it")), el("a", { href, target: "_blank", rel: "noopener" }, t("Look at it in the workspace")))),
      el("p", { key: "says", className: isProblem ? "problem" : "says", role: "status" }, busy ? t("Running…") : status),
    );
  }

  draw();
  return {
    element,
    close: () => ((closed = true), draw()),
    /** Whether the work that was sent does what is asked; null: nothing is checked. @returns {Promise<boolean | null>} */
    async reveal() {
      if (answer && !status) await run(answer[0]);
      return right;
    },
  };
}

/** The link of a page of any server. @param {string} address */
function pasted(address) {
  try {
    return workLink(address.trim());
  } catch {
    return null;
  }
}
