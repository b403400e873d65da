/**
 * What a class has answered: how votes are spread and what the teacher does next, one vote or two of them
 * as a table, and after the lesson the whole record, question by question.
 */

import { cellCounts } from "../ask/cells.js";
import { doesWords } from "../ask/own-questions.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { brief, two } from "../lib/numbers.js";
import { el } from "../lib/dom.js";

/** @import { Choice } from "../ask/question.js" */
/**
 * @import {
 *   AnswerReply, MemberAnswer, QuestionRecord, Results, RoomRecord, Truth, Votes,
 * } from "../core/wire/schemas.d.ts"
 */
/** @import { Entry } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

// What a teacher decides by while votes come in, as peer instruction does: how the answers are spread, the
// share that is right, what to do next, and after the second vote the gain.

/** Of the votes: if fewer are right, explain; from here to `GO_ON_ABOVE`, discuss and vote again. */
const EXPLAIN_BELOW = 0.3;
const GO_ON_ABOVE = 0.7;

/** @typedef {"explain" | "discuss" | "go-on"} Advice */
/** @typedef {{count: number, right: number | null}} Vote */

/** @param {Vote} vote @returns {number | null}  null: nobody has answered, or nothing is right or wrong */
export const shareRight = ({ count, right }) => (count > 0 && right !== null ? right / count : null);

/** @param {Vote} vote @returns {Advice | null} */
export function advice(vote) {
  const share = shareRight(vote);
  if (share === null) return null;
  return share < EXPLAIN_BELOW ? "explain" : share <= GO_ON_ABOVE ? "discuss" : "go-on";
}

/**
 * Hake's normalised gain: how much of what could still become right did.
 * @param {Vote} first @param {Vote} second
 * @returns {number | null}  null: without two votes, or if everybody was right at first
 */
export function gain(first, second) {
  const [before, after] = [shareRight(first), shareRight(second)];
  return before === null || after === null || before === 1 ? null : (after - before) / (1 - before);
}

/**
 * Whether an answer is right, as the server counts it: of drawn rows, whether the largest weight is
 * where the model's is.
 * @param {Entry} entry
 * @param {string[]} answer
 * @param {Partial<Truth>} truth
 */
export function isRight(entry, answer, { right = [], numbers = [], within = 0.005 }) {
  if (entry === "choice" || entry === "cell") return right.includes(answer[0]);
  if (entry === "order") return answer.join(" ") === right.join(" ");
  const typedNumbers = answer.map(Number);
  if (entry === "numbers") return typedNumbers.length === numbers.length && typedNumbers.every((number, i) => Math.abs(number - numbers[i]) <= within + 1e-9);
  return entry === "shares" && typedNumbers[numbers.indexOf(Math.max(...numbers))] === Math.max(...typedNumbers);
}

/**
 * The answers of one vote: how often each answer was given, the most frequent first, and how many are right.
 * @param {Entry} entry
 * @param {Pick<AnswerReply, "vote" | "answer">[]} answers  of all votes
 * @param {"first" | "second"} vote
 * @param {Partial<Truth> | null} truth  null: not known
 * @returns {Vote & {answerCounts: [answer: string, times: number][]}}
 */
export function spreadOf(entry, answers, vote, truth) {
  const cast = answers.filter((answer) => answer.vote === vote);
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const { answer } of cast) {
    const key = answer.join(" ");
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  const judged = truth && Boolean(truth.right?.length || truth.numbers?.length);
  const right = judged ? cast.filter(({ answer }) => isRight(entry, answer, truth)).length : null;
  return { count: cast.length, right, answerCounts: [...times].sort(([, a], [, b]) => b - a) };
}

// What a class answered, once it is revealed.

// The rows that a class drew, as a heatmap below the model's: one line per answer, the nearest
// first, with its total variation distance ½ Σ|p − q|; both votes side by side.

/** The total variation distance of two rows of shares. @param {number[]} p @param {number[]} q */
const distance = (p, q) => p.reduce((sum, weight, i) => sum + Math.abs(weight - (q[i] ?? 0)), 0) / 2;

/**
 * @param {Translate} t
 * @param {Choice[]} choices  the columns
 * @param {number[]} truth  the model's row
 * @param {[name: string, vote: Results][]} votes  name: "" if there is only one
 */
export function rowTable(t, choices, truth, votes) {
  const whole = truth.reduce((a, b) => a + b, 0) || 1;
  const model = truth.map((weight) => weight / whole);
  return el("div", { className: "class-rows" }, votes.map(([name, vote]) => heatmap(t, name, choices, model, vote)));
}

/** @param {Translate} t @param {string} name @param {Choice[]} choices @param {number[]} model @param {Results} vote */
function heatmap(t, name, choices, model, { count, rows, mean }) {
  if (!rows?.length) return null;
  const some = rows.length < count;
  const counted = some ? t("{n} of {count} rows, the nearest to the model’s first", { n: rows.length, count }) : t("{count} rows, the nearest to the model’s first", { count });
  const caption = name ? t("{vote}: {rows}", { vote: name, rows: counted }) : counted;
  const cells = (/** @type {number[]} */ row) => row.map((share, i) => el("td", { key: i, className: "cell", title: two(share), style: { "--share": String(share) } }, el("span", { className: "hidden" }, two(share))));
  const line = (/** @type {string} */ key, /** @type {string} */ label, /** @type {number[]} */ row, /** @type {number | null} */ apart) =>
    el("tr", { key, className: key.startsWith("of") ? key : "" }, el("th", { scope: "row" }, label), cells(row), el("td", { className: "apart" }, apart === null ? "" : two(apart)));
  return el(
    "table",
    { key: name },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("td", {}), choices.map(({ id, label }) => el("th", { key: id, scope: "col" }, el("span", {}, label))), el("th", { scope: "col", className: "apart" }, t("distance")))),
    el("tbody", {}, line("of-model", t("Model"), model, null), line("of-class", t("Class (mean)"), mean, distance(mean, model)), rows.map((row, i) => line(String(i), "", row, distance(row, model)))),
  );
}

/** Up to so many choices, those that nobody chose are listed too. */
const FEW = 8;

/**
 * One line for each vote.
 * @param {Translate} t @param {Votes} votes @param {import("../core/wire/requests-by-subject.js").Entry} [entry]
 */
export function voteSummary(t, { first, second }, entry = "choice") {
  const isWork = entry === "work";
  const agree = (/** @type {number} */ right) => (isWork ? t("{count} do it", { count: right }) : entry === "shares" ? t("{right} with the model’s largest weight", { right }) : t("{right} right", { right }));
  const line = (/** @type {string} */ name, /** @type {Results} */ { count, right, distance, others: rarer = 0 }) => {
    const parts = [isWork ? String(count) : t("{count} answered", { count }), right !== null && agree(right), distance !== null && t("mean distance from the model’s row {distance}", { distance: two(distance) }), rarer > 0 && t("{count} gave rarer answers", { count: rarer })];
    return count > 0 && el("p", {}, el("b", {}, name), " ", parts.filter(Boolean).join(" · "));
  };
  return [line(isWork ? t("Works") : t("First vote"), first), line(isWork ? t("Votes") : t("Second vote"), second), !first.count && !second.count && el("p", {}, t("Nobody has answered."))];
}

/**
 * Both votes side by side.
 * @param {Translate} t
 * @param {import("../ask/question.js").Choice[]} choices
 * @param {Votes} votes
 */
export function voteTable(t, choices, { first, second }) {
  const cell = (/** @type {Results} */ { chosen, count }, /** @type {string} */ id) =>
    el("td", {}, shareBar(count ? (chosen[id] ?? 0) / count : 0), el("span", { className: "number" }, String(chosen[id] ?? 0)));
  const [listed, twice] = [choices.filter(({ id }) => choices.length <= FEW || first.chosen[id] || second.chosen[id]), second.count > 0];
  const head = el("tr", {}, el("th", { scope: "col" }, t("Answer")), el("th", { scope: "col" }, t("First vote")), twice && el("th", { scope: "col" }, t("Second vote")));
  const rows = listed.map(({ id, label }) => el("tr", { key: id }, el("th", { scope: "row" }, label), cell(first, id), twice && cell(second, id)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, rows));
}

/**
 * The answers one by one: both votes on choices, and drawn rows beside the model's.
 * @param {Translate} t
 * @param {import("../core/wire/requests-by-subject.js").Entry} entry
 * @param {import("../ask/question.js").Choice[]} choices
 * @param {Votes} bothVotes
 * @param {{numbers?: number[], right?: string[]}} [truth]  the model's row, or the right cells
 */
export function answerTable(t, entry, choices, bothVotes, { numbers: truth, right = [] } = {}) {
  if (!choices.length) return null;
  if (entry === "cell") return cellTables(t, choices, bothVotes, right);
  if (entry === "choice") return bothVotes.second.count ? voteTable(t, choices, bothVotes) : null;
  if (entry === "order") return voteTable(t, ordersIn(choices, bothVotes), bothVotes);
  if (entry === "numbers") return choices.length === 1 ? voteTable(t, numbersIn(bothVotes), bothVotes) : null;
  return entry === "shares" && truth ? rowTable(t, choices, truth, [[t("First vote"), bothVotes.first], [t("Second vote"), bothVotes.second]]) : null;
}

/** Where the class pointed, a heat map for each vote. @param {Translate} t @param {Choice[]} choices @param {Votes} bothVotes @param {string[]} right */
const cellTables = (t, choices, { first, second }, right) =>
  el("div", { className: "cell-votes" }, cellCounts(t, choices, { name: t("First vote"), ...first }, right), cellCounts(t, choices, { name: t("Second vote"), ...second }, right));

/** The orders that were given most often, in words. @param {Choice[]} choices @param {Votes} both */
function ordersIn(choices, { first, second }) {
  const label = (/** @type {string} */ id) => choices.find((choice) => choice.id === id)?.label ?? id;
  const orders = [...new Set([...Object.keys(first.chosen), ...Object.keys(second.chosen)])];
  return orders.map((order) => ({ id: order, label: el("span", {}, order.split(" ").flatMap((id, i) => [i > 0 && " → ", label(id)])) }));
}

/** The different numbers that were given, in order. @param {Votes} both */
const numbersIn = ({ first, second }) =>
  [...new Set([...Object.keys(first.chosen), ...Object.keys(second.chosen)])].sort((a, b) => Number(a) - Number(b)).map((id) => ({ id, label: id.replace("-", "−") }));

/**
 * The answers of a class as the prediction shows them: for numbers their mean, as one answer.
 * @param {import("../core/wire/requests-by-subject.js").Entry} entry
 * @param {Results} results
 * @returns {string[][]}
 */
export function classAnswers(entry, { chosen, mean, count }) {
  if (!count) return [];
  if (entry === "cell") return []; // its heat maps have them
  if (entry !== "choice") return [mean.map(String)];
  return Object.entries(chosen).flatMap(([id, times]) => Array.from({ length: times }, () => [id]));
}

// What a class answered, question by question, after the lesson: from its room or from a saved file.

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
