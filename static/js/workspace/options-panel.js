/** A view's options behind a button: in views that hide them, and on a phone in all views. */

import { find } from "../lib/dom.js";
import { chosen } from "../core/store/link.js";
import { view } from "../views/index.js";
import { createDisclosure } from "../core/page/disclosure.js";

/** @param {import("./types.js").Desk} desk */
export function bindOptions({ store, t, figure }) {
  const root = document.documentElement;
  const button = find("#options");
  const narrow = window.matchMedia("(max-width: 899px)");
  const panel = createDisclosure(
    button,
    () => document.querySelector("#view > .options"),
    (open) => root.toggleAttribute("data-options", open),
  );

  function show() {
    const { link } = store.get();
    const { frame, options = {} } = view(link.view);
    // The button shows how many options differ from their defaults, so that they are not overlooked.
    const n = Object.keys(chosen(link, options)).length + Number(Boolean(link.pad_to));
    const folds = Boolean(frame.folds) || narrow.matches || figure.pairs();
    root.dataset.folds = folds ? "yes" : "no";
    button.hidden = !folds || !document.querySelector("#view > .options:not([hidden])");
    button.textContent = n ? t("Options ({n})", { n }) : t("Options");
    if (button.hidden) panel.close();
  }
  narrow.addEventListener("change", show);
  figure.onPair(show);
  store.subscribe(({ link }) => link.view, panel.close);
  store.subscribe(({ link, model }) => [link.view, link.block, link.options, link.pad_to, model], show);
  show();
}
