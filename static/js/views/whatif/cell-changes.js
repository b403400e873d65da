/** Changes to one cell: set its weight, or cut its edge. */

import { attention, place } from "../../data/attentions.js";
import { pair } from "../../state/highlight.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { cellPicker } from "../../parts/cell-picker.js";
import { editModel } from "../../state/set-interventions.js";
import { amount, onOff } from "./change-controls.js";

/** @typedef {import("../../state/types.js").Context} Context */

const FRACTION = { min: 0, max: 1, step: 0.01 };
const PLAIN = { read: (/** @type {number} */ at) => at, write: (/** @type {number} */ value) => value, say: two };

/**
 * @param {Context} context
 * @returns {{element: HTMLElement, refresh: () => void, set: (query: number, key: number, weight: number, origin: "chosen" | "moved") => void}}
 */
export function cellChanges(context) {
  const { store, t } = context;
  const { put, remove, found, on, toggle, fixed } = editModel(context);
  let shares = true;

  /** @param {any} what */
  function change(what) {
    const { model, link } = store.get();
    return { at: place(model, link), head: link.head, do: what };
  }
  /** @param {number} query @param {number} key */
  const cut = (query, key) => change({ cut: [query, key] });

  /** @param {number} query @param {number} key @param {number} weight @param {"chosen" | "moved"} origin */
  function set(query, key, weight, origin) {
    put(change({ set: [query, key, Number(weight.toFixed(2))], renormalise: shares }), origin);
  }

  const picker = cellPicker(context);
  const weight = amount(t("Weight"), FRACTION, PLAIN, (value, origin) => {
    const at = pair(store.get());
    if (at) set(at.query, at.key, value, origin);
  });
  const rescaled = onOff(t("rescale the rest of the row"), (on) => {
    shares = on;
    const at = pair(store.get());
    const present = at && found(cut(at.query, at.key));
    if (at && present?.do?.set) set(at.query, at.key, present.do.set[2], "chosen");
  });
  const edge = h("button", { type: "button", className: "button" }, t("Cut this edge"));
  const back = h("button", { type: "button", className: "button quiet" }, t("Restore"));
  edge.addEventListener("click", () => {
    const at = pair(store.get());
    if (at) toggle(cut(at.query, at.key));
  });
  back.addEventListener("click", () => {
    const at = pair(store.get());
    if (at) remove(cut(at.query, at.key));
  });
  const title = h("h3", {}, t("One cell"));
  const element = h("section", { className: "of-cell" }, title, picker, weight.element, rescaled.element, h("div", { className: "together" }, edge, back));

  function refresh() {
    const page = store.get();
    picker.refresh();
    const at = pair(page);
    const matrix = page.trace && attention(page.model, page.trace, page.link);
    if (!at || !matrix) return;
    const value = matrix.values[at.query * matrix.cols + at.key];
    const present = found(cut(at.query, at.key));
    const still = fixed() || Number.isNaN(value);
    if (present?.do?.set) shares = Boolean(present.do.renormalise);
    weight.show(present?.do?.set ? Number(present.do.set[2]) : value || 0, still);
    rescaled.show(shares, still);
    edge.setAttribute("aria-pressed", String(on(cut(at.query, at.key))));
    edge.disabled = still;
    back.disabled = fixed() || !present;
  }
  return { element, refresh, set };
}
