/** B's own picker: which other head, or which other layer, as pictures like those of the page. */

import { extent, glimpse, pictures } from "../../data/attentions.js";
import { otherPlace } from "../../state/comparison.js";
import { h } from "../../lib/dom.js";
import { table, thumbnail } from "../../draw/head-grid.js";
import { sequential } from "../../draw/scale.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/store.js").Page} Page */

/** @param {Page} page @returns {boolean}  whether B is another head or layer, and there are pictures to pick from */
const picks = ({ link }) => link.options.other === "head" || link.options.other === "layer";

/** @param {Page} page @returns {string[]}  addresses of what is offered */
export const offered = (page) => (picks(page) ? pictures(page.model, page.link.block) : []);

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
  let built = "";

  /** @param {"head" | "layer"} which @param {number} count */
  function build(which, count) {
    if (built === `${which} ${count}`) return;
    built = `${which} ${count}`;
    legend.textContent = which === "head" ? t("B's head") : t("B's layer");
    list.replaceChildren(
      ...Array.from({ length: count }, (_, i) => {
        const name = which === "head" ? t("Head {n}", { n: i + 1 }) : t("Layer {n}", { n: i + 1 });
        return h(
          "label",
          { className: "thumb", title: name },
          h("input", { type: "radio", name: own("other"), value: String(i), className: "hidden", "aria-label": `B: ${name}` }),
          h("canvas", { "aria-hidden": "true" }),
          h("span", { className: "number", "aria-hidden": "true" }, String(i + 1)),
        );
      }),
    );
  }

  function refresh() {
    const page = store.get();
    const { link, model, trace } = page;
    const { other: by } = link.options;
    element.hidden = !model || !picks(page);
    if (!model || !trace || (by !== "head" && by !== "layer")) return;
    const { layers, heads } = extent(model, link.block);
    build(by, by === "head" ? heads : layers);
    const chosen = otherPlace(page)[/** @type {"head" | "layer"} */ (by)];
    const colours = table(sequential(context.theme()));
    [...list.children].forEach((label, i) => {
      const at = { ...link, [by]: i };
      /** @type {HTMLInputElement} */ (label.querySelector("input")).checked = i === chosen;
      const matrix = glimpse(model, trace, at);
      const canvas = /** @type {HTMLCanvasElement} */ (label.querySelector("canvas"));
      if (matrix) thumbnail(canvas, matrix, colours);
    });
  }
  return { element, refresh };
}
