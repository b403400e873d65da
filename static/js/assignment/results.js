/** The author's side of an assignment: its link, what was answered beside the model's answers, the table. */

import { cellCounts } from "../ask/cells.js";
import { createShortLink } from "../core/page/short-link.js";
import { classAnswers, rowTable } from "../room/results.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h, inSight } from "../lib/dom.js";
import { download } from "../lib/browser.js";
import { two } from "../lib/numbers.js";
import { el, render } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { assignmentKey, forgetAssignment } from "./kept-assignments.js";
import { createQuestion } from "./question.js";

/** @import { AnswersSummary } from "../core/wire/schemas.d.ts" */

/** Milliseconds between two looks at the answers. */
const PACE = 10_000;

/**
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api, root: HTMLElement, lang: string}} services
 * @param {import("../core/wire/schemas.d.ts").AssignmentReply} assignment
 */
export function showResults({ page, api, root, lang }, { id, url, questions }) {
  const { t } = page;
  const key = assignmentKey(id);
  const link = createShortLink(page);
  const head = h("section", { className: "owning", "aria-label": t("Your assignment") });
  const items = questions.map((assigned, i) => createQuestion({ page, api, id, token: () => key, assigned, number: i + 1, answers: false }));
  root.replaceChildren(head, h("ol", { className: "questions" }, ...items.map(({ element }) => element)));
  /** @type {AnswersSummary | null} */
  let summary = null;
  /** @type {Problem | null} */
  let problem = null;
  let [sure, gone] = [false, false];
  /** The model's rows, of questions that are answered by drawing one, and right cells. @type {Map<number, {choices: import("../ask/question.js").Choice[], truth: number[], right: string[]}>} */
  const rows = new Map();

  async function refresh() {
    if (!document.hidden) {
      const reply = await api.sumUpAnswers(id, key).catch(failure);
      problem = reply instanceof Problem ? reply : null;
      if (!(reply instanceof Problem)) summary = reply;
      draw();
    }
    if (!gone) setTimeout(refresh, PACE);
  }

  /** Save a file of answers. @param {Promise<Blob>} reply @param {string} extension */
  async function save(reply, extension) {
    const file = await reply.catch(failure);
    problem = file instanceof Problem ? file : null;
    if (!(file instanceof Problem)) download(file, `answers-${id}.${extension}`);
    draw();
  }

  async function remove() {
    const failed = await api.deleteAssignment(id, key).then(() => null, failure);
    if (failed) {
      problem = failed;
      return draw();
    }
    gone = true;
    forgetAssignment(id);
    root.replaceChildren(h("p", { role: "status" }, t("The assignment was deleted with all answers."), " ", h("a", { href: `/a?lang=${lang}` }, t("Your assignments"))));
  }

  const student = () => link.show(url, t("Students open this link and answer in their own time."), { opener: head });
  const owner = () => link.show(`${url}#key=${key}`, t("Keep this link to yourself: whoever has it sees all answers and can delete them."), { opener: head });

  function draw() {
    if (gone) return;
    const members = summary?.members ?? 0;
    render(
      head,
      el("p", { key: "count", className: "count", role: "status" }, el("b", {}, members === 1 ? t("1 student has answered") : t("{n} students have answered", { n: members }))),
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
      el(
        "div",
        { key: "actions", className: "actions" },
        button(t("Link for students"), student, "strong"),
        button(t("Download the answers (CSV)"), () => void save(api.assignmentTable(id, key), "csv"), "", !members),
        button(t("Download everything (JSON)"), () => void save(api.assignmentRecord(id, key), "json"), "", !members),
        button(t("Link for yourself"), owner),
        sure
          ? [el("span", { key: "sure", role: "alert" }, t("Delete the assignment and all answers?")), button(t("Delete it"), () => void remove(), "strong"), button(t("Keep it"), () => ((sure = false), draw()), "quiet")]
          : button(t("Delete…"), () => ((sure = true), draw()), "quiet"),
      ),
      link.element,
    );
    items.forEach(({ below, tally }, i) => {
      const results = summary?.results[i];
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
    draw();
  });
  draw();
  void refresh();
}

/** @param {string} words @param {() => void} onclick @param {"" | "strong" | "quiet"} [kind] @param {boolean} [disabled] */
const button = (words, onclick, kind = "", disabled = false) => el("button", { type: "button", key: words, className: `button ${kind}`.trim(), disabled, onclick }, words);
