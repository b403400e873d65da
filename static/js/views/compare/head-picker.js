/** B's picker of another head or layer, with thumbnails like those of the page. */

import { extent } from "../../core/wire/attentions.js";
import { glimpse, thumbnails } from "../../core/compute/glimpses.js";
import { otherPlace } from "../../core/store/comparison.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { table, thumbnail } from "../../core/draw/head-grid.js";
import { sequential } from "../../core/draw/scale.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */

/** @param {Page} page @returns {boolean}  whether B is another head or layer, and there are pictures to pick from */
const picks = ({ link }) => link.options.other === "head" || link.options.other === "layer";

/** @param {Page} page @returns {string[]}  addresses of what is offered */
export const offered = (page) => (picks(page) ? thumbnails(page.model, page.link.block) : []);

/** @param {Context} context */
export function otherPicker(context) {
  const { store, t, own } = context;
  const legend = h("legend", {});
  const list = h("div", { className: "others" });
  const element = h("fieldset", { className: "option other" }, legend, list);
  list.addEventListener("change", (event) => {
    const value = Number(/** @type {HTMLInputElement} */ (event.target).value);
    const name = store.get().link.options.other === "layer" ? "layer_b" : "head_b";
    store.choose({ [name]: value });
  });

  /** @param {"head" | "layer"} which @param {number} count @param {number} chosen */
  function build(which, count, chosen) {
    legend.textContent = which === "head" ? t("B's head") : t("B's layer");
    const labels = Array.from({ length: count }, (_, i) => {
      const name = which === "head" ? t("Head {n}", { n: i + 1 }) : t("Layer {n}", { n: i + 1 });
      return el(
        "label",
        { className: "thumb", title: name },
        el("input", { type: "radio", name: own("other"), value: String(i), className: "hidden", "aria-label": `B: ${name}`, checked: i === chosen }),
        el("canvas", { "aria-hidden": "true" }),
        el("span", { className: "number", "aria-hidden": "true" }, String(i + 1)),
      );
    });
    render(list, labels);
  }

  function refresh() {
    const page = store.get();
    const { link, model, trace } = page;
    const { other: by } = link.options;
    element.hidden = !model || !picks(page);
    if (!model || !trace || (by !== "head" && by !== "layer")) return;
    const { layers, heads } = extent(model, link.block);
    build(by, by === "head" ? heads : layers, otherPlace(page)[/** @type {"head" | "layer"} */ (by)]);
    const colours = table(sequential(context.theme()));
    list.querySelectorAll("canvas").forEach((canvas, i) => {
      const at = { ...link, [by]: i };
      const matrix = glimpse(model, trace, at);
      if (matrix) thumbnail(canvas, matrix, colours);
    });
  }
  return { element, refresh };
}
