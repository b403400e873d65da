/** How many tokens a decoder writes after the text: part of the run, as `decode.max_tokens`. */

import { plan, said } from "../store/decode-options.js";
import { outputKind } from "../wire/output.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { isFixed } from "../store/share-contents.js";

/** @import { Context } from "./types.js" */

const COUNTS = [1, 5, 10, 20, 40];

/**
 * @param {Context} context
 * @param {number} usual  the number if the link has none
 */
export function continuationLength({ store, t }, usual) {
  const menu = h("select", {});
  const element = h("label", { className: "option menu" }, h("span", {}, t("Tokens to write")), menu);
  menu.addEventListener("change", () => {
    const { decode } = store.get().link;
    const max_tokens = Number(menu.value);
    store.go({ decode: said({ ...plan(decode), prefix: [], max_tokens: max_tokens === usual ? undefined : max_tokens }) }, "chosen");
  });

  function refresh() {
    const page = store.get();
    element.hidden = !page.model || outputKind(page.model) !== "text";
    const { max_tokens = usual, prefix } = plan(page.link.decode);
    const count = Math.max(max_tokens, prefix.length);
    const counts = COUNTS.includes(count) ? COUNTS : [...COUNTS, count].sort((a, b) => a - b);
    render(menu, counts.map((n) => el("option", { value: String(n) }, String(n))));
    menu.value = String(count);
    menu.disabled = isFixed(page);
  }
  return { element, refresh };
}
