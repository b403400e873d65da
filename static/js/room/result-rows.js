/**
 * The rows that a class drew, as a heatmap below the model's: one line per answer, the nearest
 * first, with its total variation distance ½ Σ|p − q|; both votes side by side.
 */

import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";

/** @import { Results } from "../core/wire/rooms.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Choice } from "../ask/question.js" */

/** The total variation distance of two rows of shares. @param {number[]} p @param {number[]} q */
export const distance = (p, q) => p.reduce((sum, one, i) => sum + Math.abs(one - (q[i] ?? 0)), 0) / 2;

/**
 * @param {Translate} t
 * @param {Choice[]} choices  the columns
 * @param {number[]} truth  the model's row
 * @param {[name: string, vote: Results][]} votes  name: "" if there is only one
 */
export function rowsOf(t, choices, truth, votes) {
  const whole = truth.reduce((a, b) => a + b, 0) || 1;
  const model = truth.map((one) => one / whole);
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
