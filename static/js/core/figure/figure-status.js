/** The status of a figure: loading, or a problem. */

import { h } from "../../lib/dom.js";
import { Problem } from "../wire/reply.js";
import { wording } from "./problem-wording.js";

/** @import { Page } from "../store/store.js" */

/**
 * @typedef {object} Places
 * @property {HTMLElement} root  gets data attributes for stylesheets and tests
 * @property {HTMLElement} [busy]  gets `aria-busy`; absent: the root
 * @property {HTMLElement} [message]  gets the message
 * @property {HTMLElement} [line]  its container; absent: the same element
 * @property {HTMLElement} [retry]
 */

/**
 * @param {Pick<import("./types.js").Context, "store" | "t">} context
 * @param {() => void} again  retries what failed
 * @param {Places} places
 * @param {(page: Page) => boolean} lacks  whether something that is shown of the trace is still to come
 * @returns {() => void}  unsubscribes
 */
export function bindStatus({ store, t }, again, { root, busy = root, message, line = message, retry }, lacks) {
  const waits = (/** @type {Page} */ page) => page.status === "waiting" || (page.status === "ready" && !page.problem && lacks(page));

  function show() {
    const page = store.get();
    const problem = problemOf(page);
    root.dataset.status = page.status;
    root.dataset.picture = page.trace ? "drawn" : "none";
    busy.setAttribute("aria-busy", String(waits(page)));
    if (message) message.textContent = problem ? wording(t, problem) : "";
    if (line) {
      line.hidden = !problem;
      // It goes on by itself: nothing to be alarmed about, and nothing to do.
      line.toggleAttribute("data-calm", problem?.kind === "queued");
      line.role = problem?.kind === "queued" ? "status" : "alert";
    }
    if (retry) retry.hidden = !problem?.passing || problem.retryAfter !== null;
  }
  retry?.addEventListener("click", again);
  const unsubscribe = store.subscribe((page) => [page.status, problemOf(page), page.trace, waits(page)], show);
  show();
  return () => {
    unsubscribe();
    delete root.dataset.status;
    delete root.dataset.picture;
    busy.removeAttribute("aria-busy");
    retry?.removeEventListener("click", again);
  };
}

/**
 * The problem of the figure's own trace, or a temporary one of its additional requests; other
 * problems of those are shown by the view.
 * @param {Page} page
 * @returns {Problem | null}
 */
export function problemOf({ problem, answers }) {
  const passing = (/** @type {unknown} */ answer) => answer instanceof Problem && answer.passing;
  return problem ?? /** @type {Problem | undefined} */ (Object.values(answers).find(passing)) ?? null;
}

// The line of a view that is loading its numbers: what is loading, or why it failed.

/**
 * @param {import("./types.js").Context} context
 * @param {string} loadingText  the text while loading
 */
export function waitingLine({ store, t }, loadingText) {
  const element = h("p", { className: "waiting" }, loadingText);
  return {
    element,
    /** @param {boolean} waits @param {string} [words]  in place of what is said otherwise */
    show(waits, words = loadingText) {
      const { problem } = store.get();
      element.hidden = !waits;
      element.textContent = problem ? wording(t, problem) : words;
    },
  };
}

// The problem of a view's additional request, with a button to retry.

/** @param {Pick<import("./types.js").Context, "t">} context @param {() => void} again */
export function problemLine({ t }, again) {
  const words = h("span", {});
  const button = h("button", { type: "button", className: "button" }, t("Try again"));
  const element = h("p", { className: "problem", role: "alert", hidden: true }, words, " ", button);
  button.addEventListener("click", again);
  return {
    element,
    /** @param {import("../wire/reply.js").Problem | null} problem */
    show(problem) {
      element.hidden = !problem;
      words.textContent = problem ? wording(t, problem) : "";
      button.hidden = !problem?.passing || problem.retryAfter !== null;
    },
  };
}
