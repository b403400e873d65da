/** The problem of a view's additional request, with a button to retry. */

import { h } from "../../lib/dom.js";
import { wording } from "./problem-wording.js";

/**
 * @param {Pick<import("./types.js").Context, "t">} context
 * @param {() => void} again
 */
export function trouble({ t }, again) {
  const words = h("span", {});
  const button = h("button", { type: "button", className: "button" }, t("Try again"));
  const element = h("p", { className: "problem", role: "alert", hidden: true }, words, " ", button);
  button.addEventListener("click", again);
  return {
    element,
    /** @param {import("../wire/problem.js").Problem | null} problem */
    show(problem) {
      element.hidden = !problem;
      words.textContent = problem ? wording(t, problem) : "";
      button.hidden = !problem?.passing || problem.retryAfter !== null;
    },
  };
}
