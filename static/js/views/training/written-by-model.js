/** What the model wrote by itself at a step. */

import { h } from "../../lib/dom.js";
import { bcp47, languages } from "../../data/tokens.js";

/** @param {import("../../state/types.js").Context} context */
export function createSaid({ store, t }) {
  const texts = h("div", { className: "texts" });
  return {
    element: h("div", { className: "said" }, h("h3", {}, t("At this step it writes")), texts),

    /** @param {import("./view.js").Moment} moment  All lie in one place, so that it is as high for each of them. */
    show({ found, place }) {
      const lang = languages(found.direction)[1];
      texts.replaceChildren(
        ...found.texts.map((text, i) => {
          const written = text.trim() ? { lang } : { lang: bcp47(store.get().link.lang), className: "silent" };
          const line = h("p", written, text.trim() ? text : t("nothing"));
          line.classList.toggle("text", i === place);
          return line;
        }),
      );
    },
  };
}
