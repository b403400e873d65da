/** What the model itself writes at a step. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { bcp47, languages } from "../../core/wire/tokens.js";

/** @param {import("../../core/figure/types.js").Context} context */
export function createSaid({ store, t }) {
  const texts = h("div", { className: "texts" });
  return {
    element: h("div", { className: "said" }, h("span", {}, t("At this step it writes")), texts),

    /** @param {import("./view.js").Moment} moment  All lie in one place, so that it is as high for each of them. */
    show({ found, place }) {
      const lang = languages(found.direction)[1];
      const silent = bcp47(store.get().link.lang);
      render(
        texts,
        found.texts.map((text, i) => {
          const className = [!text.trim() && "silent", i === place && "text"].filter(Boolean).join(" ");
          return el("p", { className, lang: text.trim() ? lang : silent }, text.trim() ? text : t("nothing"));
        }),
      );
    },
  };
}
