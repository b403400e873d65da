/** All changes available at the current place, in one column. */

import { kindOf } from "../../core/compute/positions.js";
import { swapped } from "../../core/compute/token-diff.js";
import { token } from "../../core/draw/token.js";
import { cellPicker } from "../../core/figure/pointing.js";
import { bindTyping } from "../../core/figure/controls.js";
import { explainedPair } from "../../core/store/highlight.js";
import { kindOf as changeKind } from "../../core/store/interventions.js";
import { placeOfChange } from "../../core/store/model-part-names.js";
import {
  FACTOR, FACTORS, PLAIN, amount, editModel, offered, onOff, oneOf, restricted, rowChoice,
} from "../../core/figure/change-controls.js";
import { isFixed } from "../../core/store/share-contents.js";
import { attention, axes, place, selfBlock } from "../../core/wire/model-description.js";
import { bcp47, plainLabel } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { sublayerChanges, vectorChanges } from "./sublayer-changes.js";

/** @import { Change } from "../../core/store/interventions.js" */
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

// Changes to the sentence: masked tokens, positions.

const SEED = 1;

/** @param {Context} context */
function sentenceChanges(context) {
  const { store, t } = context;
  const { put, remove, currentChange, on, toggle, fixed } = editModel(context);
  const [sentence, translation] = [0, 1].map((index) => () => store.get().model?.texts[index] ?? "");
  const ordered = () => `${sentence()}.position`;
  const late = () => ({ at: `${translation()}.position`, do: "drop" });
  const mask = (/** @type {number} */ index) => ({ at: sentence(), do: { mask: index } });
  const tokens = h("ol", { className: "mask-tokens", "aria-label": t("Tokens hidden from all heads") });
  let seed = SEED;
  const positions = oneOf(context, "positions", t("Positions"), () => ({ kept: t("as they are"), drop: t("dropped"), shuffle: t("shuffled") }), (value) => {
    if (value === "kept") remove({ at: ordered(), do: "drop" });
    else put({ at: ordered(), do: value === "drop" ? "drop" : { shuffle: seed } });
  });
  const again = h("button", { type: "button", className: "button quiet" }, t("shuffle again"));
  again.addEventListener("click", () => put({ at: ordered(), do: { shuffle: ++seed } }));
  const target = onOff(t("drop the positions of the output"), () => toggle(late()));
  const element = h(
    "section",
    { className: "of-sentence" },
    h("h3", {}, t("The sentence")),
    h("p", { className: "hint-line" }, t("Click a token to hide it from all heads.")),
    tokens,
    positions.element,
    again,
    target.element,
  );

  function refresh() {
    const { trace, model } = store.get();
    const still = fixed();
    const cols = trace ? axes(model, trace, selfBlock(model, sentence()).id).cols : [];
    render(tokens, cols.map(({ writes }, index) => {
      const props = { type: "button", className: "chip", disabled: still, onclick: () => toggle(mask(index)) };
      const ariaProps = { "aria-label": t("mask {token}", { token: plainLabel(writes) }), "aria-pressed": on(mask(index)) };
      return el("li", {}, el("button", { ...props, ...ariaProps }, token(writes)));
    }));
    const present = currentChange({ at: ordered(), do: "drop" });
    const shuffled = present?.do?.shuffle;
    if (typeof shuffled === "number") seed = shuffled;
    // Only positions added to the embeddings can be dropped or shuffled.
    const added = kindOf(model).site === "input";
    positions.element.hidden = !added;
    target.element.hidden = !added || !translation();
    positions.show(!present ? "kept" : shuffled === undefined ? "drop" : "shuffle", still);
    again.hidden = !added || shuffled === undefined || still;
    target.show(on(late()), still);
  }
  return { element, refresh };
}

// Changes to the current head, or to all heads of its layer.

/** @param {Context} context */
function headChanges(context) {
  const { store, t } = context;
  const { put, remove, replace, currentChange, fixed } = editModel(context);
  let whole = false;
  const currentHeads = () => ({ at: place(store.get().model, store.get().link), ...(whole ? {} : { head: store.get().link.head }) });

  /** @param {any} effect @returns {Change} */
  const change = (effect) => ({ ...currentHeads(), ...rows.named(), do: effect });
  const rows = rowChoice(context, (before, after) => {
    const old = [change("zero"), change({ temperature: 1 }), scaled(1)].flatMap((candidate) => currentChange(restricted(candidate, before)) ?? []);
    // A borrowed pattern is of all rows.
    const restrictable = old.filter((previous) => changeKind(previous) !== "freeze");
    if (restrictable.length) replace(restrictable, (previous) => restricted(previous, after));
    refresh();
  });

  const pattern = oneOf(
    context,
    "pattern",
    t("Attention"),
    (chosen) => offered({ own: t("on"), zero: t("off"), uniform: t("uniform"), mean: t("mean"), ...("rows" in rows.named() ? {} : { freeze: t("borrowed") }) }, store.get().model, chosen),
    (value) => {
      if (value === "own") remove(change("zero"));
      else if (value === "freeze") borrow();
      else put(change(value));
    },
  );
  const sentence = h("input", { type: "text", autocomplete: "off", spellcheck: false, "aria-label": t("The sentence to borrow from") });
  const borrowed = h("div", { className: "borrowed", hidden: true }, h("span", {}, t("from")), sentence);
  bindTyping(sentence, { submit: () => sentence.value.trim() && borrow(), submitOn: "leave" });
  const heat = amount(t("Temperature of the softmax"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(change({ temperature: 1 }), origin);
    else put(change({ temperature: value }), origin);
  });
  const scaled = (/** @type {number} */ factor) => ({ ...change({ scale: factor }), at: `${place(store.get().model, store.get().link)}.mix` });
  const scale = amount(t("Scale of its output"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(scaled(1), origin);
    else put(scaled(value), origin);
  });
  const scope = onOff(t("all heads of this layer"), (on) => {
    whole = on;
    refresh();
  });
  const title = h("h3", {});
  const element = h("section", { className: "of-head" }, title, scope.element, rows.element, pattern.element, borrowed, heat.element, scale.element);

  function borrow() {
    const source = sentence.value.trim() || swapped(store.get().link.source);
    put(change({ freeze: { source } }));
  }

  function refresh() {
    const { model, link, trace } = store.get();
    const still = fixed();
    rows.refresh(trace ? axes(model, trace, link.block).rows : [], still);
    const present = currentChange(change("zero"));
    const kind = present ? changeKind(present) : "own";
    title.textContent = placeOfChange(change("zero"), t, model);
    pattern.show(kind, still);
    borrowed.hidden = kind !== "freeze";
    if (document.activeElement !== sentence) sentence.value = present?.do?.freeze?.source ?? swapped(link.source);
    sentence.lang = bcp47((trace?.direction ?? "en-zh").split("-")[0]);
    sentence.disabled = still;
    heat.show(Number(currentChange(change({ temperature: 1 }))?.do?.temperature ?? 1), still);
    scale.show(Number(currentChange(scaled(1))?.do?.scale ?? 1), still);
    scope.show(whole, false);
  }
  return { element, refresh };
}

// Changes to one cell: set its weight, or cut its edge.

const FRACTION = { min: 0, max: 1, step: 0.01 };
const HUNDREDTHS = { ...PLAIN, say: (/** @type {number} */ value) => value.toFixed(2) };

/**
 * @param {Context} context
 * @returns {{element: HTMLElement, refresh: () => void, set: (query: number, key: number, weight: number, origin: "chosen" | "moved") => void}}
 */
function cellChanges(context) {
  const { store, t } = context;
  const { list, put, remove, replace, currentChange, fixed } = editModel(context);
  let shares = true;
  let joins = false;

  /** @param {any} effect */
  function change(effect) {
    const { model, link } = store.get();
    return { at: place(model, link), head: link.head, do: effect };
  }
  /** @param {number} query @param {number} key */
  const cut = (query, key) => change({ cut: [query, key] });

  /** @param {number} query @param {number} key @param {number} weight @param {"chosen" | "moved"} origin */
  function set(query, key, weight, origin) {
    put(change({ set: [query, key, Number(weight.toFixed(2))], renormalise: shares }), origin);
  }

  const picker = cellPicker(context);
  const weight = amount(t("Weight"), FRACTION, HUNDREDTHS, (value, origin) => {
    const pinned = explainedPair(store.get());
    if (pinned) set(pinned.query, pinned.key, value, origin);
  });
  const rescaled = onOff(t("rescale the rest of the row"), (on) => {
    shares = on;
    const pinned = explainedPair(store.get());
    const present = pinned && currentChange(cut(pinned.query, pinned.key));
    if (pinned && present?.do?.set) set(pinned.query, pinned.key, present.do.set[2], "chosen");
  });
  /** The cuts of this head. */
  const cutHere = () => list().filter((candidate) => candidate?.at === change(0).at && candidate.head === change(0).head && edgesOf(candidate).length);
  /** @param {Edge} edge  What cuts it, alone or with others. */
  const cutting = (edge) => cutHere().find((candidate) => isCutBy(candidate, edge));

  const edge = h("button", { type: "button", className: "button" }, t("Cut this edge"));
  const column = h("button", { type: "button", className: "button" }, t("Cut all edges to this key"));
  const together = onOff(t("one change with the other cuts"), (on) => (joins = on));
  const back = h("button", { type: "button", className: "button quiet" }, t("Restore"));
  edge.addEventListener("click", () => {
    const pinned = explainedPair(store.get());
    if (!pinned) return;
    const [last] = joins ? cutHere().slice(-1) : [];
    if (cutting([pinned.query, pinned.key])) restore();
    else if (last) replace([last], (previous) => withEdge(previous, [pinned.query, pinned.key]));
    else put(cut(pinned.query, pinned.key));
  });
  column.addEventListener("click", () => {
    const all = toKey();
    if (all.length) put(change({ cut: all.length === 1 ? all[0] : all }));
  });
  back.addEventListener("click", restore);

  /** The edges to the pinned key that the mask allows. @returns {Edge[]} */
  function toKey() {
    const page = store.get();
    const [pinned, matrix] = [explainedPair(page), page.trace && attention(page.model, page.trace, page.link)];
    if (!pinned || !matrix) return [];
    const queries = Array.from({ length: matrix.rows }, (_, query) => query);
    return queries.filter((query) => !Number.isNaN(matrix.values[query * matrix.cols + pinned.key])).map((query) => [query, pinned.key]);
  }

  function restore() {
    const pinned = explainedPair(store.get());
    if (!pinned) return;
    const present = cutting([pinned.query, pinned.key]);
    if (present) replace([present], (previous) => withoutEdge(previous, [pinned.query, pinned.key]));
    else remove(cut(pinned.query, pinned.key));
  }

  const title = h("h3", {}, t("One cell"));
  const element = h("section", { className: "of-cell" }, title, picker, weight.element, rescaled.element, h("div", { className: "together" }, edge, column, back), together.element);

  function refresh() {
    const page = store.get();
    picker.refresh();
    const pinned = explainedPair(page);
    const matrix = page.trace && attention(page.model, page.trace, page.link);
    if (!pinned || !matrix) return;
    const value = matrix.values[pinned.query * matrix.cols + pinned.key];
    const present = currentChange(cut(pinned.query, pinned.key));
    const still = fixed() || Number.isNaN(value);
    if (present?.do?.set) shares = Boolean(present.do.renormalise);
    weight.show(present?.do?.set ? Number(present.do.set[2]) : value || 0, still);
    rescaled.show(shares, still);
    const gone = cutting([pinned.query, pinned.key]);
    edge.setAttribute("aria-pressed", String(gone !== undefined));
    edge.disabled = still && !gone;
    column.disabled = fixed();
    together.element.hidden = !cutHere().length;
    together.show(joins, fixed());
    back.disabled = fixed() || !(present ?? gone);
  }
  return { element, refresh, set };
}

// Cut edges of a head: one, or several as one change.

/** @typedef {[number, number]} Edge  query and key */

/** @param {Change} change @returns {Edge[]}  none if it cuts nothing */
export function edgesOf(change) {
  const cut = change?.do?.cut;
  if (!Array.isArray(cut)) return [];
  return /** @type {Edge[]} */ (Array.isArray(cut[0]) ? cut : [cut]);
}

/** @param {Edge} a @returns {(b: Edge) => boolean} */
const isSameEdge = (a) => (b) => a[0] === b[0] && a[1] === b[1];

/** @param {Change} change @param {Edge} edge */
export const isCutBy = (change, edge) => edgesOf(change).some(isSameEdge(edge));

/** @param {Change} change  of the same head @param {Edge[]} edges @returns {Change | null}  null: nothing is cut */
function withEdges(change, edges) {
  if (!edges.length) return null;
  return { ...change, do: { cut: edges.length === 1 ? edges[0] : edges } };
}

/** @param {Change} change @param {Edge} edge  One of its own. @returns {Change | null} */
export const withoutEdge = (change, edge) => withEdges(change, edgesOf(change).filter((cutEdge) => !isSameEdge(edge)(cutEdge)));

/** @param {Change} change @param {Edge} edge */
export const withEdge = (change, edge) => /** @type {Change} */ (withEdges(change, [...edgesOf(change), edge]));
