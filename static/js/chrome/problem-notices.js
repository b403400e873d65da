/** What went wrong and what to do about it, in the reader's language, beside the field it is about. */

import { wording } from "../parts/wording.js";
import { find } from "../lib/dom.js";

/** @typedef {import("../state/contract.js").Context} Context */
/** @typedef {import("../data/problem.js").Problem} Problem */
/** @typedef {import("../lib/i18n.js").Translate} Translate */

/** @param {Context} context */
export function bindProblems({ store, session, t }) {
  const line = find("#problem");
  const retry = find("#retry");
  const empty = find("#empty");
  function show() {
    const { status, problem, trace } = store.get();
    document.documentElement.dataset.status = status;
    document.documentElement.dataset.picture = trace ? "drawn" : "none";
    find("#stage").setAttribute("aria-busy", String(status === "waiting"));
    find("#problem-text").textContent = problem ? wording(t, problem) : "";
    line.hidden = !problem;
    retry.hidden = !problem || !["offline", "busy", "internal"].includes(problem.kind);
    empty.hidden = status !== "empty";
    find("#source").setAttribute("aria-invalid", String(problem !== null));
  }
  retry.addEventListener("click", () => session.run());
  window.addEventListener("online", () => store.get().problem?.kind === "offline" && session.run());
  store.subscribe(({ status, problem, trace }) => [status, problem, trace], show);
  show();
}
