/** What a class answered, question by question, after the lesson: from its room or from a saved file. */

import { doesWords } from "../ask/challenge-goals.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { brief, two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { voteSummary } from "./results.js";
import { gain } from "./vote-spread.js";

/** @import { MemberAnswer, QuestionRecord, Results, RoomRecord } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

/** Answers in words that are listed at first. */
const MAX_TEXTS = 200;

/** @param {unknown} value  parsed from a file @returns {value is RoomRecord} */
export function isRecord(value) {
  const { code, questions } = /** @type {Partial<RoomRecord>} */ (value ?? {});
  return typeof code === "string" && Array.isArray(questions) && questions.every((question) => typeof question?.n === "number" && question.votes?.first && question.votes?.second && Array.isArray(question.answers));
}

/**
 * The sections of a record, one for each question.
 * @param {Translate} t
 * @param {RoomRecord} record
 */
export function recordSections(t, { questions }) {
  if (!questions.length) return [el("p", { key: "none" }, t("Nothing was asked."))];
  return questions.map((question) => {
    const { n, words, votes } = question;
    return el(
      "section",
      { key: String(n), className: "asked-before" },
      el("h2", {}, el("span", { className: "n" }, `${n} `), words || t("Question")),
      question.entry === "work" ? el("div", { className: "meta" }, voteSummary(t, votes, "work")) : el("p", { className: "meta" }, summary(t, votes.first, votes.second)),
      question.entry === "work" ? works(t, question) : question.entry === "text" ? texts(t, question) : counted(t, question),
    );
  });
}

/** @param {Translate} t @param {Results} first @param {Results} second */
function summary(t, first, second) {
  const line = (/** @type {string} */ name, /** @type {Results} */ { count, right, distance }) => {
    const parts = [t("{count} answered", { count }), right !== null && t("{right} right", { right }), right !== null && count > 0 && t("share {share}", { share: two(right / count) }), distance !== null && t("mean distance from the model’s row {distance}", { distance: two(distance) })];
    return count > 0 ? `${name}: ${parts.filter(Boolean).join(" · ")}` : "";
  };
  const gained = gain(first, second);
  const parts = [line(t("First vote"), first), line(t("Second vote"), second), gained !== null && t("Gain {gain}", { gain: two(gained) })];
  return parts.filter(Boolean).join(" — ") || t("Nobody has answered.");
}

/** How often each answer was given. @param {Translate} t @param {QuestionRecord} question */
function counted(t, { ask: about, entry, choices, truth, votes: { first, second } }) {
  const ids = [...new Set([...Object.keys(choices), ...Object.keys(first.chosen), ...Object.keys(second.chosen)])];
  const answerIds = entry === "choice" ? ids : [...new Set([...Object.keys(first.chosen), ...Object.keys(second.chosen)])].sort((a, b) => Number(a) - Number(b));
  if (entry === "cell") answerIds.sort((a, b) => (first.chosen[b] ?? 0) + (second.chosen[b] ?? 0) - (first.chosen[a] ?? 0) - (second.chosen[a] ?? 0));
  const named = (/** @type {string} */ id) => (entry === "cell" ? cellWords(about, id) : choices[id]) ?? id;
  if (!answerIds.length) return means(t, choices, truth?.numbers ?? [], first, second);
  const right = new Set(truth?.right ?? []);
  const within = truth?.within ?? 0;
  const numbers = truth?.numbers ?? [];
  const isRight = (/** @type {string} */ id) => (entry === "numbers" ? numbers.length === 1 && Math.abs(Number(id) - numbers[0]) <= within + 1e-9 : right.has(id));
  const cell = (/** @type {Results} */ { chosen, count }, /** @type {string} */ id) => el("td", {}, shareBar(count ? (chosen[id] ?? 0) / count : 0), el("span", { className: "number" }, String(chosen[id] ?? 0)));
  const row = (/** @type {string} */ id) => el("tr", { key: id, "data-right": String(isRight(id)) }, el("th", { scope: "row" }, isRight(id) && "✓ ", named(id)), cell(first, id), second.count > 0 && cell(second, id), el("td", { className: "stands-for" }, noteOf(about, id)));
  const noted = answerIds.some((id) => noteOf(about, id));
  const head = el("tr", {}, el("th", { scope: "col" }, t("Answer")), el("th", { scope: "col" }, t("First vote")), second.count > 0 && el("th", { scope: "col" }, t("Second vote")), el("th", { scope: "col" }, noted && t("What it stands for")));
  return el("table", { className: "votes" }, el("thead", {}, head), el("tbody", {}, answerIds.map(row)));
}

/** What a choice of an own question stands for. @param {QuestionRecord["ask"]} about @param {string} id @returns {string} */
const noteOf = (about, id) => about.options?.[Number(id)]?.note ?? "";

/** A cell in the words of its row and its column. @param {QuestionRecord["ask"]} about @param {string} id */
function cellWords({ axes }, id) {
  const [row, column] = id.split(" ").map(Number);
  return axes ? `${axes.rows[row]} → ${axes.columns[column]}` : id;
}

/** The mean of each field or share, beside the model's. @param {Translate} t @param {Record<string, string>} choices @param {number[]} truth @param {Results} first @param {Results} second */
function means(t, choices, truth, first, second) {
  const count = Math.max(first.mean.length, second.mean.length, truth.length);
  if (!count) return null;
  const cell = (/** @type {number | undefined} */ value) => el("td", {}, value === undefined ? "" : brief(value));
  const head = el("tr", {}, [t("Answer"), t("First vote"), second.count > 0 && t("Second vote"), truth.length > 0 && t("Right")].filter(Boolean).map((name) => el("th", { scope: "col" }, name)));
  const rows = Array.from({ length: count }, (_, i) => el("tr", { key: i }, el("th", { scope: "row" }, choices[i] ?? String(i + 1)), cell(first.mean[i]), second.count > 0 && cell(second.mean[i]), truth.length > 0 && cell(truth[i])));
  return el("table", { className: "votes" }, el("caption", {}, t("mean answer")), el("thead", {}, head), el("tbody", {}, rows));
}

/** Works in words, those with the most votes first. @param {Translate} t @param {QuestionRecord} question */
function works(t, { answers, choices, votes: { second } }) {
  const votesFor = (/** @type {MemberAnswer} */ { member }) => second.chosen[member] ?? 0;
  const handed = answers.filter(({ first }) => first).sort((a, b) => votesFor(b) - votesFor(a));
  const row = (/** @type {MemberAnswer} */ answer) =>
    el("tr", { key: answer.member, "data-right": String(answer.first_right ?? false) }, el("th", { scope: "row" }, choices[answer.member] ?? "", answer.nickname && el("small", {}, ` ${answer.nickname}`)), el("td", {}, doesWords(t, answer.first_right)), second.count > 0 && el("td", {}, String(votesFor(answer))));
  const head = el("tr", {}, el("th", { scope: "col" }, t("Work")), el("th", { scope: "col" }), second.count > 0 && el("th", { scope: "col" }, t("Votes")));
  return el("table", { className: "votes" }, el("thead", {}, head), el("tbody", {}, handed.slice(0, MAX_TEXTS).map(row)));
}

/** @param {Translate} t @param {QuestionRecord} question */
function texts(t, { answers }) {
  const text = (/** @type {MemberAnswer} */ { first, second }) => (second ?? first ?? []).join(" ");
  const listed = answers.slice(0, MAX_TEXTS).map((answer) => el("li", { key: answer.member }, text(answer), answer.nickname && el("small", {}, ` ${answer.nickname}`)));
  return [el("ul", { className: "texts" }, listed), answers.length > MAX_TEXTS && el("p", { className: "meta" }, t("{count} more are in the files.", { count: answers.length - MAX_TEXTS }))];
}
