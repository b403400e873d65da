/** Long texts: no chips and no inspector, and a text that is too long can be truncated. */

import { isLong } from "../core/wire/long-texts.js";
import { cut } from "./cut-text.js";
import { typed } from "../core/wire/attentions.js";
import { isFixed } from "../core/store/share-contents.js";
import { find, h } from "../lib/dom.js";

/** @import { Page } from "../core/store/store.js" */

/** @param {import("../workspace/types.js").Desk} desk */
export function bindLongText({ store, t }) {
  const button = h("button", { type: "button", className: "button", hidden: true });
  find("#problem").append(button);
  const shows = () => document.documentElement.toggleAttribute("data-long", isLong(store.get().trace));

  function offer() {
    const excess = tooMuch(store.get());
    button.hidden = !excess;
    if (!excess) return;
    button.textContent = excess.unit === "tokens" ? t("Cut to {limit} tokens", { limit: excess.limit }) : t("Cut to {limit} characters", { limit: excess.limit });
  }
  // The box stays as large as it is while the button is pressed, so that the button stays where it is.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const page = store.get();
    const excess = tooMuch(page);
    if (!excess) return;
    store.go({ source: cut(page.link.source, excess), query: null, key: null }, "chosen");
    find("#source").focus();
  });
  // A long text is in the address's fragment, which a link within the page would replace.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  store.subscribe(({ trace }) => isLong(trace), shows);
  store.subscribe(({ problem, status, share, live }) => [problem, status, share, live], offer);
  shows();
  offer();
}

/**
 * By how much the typed text is too long; null: it is not, or it cannot be truncated.
 * @param {Page} page
 */
function tooMuch(page) {
  const { problem, status, model } = page;
  if (status !== "failed" || problem?.kind !== "text-too-long" || !problem.excess || isFixed(page)) return null;
  return ["tokens", "characters"].includes(problem.excess.unit) && problem.field === typed(model) ? problem.excess : null;
}
