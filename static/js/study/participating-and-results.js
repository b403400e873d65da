/** The two sides of a study: what a participant does, and what came of it for its author. */

import { createOwnerPanel, keepPart, partIn, studyKeys } from "../assignment/owned-pages.js";
import { wording } from "../core/figure/problem-wording.js";
import { createShortLink } from "../core/page/short-link.js";
import { Problem, failure } from "../core/wire/reply.js";
import { randomToken } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { change, two } from "../lib/numbers.js";

/** @import { ParticipantReply, StudyReply, StudyResults } from "../core/wire/schemas.d.ts" */

// The participant's side of a study: a test, pages to read, a second test, and perhaps a third one later.

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

// The author's side of a study: its link, the gains by arm, item and misunderstanding, the table.

/** @typedef {StudyResults["arms"][number]} Arm */

/** Of a row of the plot, in pixels. */
const [WIDE, HIGH, EDGE] = [140, 20, 7];
/** Misunderstandings that are in sight. */
const MOST_CHOSEN = 6;

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement, lang: string}} services
 * @param {StudyReply} study
 */
export function showStudyResults({ page, api, root, lang }, { id, url }) {
  const { t } = page;
  const key = studyKeys.keyOf(id);
  const tables = h("div", { className: "study-results" });
  const panel = createOwnerPanel(page, {
    label: t("Your study"),
    owner: `${url}#key=${key}`,
    invitation: { label: t("Link for participants"), url, says: t("Participants open this link. Each is assigned to an arm at random.") },
    files: [{ label: t("Download the answers (CSV)"), name: `study-${id}.csv`, read: () => api.studyTable(id, key) }],
    read: () => api.studyResults(id, key, lang),
    count: (/** @type {StudyResults | null} */ results) => results?.participants ?? 0,
    counted: (n) => (n === 1 ? t("1 participant has begun") : t("{n} participants have begun", { n })),
    drawn: (results) => render(tables, overview(results), results.comparisons.map((comparison) => versus(comparison, results.arms[0].name)), results.arms.filter(({ learned }) => learned.n).map(details), method()),
    sure: t("Delete the study and all answers?"),
    remove: () => api.deleteStudy(id, key),
    removed: () => {
      studyKeys.forget(id);
      root.replaceChildren(h("p", { role: "status" }, t("The study was deleted with all answers."), " ", h("a", { href: `/study?lang=${lang}` }, t("Your studies"))));
    },
  });
  root.replaceChildren(panel.element, tables);

  /** @param {StudyResults} results */
  function overview({ arms }) {
    const later = arms.some((arm) => arm.kept.n);
    const names = [t("Arm"), t("began"), t("both tests"), t("first test"), t("second test"), t("gain"), t("normalized gain"), t("Cohen’s d"), t("minutes"), ...(later ? [t("third test")] : [])];
    const row = (/** @type {Arm} */ { name, assigned, learned, kept: retained, minutes }) =>
      el(
        "tr",
        { key: name },
        el("th", { scope: "row" }, name),
        ...[String(assigned), String(learned.n), score(learned.before), score(learned.after), gain(learned.gain), number(learned.normalized), effect(learned.effect), minutes === null ? "–" : String(Math.round(minutes)), ...(later ? [retained.n ? t("{score} (of {n})", { score: score(retained.after), n: retained.n }) : "–"] : [])].map((words, i) => el("td", { key: i }, words)),
      );
    return scrolled("arms", t("Scores by arm"), names, arms.map(row));
  }

  /** @param {StudyResults["comparisons"][number]} comparison @param {string} first */
  function versus({ name, difference, effect: size }, first) {
    if (difference === null) return null;
    const words = difference >= 0 ? t("“{name}” gained {difference} more than “{first}”.", { name, first, difference: two(difference) }) : t("“{name}” gained {difference} less than “{first}”.", { name, first, difference: two(-difference) });
    return el("p", { key: `versus ${name}`, className: "finding" }, words, " ", size && t("Cohen’s d of the gains: {effect}.", { effect: effect(size) }));
  }

  /** @param {Arm} arm */
  function details(arm) {
    const items = arm.items.map((item) =>
      el("tr", { key: item.item }, el("th", { scope: "row" }, el("a", { href: `/study/inventory?lang=${lang}#${item.item}` }, `${item.number}. ${item.about}`)), el("td", { key: "plot" }, dumbbell(item.before, item.after)), ...[number(item.before), number(item.after), gain(item.gain), number(item.normalized)].map((words, i) => el("td", { key: i }, words))),
    );
    const chosen = arm.misunderstandings
      .filter(({ before, after }) => before || after)
      .sort((a, b) => (b.after ?? 0) - (a.after ?? 0) || (b.before ?? 0) - (a.before ?? 0))
      .map(({ kind, about, before, after }) => el("tr", { key: kind }, el("th", { scope: "row" }, about), el("td", { key: "plot" }, dumbbell(before, after)), el("td", { key: 0 }, number(before)), el("td", { key: 1 }, number(after))));
    return el(
      "section",
      { key: `arm ${arm.name}`, "aria-label": arm.name },
      el("h2", {}, arm.name),
      scrolled("items", t("Right answers by item (○ first test, ● second test)"), [t("Item"), "", t("first test"), t("second test"), t("gain"), t("normalized gain")], items),
      chosen.length > 0 && kinds(chosen.slice(0, MOST_CHOSEN)),
      chosen.length > MOST_CHOSEN && el("details", {}, el("summary", {}, t("All that were chosen")), kinds(chosen)),
    );
  }

  /** @param {import("../lib/dom.js").Child[]} rows */
  const kinds = (rows) => scrolled("kinds", t("Misunderstandings, the most frequent ones in the second test first"), [t("Chosen"), "", t("first test"), t("second test")], rows);

  const method = () =>
    el("details", { key: "method" }, el("summary", {}, t("How this is computed")), el("p", {}, t("Scores are shares of right answers; a question without an answer is not right. Only participants who took both tests count. Half of each arm began with form A, half with form B. The normalized gain is (after − before) / (1 − before) of the means (Hake 1998). Cohen’s d divides the mean gain by √((s²before + s²after) / 2), with the 95 % interval of Bonett (2008); between two arms it divides the difference of the mean gains by their pooled standard deviation, with the interval of Hedges and Olkin (1985). The intervals are approximations: in simulated studies with 8 and more participants in an arm, 94 to 96 of 100 had the true effect.")));

  panel.draw();
  void panel.refresh();
}

const number = (/** @type {number | null} */ value) => (value === null ? "–" : two(value));
const gain = (/** @type {number | null} */ value) => (value === null ? "–" : change(value));
const score = (/** @type {{mean: number | null, sd: number | null}} */ { mean, sd }) => (mean === null ? "–" : sd === null ? two(mean) : `${two(mean)} ± ${two(sd)}`);
const effect = (/** @type {{d: number, low: number, high: number} | null} */ size) => (size ? `${two(size.d)} [${two(size.low)}, ${two(size.high)}]` : "–");

/** Two shares on a line from 0 to 1. @param {number | null} before @param {number | null} after */
function dumbbell(before, after) {
  if (before === null || after === null) return null;
  const x = (/** @type {number} */ share) => EDGE + share * (WIDE - 2 * EDGE);
  const middle = HIGH / 2;
  return el(
    "svg",
    { class: "dumbbell", viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, "aria-hidden": "true" },
    el("line", { key: "scale", class: "scale", x1: x(0), x2: x(1), y1: middle, y2: middle }),
    el("line", { key: "step", class: after < before ? "step lost" : "step", x1: x(before), x2: x(after), y1: middle, y2: middle }),
    el("circle", { key: "before", class: "before", cx: x(before), cy: middle, r: 4.5 }),
    el("circle", { key: "after", class: "after", cx: x(after), cy: middle, r: 4.5 }),
  );
}

/** @param {string} key @param {string} caption @param {string[]} names @param {import("../lib/dom.js").Child[]} rows */
function scrolled(key, caption, names, rows) {
  return el("div", { key, className: `study-table ${key}`, tabIndex: 0, role: "region", "aria-label": caption }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, names.map((name, i) => el(name ? "th" : "td", { key: i, ...(name ? { scope: "col" } : {}) }, name)))), el("tbody", {}, rows)));
}
