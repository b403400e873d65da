/**
 * Choose a query and a key: two lists with previous and next buttons, for views without a matrix.
 */

import { axes } from "../wire/attentions.js";
import { pair } from "../store/highlight.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { plainStep } from "../wire/tokens.js";

/** @import { Context } from "./types.js" */
/** @typedef {"query" | "key"} Side */

/**
 * @param {Context} context
 * @param {Side[]} [sides]  what can be chosen
 * @returns {HTMLElement & {refresh: () => void}}
 */
export function cellPicker({ store, t }, sides = ["query", "key"]) {
  const named = { query: t("query"), key: t("key") };
  const steps = {
    query: [t("query above"), t("query below")],
    key: [t("previous key"), t("next key")],
  };

  /** @param {Side} side @param {number} index */
  function go(side, index) {
    const { model, trace, link } = store.get();
    const at = pair(store.get());
    if (!trace || !at) return;
    const { rows, cols } = axes(model, trace, link.block);
    const last = (side === "query" ? rows : cols).length - 1;
    const to = Math.min(Math.max(index, 0), last);
    // If no key is pinned, the cell is the one that the query looks at most.
    const key = sides.includes("key") ? at.key : link.key;
    store.go({ query: at.query, key, [side]: to });
  }

  const pickers = sides.map((side) => {
    const select = h("select", { "aria-label": named[side] });
    select.addEventListener("change", () => go(side, Number(select.value)));
    const buttons = [-1, 1].map((by, i) => {
      const button = h(
        "button",
        { type: "button", className: "button quiet", "aria-label": steps[side][i] },
        side === "query" ? "↑↓"[i] : "←→"[i],
      );
      button.addEventListener("click", () => go(side, Number(select.value) + by));
      return button;
    });
    const label = h("span", { className: "name" }, named[side]);
    return { side, select, buttons, element: h("div", { className: `picker as-${side}`, role: "group", "aria-label": named[side] }, label, select, ...buttons) };
  });

  function refresh() {
    const page = store.get();
    const at = pair(page);
    if (!page.trace || !at) return;
    const { rows, cols } = axes(page.model, page.trace, page.link.block);
    for (const { side, select, buttons } of pickers) {
      const steps = side === "query" ? rows : cols;
      render(select, steps.map((step, i) => el("option", { value: String(i), lang: step.writes.lang }, `${i + 1}  ${plainStep(step)}`)));
      select.value = String(at[side]);
      buttons[0].disabled = at[side] === 0;
      buttons[1].disabled = at[side] === steps.length - 1;
    }
  }

  return Object.assign(h("div", { className: "cell-picker" }, ...pickers.map(({ element }) => element)), { refresh });
}
