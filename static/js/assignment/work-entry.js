/**
 * A question that is answered with a work: a sentence, or the link of what a student found in the
 * workspace. The server runs it and says whether it reaches the goal; what was tried last is the answer.
 */

import { isTyped, verdictWords } from "../ask/challenge-goals.js";
import { MAX_LINK, MAX_SENTENCE, goalList, originalOf, withSentence, workLink } from "../ask/challenge-works.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @import { Question } from "../ask/question.js" */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {object} of
 * @param {string} of.id  of the assignment
 * @param {number} of.index  of the question, from 0
 * @param {Question} of.question
 * @param {string} of.labelled  the id of its words
 * @param {string[] | null} of.answer  given earlier: the link of a work, and what proves its verdict
 * @param {boolean} of.answers  false: the reader only looks
 * @param {(answer: string[]) => void} of.onAnswer
 */
export function createWorkEntry({ t }, api, { id, index, question, labelled, answer, answers, onAnswer }) {
  const element = h("div", { className: "work-entry" });
  const types = isTyped(question);
  let typed = answer ? (types ? originalOf({ link: answer[0] }) : answer[0]) : types ? originalOf(question) : "";
  let [busy, closed, status, isProblem] = [false, !answers, "", false];
  /** @type {boolean | null} */
  let right = null;

  async function run(/** @type {string | null} */ link) {
    if (!link) return finish(t("Paste the link of a page that shows a sentence."), true);
    busy = true;
    draw();
    const reply = await api.checkWork(id, { question: index, link }).catch(failure);
    busy = false;
    if (reply instanceof Problem) return finish(wording(t, reply), true);
    right = reply.verdict.does;
    finish(verdictWords(t, question, reply.verdict) || t("It ran."));
    return reply;
  }

  /** @param {string} words @param {boolean} [failed] */
  function finish(words, failed = false) {
    [status, isProblem] = [words, failed];
    draw();
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (busy || closed || !typed.trim()) return;
    const reply = await run(types ? withSentence(question, typed.trim()) : pasted(typed));
    if (!reply) return;
    answer = [reply.link, reply.seal];
    onAnswer(answer);
  }

  function draw() {
    const read = (/** @type {any} */ { target }) => ((typed = target.value), draw());
    const shared = { value: typed, readOnly: closed, oninput: read };
    const field = types
      ? el("textarea", { key: "field", rows: 2, maxLength: MAX_SENTENCE, "aria-labelledby": labelled, ...shared })
      : el("input", { key: "field", type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, maxLength: 4 * MAX_LINK, "aria-label": t("The link of what you found"), placeholder: t("The link of what you found"), ...shared });
    const href = types ? withSentence(question, typed.trim()) : `/?${question.link}`;
    render(
      element,
      goalList(t, question),
      answers && !types && el("p", { key: "how", className: "hint" }, t("Open it in the workspace, find it there, and paste the address of that page here.")),
      answers && el("form", { key: "form", onsubmit: submit }, field, el("p", { className: "actions" }, el("button", { type: "submit", className: "button strong", disabled: busy || closed || !typed.trim() }, t("Try it")), el("a", { href, target: "_blank", rel: "noopener" }, t("Look at it in the workspace")))),
      el("p", { key: "says", className: isProblem ? "problem" : "says", role: "status" }, busy ? t("Running…") : status),
    );
  }

  draw();
  return {
    element,
    close: () => ((closed = true), draw()),
    /** Whether the work that was sent does what is asked; null: nothing is checked. @returns {Promise<boolean | null>} */
    async reveal() {
      if (answer && !status) await run(answer[0]);
      return right;
    },
  };
}

/** The link of a page of any server. @param {string} address */
function pasted(address) {
  try {
    return workLink(address.trim());
  } catch {
    return null;
  }
}
