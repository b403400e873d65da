/** The two sides of an assignment: the questions that a student answers, and what was answered for its author. */

import { plainNumbers } from "../ask/answer-entry.js";
import { cellCounts } from "../ask/cells.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download, randomToken } from "../lib/browser.js";
import { el, h, inSight, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { classAnswers, rowTable } from "../room/vote-results.js";
import { assignmentKeys, createOwnerPanel, keepWork, workIn } from "./owned-pages.js";
import { createQuestion } from "./question.js";

/** @import { AnswersSummary, AssignmentReply } from "../core/wire/schemas.d.ts" */

// The student's side of an assignment: its questions, each answered in one's own time. What is answered is
// kept in this browser until it is sent, and is sent before the model answers.

const MOST_NICKNAME = 40;

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement}} services
 * @param {AssignmentReply} assignment
 */
export function showSheet({ page, api, root }, { id, questions, reveal, nicknames }) {
  const { t, announce } = page;
  const work = workIn(id, questions.length, randomToken);
  /** Whether the answers were right, as far as they are revealed. @type {(boolean | null)[]} */
  const right = questions.map(() => null);
  /** @type {Problem | null} */
  let problem = null;
  let [busy, asking] = [false, false];
  const items = questions.map((assigned, i) =>
    createQuestion({ page, api, id, token: () => work.member, assigned, number: i + 1, answer: work.answers[i], onAnswer: (answer) => answered(i, answer) }),
  );
  const list = h("ol", { className: "questions" }, ...items.map(({ element }) => element));
  const bar = h("section", { className: "sending", "aria-label": t("Your answers") });
  root.replaceChildren(...(nicknames ? [nickname()] : []), list, bar);

  const all = () => work.sent.every(Boolean);
  const count = () => work.answers.filter(Boolean).length;

  function nickname() {
    const field = h("input", { type: "text", maxLength: MOST_NICKNAME, value: work.nickname, autocomplete: "nickname", readOnly: work.sent.some(Boolean) });
    field.addEventListener("input", () => ((work.nickname = field.value), keepWork(id, work)));
    return h("label", { className: "nickname" }, h("span", {}, t("Your nickname (optional; the author sees it beside your answers)")), field);
  }

  /** @param {number} i @param {string[] | null} answer */
  function answered(i, answer) {
    work.answers[i] = answer;
    keepWork(id, work);
    asking = false;
    draw();
  }

  /**
   * Send the answers to some of the questions, with those sent before; then let the model answer.
   * @param {number[]} indices
   */
  async function send(indices) {
    busy = true;
    draw();
    const sent = work.sent.map((wasSent, i) => wasSent || indices.includes(i));
    const answers = work.answers.map((answer, i) => (answer && sent[i] ? (questions[i].entry === "numbers" ? plainNumbers(answer) : answer) : null));
    const name = work.nickname.trim();
    const failed = await api.submitAnswers(id, { member: work.member, ...(nicknames && name ? { nickname: name } : {}), answers }).then(() => null, failure);
    busy = asking = false;
    problem = failed;
    if (!failed) {
      work.sent = sent;
      keepWork(id, work);
      root.querySelector(".nickname input")?.setAttribute("readonly", "");
      announce(t("Sent."));
      indices.forEach((i) => void reveals(i));
    }
    draw();
    if (!failed && all()) bar.focus();
  }

  /** @param {number} i */
  async function reveals(i) {
    items[i].close();
    const result = await items[i].reveal(work.answers[i] !== null);
    right[i] = result?.right ?? null;
    draw();
  }

  async function downloadOwn() {
    const file = await api.assignmentTable(id, work.member).catch(failure);
    problem = file instanceof Problem ? file : null;
    if (!(file instanceof Problem)) download(file, `my-answers-${id}.csv`);
    draw();
  }

  function draw() {
    if (reveal === "each") items.forEach(({ below }, i) => render(below, !work.sent[i] && button(t("Send this answer"), () => void send([i]), "strong", busy || !work.answers[i])));
    render(bar, progress(), problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)), el("div", { key: "actions", className: "actions" }, actions()));
    bar.tabIndex = -1;
  }

  function progress() {
    const done = reveal === "each" ? work.sent.filter(Boolean).length : count();
    const judgedCount = right.filter((verdict) => verdict !== null).length;
    const score = judgedCount > 0 && t("{right} of {count} right", { right: right.filter(Boolean).length, count: judgedCount });
    const message = all() ? t("All answers are sent.") : reveal === "each" ? t("{done} of {all} sent", { done, all: questions.length }) : t("{done} of {all} answered", { done, all: questions.length });
    return el(
      "p",
      { key: "progress", className: "progress", role: "status" },
      el("progress", { max: questions.length, value: all() ? questions.length : done, "aria-label": t("Progress") }),
      el("span", {}, [message, score].filter(Boolean).join(" · ")),
    );
  }

  function actions() {
    const mine = work.sent.some(Boolean) && button(t("Download my answers (CSV)"), () => void downloadOwn());
    if (all() || reveal === "each") return [mine];
    const missing = questions.length - count();
    if (!asking) return [button(t("Send all answers"), () => (missing ? ((asking = true), draw()) : void send(questions.map((_, i) => i))), "strong", busy || !count())];
    return [
      el("span", { key: "sure", role: "alert" }, missing === 1 ? t("One question has no answer yet, and answers cannot be changed once they are sent.") : t("{n} questions have no answer yet, and answers cannot be changed once they are sent.", { n: missing })),
      button(t("Go to the next open question"), next, "strong"),
      button(t("Send anyway"), () => void send(questions.map((_, i) => i)), "quiet", busy),
    ];
  }

  function next() {
    asking = false;
    draw();
    const { element, focus } = items[work.answers.findIndex((answer) => !answer)];
    element.scrollIntoView();
    focus();
  }

  // One after the other, so that a long assignment does not run all its sentences at once.
  inSight(items.map(({ element }) => element), async (element) => {
    const i = items.findIndex((item) => item.element === element);
    items[i].open();
    if (work.sent[i]) await reveals(i);
  });
  draw();
}

/** @param {string} words @param {() => void} onclick @param {"" | "strong" | "quiet"} [kind] @param {boolean} [disabled] */
const button = (words, onclick, kind = "", disabled = false) => el("button", { type: "button", key: words, className: `button ${kind}`.trim(), disabled, onclick }, words);

// The author's side of an assignment: its link, what was answered beside the model's answers, the table.

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement, lang: string}} services
 * @param {import("../core/wire/schemas.d.ts").AssignmentReply} assignment
 */
export function showResults({ page, api, root, lang }, { id, url, questions }) {
  const { t } = page;
  const key = assignmentKeys.keyOf(id);
  const items = questions.map((assigned, i) => createQuestion({ page, api, id, token: () => key, assigned, number: i + 1, answers: false }));
  /** The model's rows, of questions that are answered by drawing one, and right cells. @type {Map<number, {choices: import("../ask/question.js").Choice[], truth: number[], right: string[]}>} */
  const rows = new Map();
  const panel = createOwnerPanel(page, {
    label: t("Your assignment"),
    owner: `${url}#key=${key}`,
    invitation: { label: t("Link for students"), url, says: t("Students open this link and answer in their own time.") },
    files: [
      { label: t("Download the answers (CSV)"), name: `answers-${id}.csv`, read: () => api.assignmentTable(id, key) },
      { label: t("Download everything (JSON)"), name: `answers-${id}.json`, read: () => api.assignmentRecord(id, key) },
    ],
    read: () => api.sumUpAnswers(id, key),
    count: (/** @type {AnswersSummary | null} */ summary) => summary?.members ?? 0,
    counted: (n) => (n === 1 ? t("1 student has answered") : t("{n} students have answered", { n })),
    drawn,
    sure: t("Delete the assignment and all answers?"),
    remove: () => api.deleteAssignment(id, key),
    removed: () => {
      assignmentKeys.forget(id);
      root.replaceChildren(h("p", { role: "status" }, t("The assignment was deleted with all answers."), " ", h("a", { href: `/a?lang=${lang}` }, t("Your assignments"))));
    },
  });
  root.replaceChildren(panel.element, h("ol", { className: "questions" }, ...items.map(({ element }) => element)));

  /** @param {AnswersSummary} summary */
  function drawn(summary) {
    items.forEach(({ below, tally }, i) => {
      const results = summary.results[i];
      if (!results) return;
      if (questions[i].entry !== "text") tally(classAnswers(questions[i].entry, results));
      const row = rows.get(i);
      render(below, el("div", { className: "class-answers" }, el("p", {}, resultLine(results)), row && (questions[i].entry === "cell" ? cellCounts(t, row.choices, { name: "", ...results }, row.right) : rowTable(t, row.choices, row.truth, [["", results]]))));
    });
  }

  /** @param {import("../core/wire/schemas.d.ts").Results} results */
  function resultLine({ count, right, distance }) {
    const parts = [t("{count} answered", { count }), count > 0 && right !== null && t("{right} right", { right }), distance !== null && t("mean distance from the model’s row {distance}", { distance: two(distance) })];
    return parts.filter(Boolean).join(" · ");
  }

  inSight(items.map(({ element }) => element), async (element) => {
    const i = items.findIndex((item) => item.element === element);
    const { numbers = [], right = [] } = (await items[i].reveal(false))?.revealed ?? {};
    const { entry } = questions[i];
    if (entry === "cell" || (entry === "shares" && numbers.length)) rows.set(i, { truth: numbers, right, choices: await items[i].choices() });
    panel.draw();
  });
  panel.draw();
  void panel.refresh();
}
