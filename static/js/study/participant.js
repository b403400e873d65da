/** The participant's side of a study: a test, pages to read, a second test, and perhaps a third one later. */

import { wording } from "../core/figure/problem-wording.js";
import { createShortLink } from "../core/page/short-link.js";
import { Problem, failure } from "../core/wire/reply.js";
import { randomToken } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { keepPart, partIn } from "../assignment/owned-pages.js";

/** @import { ParticipantReply, StudyReply } from "../core/wire/schemas.d.ts" */

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement, lang: string}} services
 * @param {StudyReply} study
 */
export function showParticipant({ page, api, root, lang }, { id, url, items, later_days: laterDays }) {
  const { t, announce } = page;
  const link = createShortLink(page);
  const step = h("section", { className: "study-step", tabIndex: -1 });
  const bar = h("section", { className: "sending", "aria-label": t("Your answers") });
  let part = partIn(id);
  /** @type {ParticipantReply | null} */
  let standing = null;
  /** @type {Problem | null} */
  let problem = null;
  let [busy, sure] = [false, false];
  root.replaceChildren(step, bar, link.element);

  /** @param {Promise<ParticipantReply>} reply */
  async function follow(reply) {
    busy = true;
    draw();
    const answer = await reply.catch(failure);
    busy = sure = false;
    problem = answer instanceof Problem ? answer : null;
    if (!(answer instanceof Problem)) standing = answer;
    draw();
    return !problem;
  }

  async function begin() {
    part ??= { member: randomToken(), read: false, answers: [] };
    keepPart(id, part);
    await follow(api.takePart(id, part.member, lang));
    step.focus();
  }

  async function send() {
    if (!part || !standing || standing.stage === "done") return;
    const { stage, questions } = standing;
    const answers = questions.map((_, i) => part?.answers[i] ?? null);
    if (!(await follow(api.submitTest(id, { member: part.member, stage, answers }, lang)))) return;
    part = { ...part, answers: [] };
    keepPart(id, part);
    announce(t("Sent."));
    draw();
    window.scrollTo(0, 0);
    step.focus();
  }

  /** @param {number} question @param {number} option */
  function choose(question, option) {
    if (!part) return;
    part.answers[question] = option;
    keepPart(id, part);
    sure = false;
    draw();
  }

  function next() {
    sure = false;
    draw();
    const open = standing?.questions.findIndex((_, i) => (part?.answers[i] ?? null) === null) ?? 0;
    const first = /** @type {HTMLElement | null} */ (step.querySelector(`#item-${open + 1} input`));
    first?.closest("li")?.scrollIntoView();
    first?.focus();
  }

  function draw() {
    const testing = part !== null && standing !== null && standing.stage !== "done" && !standing.opens && (standing.stage !== "after" || part.read || !standing.pages.length);
    render(step, problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)), !standing ? [...welcome(t, items, laterDays), el("p", { key: "begin" }, button(part ? t("Continue") : t("Begin the first test"), () => void begin(), "strong", busy))] : testing ? test(standing) : standing.stage === "after" ? [...pagesToRead(t, standing, lang), el("p", { key: "go" }, button(t("I have finished: begin the second test"), finish, "strong", busy))] : standing.stage === "later" ? waiting(standing) : thanks(t, lang));
    bar.hidden = !testing;
    if (standing && testing) render(bar, progress(t, standing.questions.length, missing(standing)), el("div", { key: "actions", className: "actions" }, actions(standing)));
  }

  /** @param {ParticipantReply} reply */
  function test({ stage, questions }) {
    const name = stage === "before" ? t("First test") : stage === "after" ? t("Second test") : t("Third test");
    return [
      el("h2", { key: `title-${stage}` }, name),
      el("p", { key: `how-${stage}`, className: "meta" }, t("Choose what you think is right. Where you do not know, leave the question open instead of guessing.")),
      el("ol", { key: `questions-${stage}`, className: "questions items" }, questions.map((question, i) => questionItem(t, `${stage}-${i}`, i, question, part?.answers[i] ?? null, (option) => choose(i, option)))),
    ];
  }

  function finish() {
    if (!part) return;
    part.read = true;
    keepPart(id, part);
    draw();
    window.scrollTo(0, 0);
    step.focus();
  }

  /** @param {ParticipantReply} reply */
  function waiting({ opens }) {
    const day = new Date(opens ?? 0).toLocaleDateString(lang, { dateStyle: "long" });
    const personal = () => link.show(`${url}#me=${part?.member}`, t("Open this link from {day} on, on any device. It is yours alone: do not pass it on.", { day }), { opener: step });
    return lastTest(t, day, button(t("Link for later"), personal, "strong"));
  }

  const missing = (/** @type {ParticipantReply} */ { questions }) => questions.filter((_, i) => (part?.answers[i] ?? null) === null).length;

  /** @param {ParticipantReply} reply */
  function actions(reply) {
    const count = missing(reply);
    if (!sure) return [button(t("Send all answers"), () => (count ? ((sure = true), draw()) : void send()), "strong", busy)];
    return [
      el("span", { key: "sure", role: "alert" }, count === 1 ? t("One question has no answer yet, and answers cannot be changed once they are sent.") : t("{n} questions have no answer yet, and answers cannot be changed once they are sent.", { n: count })),
      button(t("Go to the next open question"), next, "strong"),
      button(t("Send anyway"), () => void send(), "quiet", busy),
    ];
  }

  draw();
  if (part) void follow(api.takePart(id, part.member, lang));
}

/** @param {string} words @param {() => void} onclick @param {"" | "strong" | "quiet"} [kind] @param {boolean} [disabled] */
const button = (words, onclick, kind = "", disabled = false) => el("button", { type: "button", key: words, className: `button ${kind}`.trim(), disabled, onclick }, words);

/** @typedef {import("../core/figure/types.js").PageContext["t"]} Translate */

/** What a participant is told before the first test. @param {Translate} t @param {number} items @param {number | null} laterDays */
function welcome(t, items, laterDays) {
  const tests = laterDays === null ? t("You answer {n} questions, read what you are shown, and answer {n} more. There is no preparation and no grade.", { n: items }) : t("You answer {n} questions, read what you are shown, and answer {n} more; {days} days later there is a third test. There is no preparation and no grade.", { n: items, days: laterDays });
  return [el("p", { key: "tests" }, tests), el("p", { key: "stored" }, t("Stored are your answers and when you sent them: no name, no address, nothing else about you. You can stop at any time."))];
}

/**
 * A question with its options.
 * @param {Translate} t
 * @param {string} name  of its field
 * @param {number} i  from 0
 * @param {ParticipantReply["questions"][number]} question
 * @param {number | null} answer
 * @param {(option: number) => void} choose
 */
function questionItem(t, name, i, { asks, options }, answer, choose) {
  const option = (/** @type {string} */ words, /** @type {number} */ n) => el("label", { key: n, className: "check" }, el("input", { type: "radio", name, value: String(n), checked: answer === n, onchange: () => choose(n) }), el("span", {}, words));
  return el("li", { key: i, id: `item-${i + 1}`, className: "assigned" }, el("fieldset", {}, el("legend", {}, el("span", { className: "number" }, t("Question {n}", { n: i + 1 })), el("span", { className: "asks" }, asks)), options.map(option)));
}

/** @param {Translate} t @param {ParticipantReply} reply @param {string} lang */
function pagesToRead(t, { pages }, lang) {
  const item = (/** @type {ParticipantReply["pages"][number]} */ { link: path, title }) => el("li", { key: path }, el("a", { href: withLanguage(path, lang), target: "_blank", rel: "noopener" }, title));
  return [
    el("h2", { key: "read" }, t("Now read")),
    el("p", { key: "how", className: "meta" }, t("Each page opens in a tab of its own. Take your time, try things out, then come back here.")),
    el("ol", { key: "pages", className: "reading" }, pages.map(item)),
  ];
}

/** @param {Translate} t @param {string} day @param {import("../lib/dom.js").Child} link */
const lastTest = (t, day, link) => [
  el("h2", { key: "later" }, t("Thank you. One test is left.")),
  el("p", { key: "when" }, t("It opens on {day}. Keep the link to it: nobody can remind you, since no address of yours is known.", { day })),
  el("p", { key: "link" }, link),
];

/** @param {Translate} t @param {string} lang */
const thanks = (t, lang) => [el("h2", { key: "done" }, t("Thank you: that was all.")), el("p", { key: "lessons" }, t("If you want to know more:"), " ", el("a", { href: `/learn?lang=${lang}` }, t("all lessons")))];

/** @param {Translate} t @param {number} all @param {number} open  questions without an answer */
function progress(t, all, open) {
  const done = all - open;
  return el("p", { key: "progress", className: "progress", role: "status" }, el("progress", { max: all, value: done, "aria-label": t("Progress") }), el("span", {}, t("{done} of {all} answered", { done, all })));
}

/** A link, which may have a query and a fragment, in the reader's language. @param {string} path @param {string} lang */
function withLanguage(path, lang) {
  const [address, fragment] = path.split("#");
  return `${address}${address.includes("?") ? "&" : "?"}lang=${lang}${fragment ? `#${fragment}` : ""}`;
}
