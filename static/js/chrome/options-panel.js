/** What a view lets one choose, behind a button where the view wants its picture to stand first. */

import { find } from "../lib/dom.js";
import { chosen } from "../state/link.js";
import { view } from "../views/index.js";
import { createDisclosure } from "./disclosure.js";

/** @param {import("./types.js").Desk} desk */
export function bindOptions({ store, t }) {
  const root = document.documentElement;
  const button = find("#options");
  const panel = createDisclosure(
    button,
    () => document.querySelector("#view > .options"),
    (open) => root.toggleAttribute("data-options", open),
  );

  function show() {
    const { link } = store.get();
    const { frame, options = {} } = view(link.view);
    // What is chosen otherwise than at first is counted, so that it is not overlooked.
    const n = Object.keys(chosen(link, options)).length + Number(Boolean(link.pad_to));
    button.hidden = !frame.folds;
    button.textContent = n ? t("Options ({n})", { n }) : t("Options");
    if (!frame.folds) panel.close();
  }
  store.subscribe(({ link }) => [link.view, link.options, link.pad_to], show);
  show();
}
