/** A select menu, for choices with too many values for radio buttons. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";

/**
 * @param {import("../../core/figure/types.js").Context} context
 * @param {string} option  its name in the link
 * @param {string} label
 * @returns {{element: HTMLElement, fill: (values: Record<string, string>) => void}}  `fill` sets
 *   the values and selects the link's one, or the first if it is not among them
 */
export function menu({ store, own }, option, label) {
  const select = h("select", { id: own(`option-${option}`) });
  select.addEventListener("change", () => store.choose({ [option]: select.value }));
  return {
    element: h("label", { className: "option menu" }, h("span", {}, label), select),
    fill(values) {
      render(select, Object.entries(values).map(([value, text]) => el("option", { value }, text)));
      const chosen = store.get().link.options[option];
      select.value = chosen in values ? chosen : Object.keys(values)[0];
    },
  };
}
