/** The line of a view that is loading its numbers: what is loading, or why it failed. */

import { h } from "../../lib/dom.js";
import { wording } from "./problem-wording.js";

/**
 * @param {import("./types.js").Context} context
 * @param {string} says  the text while loading
 */
export function waitingLine({ store, t }, says) {
  const element = h("p", { className: "waiting" }, says);
  return {
    element,
    /** @param {boolean} waits @param {string} [words]  in place of what is said otherwise */
    show(waits, words = says) {
      const { problem } = store.get();
      element.hidden = !waits;
      element.textContent = problem ? wording(t, problem) : words;
    },
  };
}
