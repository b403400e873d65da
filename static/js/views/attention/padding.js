/** Run with padding, so that the padding mask can be seen: `pad_to` of the request. */

import { isFixed } from "../../core/store/share-contents.js";
import { h, write } from "../../lib/dom.js";
import { isPad } from "../../core/wire/tokens.js";

/** @import { Context } from "../../core/figure/types.js" */

/** The initial number of padding tokens: enough to be seen, and not so many that they dominate. */
const FIRST = 3;

/** @param {Context} context */
export function padding({ store, t }) {
  const box = h("input", { type: "checkbox" });
  const count = h("input", { type: "number", className: "count", "aria-label": t("pad to this many tokens") });
  const words = h("span", {}, t("pad to"));
  const element = h(
    "span",
    { className: "option padding" },
    h("label", { className: "toggle option" }, box, words),
    count,
  );

  /** @returns {number}  tokens of the longer side, without padding */
  function longest() {
    const { trace } = store.get();
    const sides = trace ? Object.values(trace.tokens) : [];
    return Math.max(1, ...sides.map((tokens) => tokens.filter((token) => !isPad(token)).length));
  }
  /** @param {number} wanted */
  const within = (wanted) => Math.min(Math.max(wanted, longest()), store.get().model?.max_tokens ?? wanted);

  box.addEventListener("change", () => {
    store.go({ pad_to: box.checked ? within(longest() + FIRST) : null });
  });
  count.addEventListener("change", () => {
    if (count.value) store.go({ pad_to: within(Number(count.value)) });
    refresh();
  });

  function refresh() {
    const { link, model } = store.get();
    element.hidden = Boolean(model?.missing?.padding) && link.pad_to === null;
    box.checked = link.pad_to !== null;
    box.disabled = count.disabled = isFixed(store.get());
    count.hidden = link.pad_to === null;
    count.min = String(longest());
    count.max = String(model?.max_tokens ?? "");
    if (document.activeElement !== count) count.value = String(link.pad_to ?? "");
    write(words, link.pad_to === null ? t("padding") : t("padding up to"));
  }
  return { element, refresh };
}
