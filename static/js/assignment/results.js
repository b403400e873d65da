/** The author's side of an assignment: its link, what was answered beside the model's answers, the table. */

import { cellCounts } from "../ask/cells.js";
import { classAnswers, rowTable } from "../room/vote-results.js";
import { el, h, inSight, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { assignmentKeys, createOwnerPanel } from "./owned-pages.js";
import { createQuestion } from "./question.js";

/** @import { AnswersSummary } from "../core/wire/schemas.d.ts" */

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
