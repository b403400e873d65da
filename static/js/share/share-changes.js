/**
 * Show whether the reader has changed the request of a share, with a button to return to what was
 * saved.
 */

import { find } from "../lib/dom.js";
import { OPTIONS } from "../views/index.js";
import { DEFAULTS, merge, stated } from "../core/store/link.js";
import { departed } from "../core/store/share-contents.js";

/** @import { Context } from "../core/figure/types.js" */

/** @param {Context} context */
export function bindShareChanges({ store, t, announce }) {
  const line = find("#departed");
  find("#return").addEventListener("click", () => {
    const { share, link } = store.get();
    if (!share) return;
    const { lang } = link;
    store.go(merge(DEFAULTS, { options: { ...link.options, as: "changed" } }, stated(share.state, OPTIONS), { lang }), "chosen");
    announce(t("This is the share as its author saw it."));
    find("#stage").focus();
  });
  const show = () => (line.hidden = !departed(store.get()));
  store.subscribe(({ share, link }) => [share, link], show);
  show();
}
