/** The head's attention in the chosen sentence. */

import { placeOf } from "../core/wire/attentions.js";
import { find, h } from "../lib/dom.js";
import { format } from "../core/store/link.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/store/data-sources.js").Source} source
 * @param {import("../core/wire/model.js").ModelInfo} info
 * @param {{model: string, place: string, head: number, lang: string}} at
 */
export function exampleFigure(page, source, info, { model, place, head, lang }) {
  const where = { model, ...(placeOf(info, place) ?? { block: "", layer: 0 }), head };
  const store = storeOf(linkTo({ ...where, lang, view: "attention" }));
  const open = /** @type {HTMLAnchorElement} */ (find("#open"));
  store.subscribe(({ link }) => link, ({ link }) => (open.href = `/?${format(link, OPTIONS)}`));
  const [root, shown] = [find("#figure"), find("#shown")];
  const says = h("span", {});
  const retry = h("button", { type: "button", className: "button" }, page.t("Try again"));
  const line = h("p", { className: "problem", role: "alert", hidden: true }, says, " ", retry);
  root.before(line);
  /** @type {ReturnType<typeof createFigure> | null} */
  let figure = null;
  return {
    /** @param {import("./found-list.js").Item | null} item  null: none, and no earlier one is left standing */
    show(item) {
      shown.hidden = !item;
      if (!item) return;
      const { sentence, cell } = item;
      const { source: text, direction, target } = sentence;
      const pinned = cell ?? { query: null, key: null };
      store.go({ source: text, direction, target, ...where, ...pinned });
      open.hidden = false;
      if (figure) return;
      figure = createFigure({ root, store, source, page, caption: find("#caption"), status: { root, message: says, line, retry } });
      void figure.run();
    },
  };
}
