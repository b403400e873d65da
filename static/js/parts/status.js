/** Whether a figure waits, and what went wrong with it. */

import { Problem } from "../data/problem.js";
import { wording } from "./problem-wording.js";

/** @typedef {import("../state/store.js").Page} Page */
/**
 * @typedef {object} Places
 * @property {HTMLElement} root  its stylesheets read off it what can be seen
 * @property {HTMLElement} [busy]  that is told to be; absent: the root
 * @property {HTMLElement} [says]  takes the words
 * @property {HTMLElement} [line]  that they stand in; absent: the same
 * @property {HTMLElement} [retry]
 */

/**
 * @param {Pick<import("../state/types.js").Context, "store" | "t">} context
 * @param {() => void} again  asks for what went wrong
 * @param {Places} places
 * @returns {() => void}  stops it
 */
export function bindStatus({ store, t }, again, { root, busy = root, says, line = says, retry }) {
  function show() {
    const page = store.get();
    const problem = troubleOf(page);
    root.dataset.status = page.status;
    root.dataset.picture = page.trace ? "drawn" : "none";
    busy.setAttribute("aria-busy", String(page.status === "waiting"));
    if (says) says.textContent = problem ? wording(t, problem) : "";
    if (line) line.hidden = !problem;
    if (retry) retry.hidden = !problem?.passing;
  }
  retry?.addEventListener("click", again);
  const deaf = store.subscribe((page) => [page.status, troubleOf(page), page.trace], show);
  show();
  return () => {
    deaf();
    delete root.dataset.status;
    delete root.dataset.picture;
    busy.removeAttribute("aria-busy");
    retry?.removeEventListener("click", again);
  };
}

/**
 * What went wrong with the figure's own trace, or else for a moment with what is asked beside it; what
 * is wrong with a question itself its view says.
 * @param {Page} page
 * @returns {Problem | null}
 */
export function troubleOf({ problem, answers }) {
  const passing = (/** @type {unknown} */ one) => one instanceof Problem && one.passing;
  return problem ?? /** @type {Problem | undefined} */ (Object.values(answers).find(passing)) ?? null;
}
