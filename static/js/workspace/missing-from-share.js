/**
 * A note above a view of a share whose model is gone: not everything was frozen, with a link to
 * what was.
 */

import { Problem } from "../core/wire/problem.js";
import { find, h } from "../lib/dom.js";
import { missing } from "../core/store/share-contents.js";
import { DEFAULTS, merge, stated } from "../core/store/link.js";
import { nearest } from "../core/store/reconcile-link.js";
import { OPTIONS, view } from "../views/index.js";
import { wording } from "../core/figure/problem-wording.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Page } from "../core/store/store.js" */

/** @param {Page} page  Whether the view that is open cannot show all that it does. */
const lacks = (page) => missing(page, view(page.link.view));

/**
 * The view with which the share was created, or its attention, which every share has.
 * @param {Page} page
 * @returns {import("../core/store/link.js").State | undefined}
 */
function kept(page) {
  const { share, model, link } = page;
  if (!share || !model) return undefined;
  const { view: open, block, layer, head, query = null, key = null, options } = nearest(merge(DEFAULTS, stated(share.state, OPTIONS)), model, view);
  const made = merge(link, { view: open, block, layer, head, query, key, options });
  return [made, { ...made, view: "attention" }].find((there) => !lacks({ ...page, link: there }));
}

/** @param {Context} context */
export function bindUnfrozen({ store, t }) {
  const back = h("button", { type: "button", className: "button" }, t("Show what was saved"));
  const line = h("div", { className: "not-frozen", role: "status", hidden: true }, h("p", {}, wording(t, new Problem("frozen"))), back);
  find(".figure").before(line);
  back.addEventListener("click", () => {
    const there = kept(store.get());
    if (there) store.go(there, "chosen");
  });
  const show = () => {
    const page = store.get();
    line.hidden = !lacks(page);
    if (!line.hidden) back.hidden = !kept(page);
  };
  store.subscribe((page) => page, show);
  show();
}
