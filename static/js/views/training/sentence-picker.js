/** Choose one of the fixed sentences, with a note that they are not the typed one. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { languages } from "../../core/wire/tokens.js";

/** @import { Context } from "../../core/figure/types.js" */

/** @param {Context} context */
export function createPicker({ store, t, own }) {
  const select = h("select", { id: own("option-example") });
  select.addEventListener("change", () =>
    store.choose({ example: Number(select.value), row: null, col: null }, "chosen"),
  );
  const note = t("Fixed sentences, recorded while the model was trained; not the sentence you typed.");
  return {
    element: h("div", { className: "which" }, h("label", { className: "option menu" }, h("span", {}, t("Sentence")), select)),
    note: h("p", { className: "note" }, note),

    /** @param {import("./view.js").Moment} moment */
    show({ found: { examples, example } }) {
      render(
        select,
        examples.map(({ source, direction }, value) => el("option", { value: String(value), lang: languages(direction)[0] }, source)),
      );
      select.value = String(example);
      select.lang = languages(examples[example].direction)[0];
    },
  };
}
