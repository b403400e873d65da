/** What a class answered, once it is revealed. */

import { cellCounts } from "../ask/cells.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";

/** @import { Results, Votes } from "../core/wire/schemas.d.ts" */
/** @import { Choice } from "../ask/question.js" */
/** @import { Translate } from "../lib/i18n.js" */

// The rows that a class drew, as a heatmap below the model's: one line per answer, the nearest
// first, with its total variation distance ½ Σ|p − q|; both votes side by side.

/** The total variation distance of two rows of shares. @param {number[]} p @param {number[]} q */
export const distance = (p, q) => p.reduce((sum, weight, i) => sum + Math.abs(weight - (q[i] ?? 0)), 0) / 2;

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
 * @param {Translate} t @param {Votes} votes @param {import("../core/wire/subject-requests.js").Entry} [entry]
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
 * @param {import("../core/wire/subject-requests.js").Entry} entry
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
 * @param {import("../core/wire/subject-requests.js").Entry} entry
 * @param {Results} results
 * @returns {string[][]}
 */
export function classAnswers(entry, { chosen, mean, count }) {
  if (!count) return [];
  if (entry === "cell") return []; // its heat maps have them
  if (entry !== "choice") return [mean.map(String)];
  return Object.entries(chosen).flatMap(([id, times]) => Array.from({ length: times }, () => [id]));
}
