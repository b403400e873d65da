/** Changes to one cell: set its weight, or cut its edge. */

import { attention, place } from "../../core/wire/attentions.js";
import { pair } from "../../core/store/highlight.js";
import { h } from "../../lib/dom.js";
import { cellPicker } from "../../core/figure/pointing.js";
import { cuts, edgesOf, joined, mended } from "./edges.js";
import { editModel } from "../../core/store/set-interventions.js";
import { PLAIN, amount, onOff } from "./change-controls.js";

/** @import { Context } from "../../core/figure/types.js" */

const FRACTION = { min: 0, max: 1, step: 0.01 };
const HUNDREDTHS = { ...PLAIN, say: (/** @type {number} */ value) => value.toFixed(2) };

/**
 * @param {Context} context
 * @returns {{element: HTMLElement, refresh: () => void, set: (query: number, key: number, weight: number, origin: "chosen" | "moved") => void}}
 */
export function cellChanges(context) {
  const { store, t } = context;
  const { list, put, remove, replace, found, fixed } = editModel(context);
  let shares = true;
  let joins = false;

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
  const weight = amount(t("Weight"), FRACTION, HUNDREDTHS, (value, origin) => {
    const at = pair(store.get());
    if (at) set(at.query, at.key, value, origin);
  });
  const rescaled = onOff(t("rescale the rest of the row"), (on) => {
    shares = on;
    const at = pair(store.get());
    const present = at && found(cut(at.query, at.key));
    if (at && present?.do?.set) set(at.query, at.key, present.do.set[2], "chosen");
  });
  /** The cuts of this head. */
  const cutHere = () => list().filter((one) => one?.at === change(0).at && one.head === change(0).head && edgesOf(one).length);
  /** @param {import("./edges.js").Edge} edge  What cuts it, alone or with others. */
  const cutting = (edge) => cutHere().find((one) => cuts(one, edge));

  const edge = h("button", { type: "button", className: "button" }, t("Cut this edge"));
  const column = h("button", { type: "button", className: "button" }, t("Cut all edges to this key"));
  const together = onOff(t("one change with the other cuts"), (on) => (joins = on));
  const back = h("button", { type: "button", className: "button quiet" }, t("Restore"));
  edge.addEventListener("click", () => {
    const at = pair(store.get());
    if (!at) return;
    const [last] = joins ? cutHere().slice(-1) : [];
    if (cutting([at.query, at.key])) restore();
    else if (last) replace([last], (one) => joined(one, [at.query, at.key]));
    else put(cut(at.query, at.key));
  });
  column.addEventListener("click", () => {
    const all = toKey();
    if (all.length) put(change({ cut: all.length === 1 ? all[0] : all }));
  });
  back.addEventListener("click", restore);

  /** The edges to the pinned key that the mask allows. @returns {import("./edges.js").Edge[]} */
  function toKey() {
    const page = store.get();
    const [at, matrix] = [pair(page), page.trace && attention(page.model, page.trace, page.link)];
    if (!at || !matrix) return [];
    const queries = Array.from({ length: matrix.rows }, (_, query) => query);
    return queries.filter((query) => !Number.isNaN(matrix.values[query * matrix.cols + at.key])).map((query) => [query, at.key]);
  }

  function restore() {
    const at = pair(store.get());
    if (!at) return;
    const present = cutting([at.query, at.key]);
    if (present) replace([present], (one) => mended(one, [at.query, at.key]));
    else remove(cut(at.query, at.key));
  }

  const title = h("h3", {}, t("One cell"));
  const element = h("section", { className: "of-cell" }, title, picker, weight.element, rescaled.element, h("div", { className: "together" }, edge, column, back), together.element);

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
    const gone = cutting([at.query, at.key]);
    edge.setAttribute("aria-pressed", String(gone !== undefined));
    edge.disabled = still && !gone;
    column.disabled = fixed();
    together.element.hidden = !cutHere().length;
    together.show(joins, fixed());
    back.disabled = fixed() || !(present ?? gone);
  }
  return { element, refresh, set };
}
