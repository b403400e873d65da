/** What went wrong and what to do about it, in the reader's language, beside the field it is about. */

import { Problem } from "../data/problem.js";
import { wording } from "../parts/wording.js";
import { find } from "../lib/dom.js";

/** @typedef {import("../state/contract.js").Context} Context */
/** @typedef {import("../lib/i18n.js").Translate} Translate */

/** @param {Context} context */
export function bindProblems({ store, session, t }) {
  const line = find("#problem");
  const retry = find("#retry");
  const empty = find("#empty");
  function show() {
    const page = store.get();
    const { status, trace } = page;
    const problem = troubleOf(page);
    document.documentElement.dataset.status = status;
    document.documentElement.dataset.picture = trace ? "drawn" : "none";
    find("#stage").setAttribute("aria-busy", String(status === "waiting"));
    find("#problem-text").textContent = problem ? wording(t, problem) : "";
    line.hidden = !problem;
    retry.hidden = !problem?.passing;
    empty.hidden = status !== "empty";
    find("#source").setAttribute("aria-invalid", String(status === "failed"));
  }
  retry.addEventListener("click", () => session.retry());
  window.addEventListener("online", () => troubleOf(store.get())?.kind === "offline" && session.retry());
  store.subscribe((page) => [page.status, troubleOf(page), page.trace], show);
  show();
}

/**
 * What went wrong with the page's own trace, or else for a moment with what is asked beside it; what
 * is wrong with a question itself its view says.
 * @param {import("../state/store.js").Page} page
 * @returns {Problem | null}
 */
function troubleOf({ problem, answers }) {
  const passing = (/** @type {unknown} */ one) => one instanceof Problem && one.passing;
  return problem ?? /** @type {Problem | undefined} */ (Object.values(answers).find(passing)) ?? null;
}
