/**
 * Says what has changed to whoever does not see it: the translation when it comes, the sentence
 * under the views when one goes to another head. What the pointer passes over is not said.
 */

import { find } from "../lib/dom.js";
import { settle } from "../lib/timing.js";

/** @typedef {import("../state/types.js").Context} Context */

/** How long a hand is still before it is said, in milliseconds: who runs through heads hears the last. */
const REST = 300;
const PLACE = /** @type {const} */ (["view", "block", "layer", "head"]);

/** @param {Context} context */
export function bindAnnouncer({ store, announce, t }) {
  let said = "";
  const speak = settle(() => {
    const { trace, status, link } = store.get();
    if (!trace || status !== "ready" || link.query !== null) return;
    const { text } = trace.output;
    const news = text === said ? "" : `${t("Translation")}: ${text || t("(nothing)")} `;
    said = text;
    announce(news + caption());
  }, REST);
  store.subscribe(({ link, trace }) => [...PLACE.map((key) => link[key]), trace?.output.text], speak.later);
}

/** The row's sentence, where the present view says it; a sentence of its own a view announces itself. */
function caption() {
  return document.documentElement.dataset.caption === "yes" ? (find("#caption").textContent ?? "") : "";
}
