/** Menus for the layer and the head, in views without thumbnails beside the figure. */

import { extent } from "../../core/wire/attentions.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */

/**
 * @param {Context} context
 * @param {"layer" | "head"} which
 * @param {(page: Page) => {block: string, layer: number, head: number}} at  the block, and the
 *   layer and head selected in it
 */
export function picker({ store, t }, which, at) {
  const select = h("select", {});
  select.addEventListener("change", () => store.go({ [which]: Number(select.value) }));
  return {
    element: h("label", { className: "option" }, h("span", {}, which === "layer" ? t("Layer") : t("Head")), select),
    draw() {
      const page = store.get();
      const count = page.model ? extent(page.model, at(page).block)[`${which}s`] : 0;
      render(select, Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, String(i + 1))));
      select.value = String(at(page)[which]);
    },
  };
}
