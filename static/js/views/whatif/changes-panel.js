/** All changes available at the current place, in one column. */

import { isFixed } from "../../core/store/share-contents.js";
import { h } from "../../lib/dom.js";
import { cellChanges } from "./cell-changes.js";
import { headChanges } from "./head-changes.js";
import { sentenceChanges } from "./sentence-changes.js";
import { sublayerChanges } from "./sublayer-changes.js";
import { vectorChanges } from "./vector-changes.js";

/** @import { Context } from "../../core/figure/types.js" */

/** @param {Context} context */
export function changePanel(context) {
  const { store, t } = context;
  const cell = cellChanges(context);
  const parts = [headChanges(context), sublayerChanges(context), cell, vectorChanges(context), sentenceChanges(context)];
  const note = h("p", { className: "hint-line", hidden: true }, t("The model of this share is no longer served, so it cannot be changed."));
  const element = h(
    "div",
    { className: "change-panel", role: "group", "aria-label": t("Change the model") },
    h("h2", {}, t("Change")),
    note,
    ...parts.map((part) => part.element),
  );
  return {
    element,
    set: cell.set,
    refresh() {
      note.hidden = !isFixed(store.get());
      parts.forEach((part) => part.refresh());
    },
  };
}
