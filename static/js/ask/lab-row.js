/** The row of a step of attention by hand that a question is about, and the numbers it follows from. */

import { plainly } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { headedTable } from "../core/figure/number-table.js";
import { parse } from "../lab/link.js";
import { preset } from "../lab/presets.js";
import { request } from "../lab/request.js";
import { labels, shownSteps } from "../lab/steps.js";

/** @import { Asked } from "./question.js" */

/** The steps that a step is computed from; of others, it is the step before. @type {Record<string, string[]>} */
const FROM = { q: ["input"], k: ["input"], v: ["input"], products: ["q", "k"], scores: ["q", "k"], weights: ["scores", "mask"], mix: ["weights", "v"] };

/** @param {Asked} asked */
async function computed(asked) {
  const lab = parse(asked.question.link, preset("identity"));
  return { lab, answer: await asked.compute(request(lab)) };
}

/** @param {Asked} asked */
const stepOf = ({ question }) => question.step ?? "weights";

/** The numbers in the lab's first head. @param {Asked} asked @returns {Promise<number[]>} */
export async function labRow(asked) {
  const { steps, dims } = (await computed(asked)).answer;
  const step = stepOf(asked);
  return (dims[step][0] === "head" ? steps[step][0] : steps[step])[asked.question.row ?? 0];
}

/** The labels of its columns: tokens, or channels of a vector. @param {Asked} asked */
export async function labColumns(asked) {
  const { lab, answer } = await computed(asked);
  const row = await labRow(asked);
  return labels(lab, answer.dims[stepOf(asked)].at(-1) ?? "", row.length).map((name, i) => name || String(i + 1));
}

/** The names of the step and of the row. @param {Asked} asked */
export async function labNames(asked) {
  const { lab, answer } = await computed(asked);
  const step = shownSteps(lab, answer, asked.t).find(({ id }) => id === stepOf(asked));
  const row = asked.question.row ?? 0;
  return { step: step?.name ?? stepOf(asked), row: step?.tables[0].rows[row] || String(row + 1) };
}

/** The tables that the row is computed from. @param {Asked} asked */
export async function labTables(asked) {
  const { lab, answer } = await computed(asked);
  const steps = shownSteps(lab, answer, asked.t);
  const before = steps[steps.findIndex(({ id }) => id === stepOf(asked)) - 1]?.id ?? "";
  const from = FROM[stepOf(asked)] ?? [before];
  return steps
    .filter(({ id }) => from.includes(id))
    .map(({ name, scale, tables: [{ values, rows, cols }] }) => headedTable({ title: name, rows, cols }, asked.t, (i, j) => el("td", { key: j }, scale === "mask" ? String(Number(Boolean(values[i][j]))) : plainly(values[i][j]))));
}
