/** How to read a figure: one sentence below it, and the rest on request. */

import { prose } from "../../lib/i18n.js";
import { h } from "../../lib/dom.js";

/** @param {Pick<import("../../core/figure/types.js").Context, "t">} context */
export function createReading({ t }) {
  const first = h("p", { className: "note" });
  const rest = h("p", {});
  const more = h("details", { className: "reading" }, h("summary", {}, t("How to read this")), rest);
  return {
    element: h("div", {}, first, more),

    /** @param {string} says @param {string[]} remarks */
    show(says, remarks) {
      first.textContent = says;
      rest.textContent = prose(remarks);
      more.hidden = !remarks.length;
    },
  };
}
