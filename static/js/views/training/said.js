/** What the model wrote by itself at a step. */

import { h } from "../../dom.js";
import { languages } from "../../tokens.js";

/** @param {import("../../main.js").Context} context */
export function createSaid({ t }) {
  const text = h("p", { className: "text" });
  return {
    element: h("div", { className: "said" }, h("h3", {}, t("At this step it writes")), text),

    /** @param {import("../training.js").Moment} moment */
    show({ found, place }) {
      const written = found.texts[place];
      text.lang = languages(found.direction)[1];
      const silent = h("span", { className: "nothing", lang: document.documentElement.lang }, t("nothing"));
      text.replaceChildren(written.trim() ? written : silent);
    },
  };
}
