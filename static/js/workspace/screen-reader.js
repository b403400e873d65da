/**
 * Announce changes to screen readers: the translation when it arrives, and the caption when the
 * head changes. Hovered cells are not announced.
 */

import { find } from "../lib/dom.js";
import { settle } from "../lib/timing.js";

/** @import { Context } from "../core/figure/types.js" */

/**
 * The delay of announcements in milliseconds, so that only the last of several quick changes is
 * announced.
 */
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
    const words = news + caption();
    if (words) announce(words);
  }, REST);
  store.subscribe(({ link, trace }) => [...PLACE.map((key) => link[key]), trace?.output.text], speak.later);
}

/**
 * The caption, if the current view uses it; views with their own sentence announce it themselves.
 */
function caption() {
  return document.documentElement.dataset.caption === "yes" ? (find("#caption").textContent ?? "") : "";
}
