/**
 * The logit lens as a table: one row per layer with what its stream would predict; the written
 * token is marked.
 */

import { LAYERS, total } from "../../core/compute/logit-lens.js";
import { shareBar } from "../../core/draw/colour-scales.js";
import { token } from "../../core/draw/token.js";
import { onArrows } from "../../core/figure/pointing.js";
import { labels } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { change, four, plus, two } from "../../lib/numbers.js";

/** @import { Candidate, Layer, Sum } from "../../core/compute/logit-lens.js" */
/** @import { Context } from "../../core/figure/types.js" */

// Which layers of a deep model are shown at first: the others are one line until it is opened.

/** @typedef {{layers: number[], isShown: boolean}} Run  consecutive layers */

/** A model with more layers than this is folded; and how many of the last, and of those whose heads add most, stay. */
const [MOST, LAST, STRONGEST] = [12, 5, 4];

/** @param {number} count  of layers */
export const isDeep = (count) => count > MOST;

/**
 * The layers that are shown: the first, the last ones, that of the link, that from which on the
 * token is most probable, and those whose heads add most to its logit.
 * @param {number} count
 * @param {import("../../core/compute/logit-lens.js").Sum | null} sum
 * @param {(number | null)[]} extraLayers
 * @returns {Set<number>}
 */
export function keptLayers(count, sum, extraLayers) {
  const largest = Array.from({ length: count }, (_, layer) =>
    Math.max(0, ...(sum?.heads ?? []).flatMap(({ values }) => Array.from(values[layer] ?? [], Math.abs))));
  const strongest = largest.map((_, layer) => layer).sort((a, b) => largest[b] - largest[a]).slice(0, sum ? STRONGEST : 0);
  const last = Array.from({ length: LAST }, (_, i) => count - 1 - i);
  return new Set([0, ...last, ...strongest, ...extraLayers.flatMap((layer) => layer ?? [])]);
}

/**
 * @param {number} count
 * @param {Set<number> | null} keep  null: all
 * @returns {Run[]}  a single hidden layer is shown, since a line in its place saves nothing
 */
export function runs(count, keep) {
  /** @type {Run[]} */
  const grouped = [];
  for (let layer = 0; layer < count; layer++) {
    const alone = (!layer || keep?.has(layer - 1)) && (layer === count - 1 || keep?.has(layer + 1));
    const isShown = !keep || keep.has(layer) || Boolean(alone);
    const last = grouped.at(-1);
    if (last?.isShown === isShown) last.layers.push(layer);
    else grouped.push({ layers: [layer], isShown });
  }
  return grouped;
}

/**
 * The rows of a table, with a line for each run of hidden layers.
 * @param {Context["t"]} t
 * @param {number} count
 * @param {{keep: Set<number> | null, unfold: () => void}} fold
 * @param {number} width  columns of the table
 * @param {(layer: number) => import("../../lib/dom.js").Child[]} rows
 */
const foldedRows = (t, count, { keep, unfold }, width, rows) =>
  runs(count, keep).flatMap(({ layers, isShown }) => {
    if (isShown) return layers.flatMap(rows);
    const [first, last] = [layers[0] + 1, layers[layers.length - 1] + 1];
    const button = el("button", { type: "button", className: "button quiet", onclick: unfold }, t("Layers {first}–{last}", { first, last }));
    return [el("tr", { className: "layers-hidden" }, el("td", { colSpan: width }, button))];
  });

/**
 * @param {Context["t"]} t
 * @param {Layer[]} layers
 * @param {{written: import("../../core/wire/tokens.js").Label, lang: string, count: number, fold: Parameters<typeof foldedRows>[2], odds: (import("./view.js").Rival & {paint: Paint}) | null}} scene
 *   count: how many candidates fit; odds: the contrast, if there is one
 */
export function lensTable(t, layers, { written, lang, count, fold, odds }) {
  const listed = Math.min(count, layers[0].top.length);
  const names = el(
    "tr",
    {},
    el("th", { scope: "col" }, t("Layer")),
    el("th", { scope: "colgroup", colSpan: listed }, t("Most probable after it")),
    el("th", { scope: "col", className: "own" }, token(written), " ", el("span", { className: "hidden" }, t("written"))),
    odds && el("th", { scope: "col", className: "odds" }, token(written), " : ", token(odds.label), " ", el("span", { className: "hidden" }, t("log-odds, nats"))),
  );
  const rows = foldedRows(t, layers.length, fold, listed + (odds ? 3 : 2), (n) => {
    const { top, probability, rank } = layers[n];
    return [el(
      "tr",
      {},
      el("th", { scope: "row" }, String(n + 1)),
      top.slice(0, listed).map((candidate) => candidateCell(t, candidate, lang)),
      el("td", { className: "own" }, el("span", { className: "p" }, four(probability)), " ", el("span", { className: "rank" }, t("rank {rank}", { rank }))),
      odds && el("td", { className: "odds" }, el("span", { style: odds.paint(odds.lens[n]) }, change(odds.lens[n]))),
    )];
  });
  return el("table", { className: "lens" }, el("thead", {}, names), el("tbody", {}, rows));
}

/** @param {Context["t"]} t @param {Candidate} candidate @param {string} lang */
function candidateCell(t, { id, text, special, probability, written }, lang) {
  const [label] = labels([{ id, text, special, start: 0, end: 0 }], lang);
  return el(
    "td",
    { className: written ? "is-written" : "", "data-id": id },
    el("span", { className: "would" }, token(label), el("span", { className: "p" }, two(probability))),
    shareBar(probability),
    written && el("span", { className: "hidden" }, t("written")),
  );
}

// The breakdown of a logit: one row per kind of part, one column per layer, sums at the end. A deep
// model's layers are rows.

/** @typedef {{name: string, label: string, input: number | null, layers: (number | null)[]}} Line */

/**
 * @param {Context["t"]} t
 * @param {Sum} sum
 * @param {Paint} paint
 * @param {Parameters<typeof foldedRows>[2] | null} fold  of a deep model: its layers are rows, some of them folded
 */
export function ledgerTable(t, sum, paint, fold) {
  const parts = lines(t, sum);
  const count = sum.heads[0].values.length;
  const all = el("td", { className: "all" }, change(sum.sum));
  if (!fold) {
    const layers = Array.from({ length: count }, (_, n) => t("layer {n}", { n: n + 1 }));
    const rows = parts.map(({ name, label, input, layers }) => row(label, [input, ...layers], paint, { "data-part": name }));
    return sumsTable([t("Part"), t("input"), ...layers, "Σ"], rows, [el("th", { scope: "row", colSpan: count + 2 }, t("together")), all]);
  }
  const layer = (/** @type {number} */ n) => row(t("layer {n}", { n: n + 1 }), parts.map(({ layers }) => layers[n]), paint, { "data-layer": n });
  const rows = [
    row(t("input"), parts.map(({ input }) => input), paint),
    ...foldedRows(t, count, fold, parts.length + 2, (n) => [layer(n)]),
  ];
  const sums = parts.map(({ input, layers }) => total([input ?? 0, ...layers.map((value) => value ?? 0)]));
  return sumsTable([t("Layer"), ...parts.map(({ label }) => label), "Σ"], rows, [el("th", { scope: "row" }, t("together")), ...sums.map((value) => el("td", {}, change(value))), all]);
}

/** @param {string[]} names @param {import("../../lib/dom.js").Child[]} rows @param {import("../../lib/dom.js").Child[]} foot */
const sumsTable = (names, rows, foot) =>
  el("table", { className: "ledger-sums" }, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows), el("tfoot", {}, el("tr", {}, foot)));

/** @param {string} label @param {(number | null)[]} values @param {Paint} paint @param {Record<string, string | number>} [data] */
function row(label, values, paint, data = {}) {
  return el(
    "tr",
    data,
    el("th", { scope: "row" }, label),
    values.map((value) => (value === null ? el("td", {}) : el("td", { style: paint(value) }, change(value)))),
    el("td", { className: "row-sum" }, change(total(values.map((value) => value ?? 0)))),
  );
}

/** @param {Context["t"]} t @param {Sum} sum @returns {Line[]} */
function lines(t, { heads, parts }) {
  const none = heads[0].values.map(() => null);
  const kinds = [t("self-attention heads"), t("cross-attention heads")];
  const names = {
    embedding: t("token embedding"),
    position: t("position"),
    ffn: t("feed-forward"),
    bias: t("biases"),
    norm: t("β of the norms"),
  };
  return [
    { name: "embedding", label: names.embedding, input: parts.embedding[0], layers: none },
    ...(parts.position ? [{ name: "position", label: names.position, input: parts.position[0], layers: none }] : []),
    ...heads.map(({ kind, values }, n) => ({ name: kind, label: kinds[n], input: null, layers: values.map(total) })),
    ...LAYERS.map((name) => ({ name, label: names[name], input: null, layers: parts[name] })),
  ];
}

// What each head adds to a logit: one row per attention, one column per head.

/** @typedef {{block: string, layer: number, head: number}} HeadAddress */
/** @typedef {(value: number) => Record<string, string>} Paint  a cell's style */

/** @param {Context} context @param {(at: HeadAddress) => void} pick */
export function headTable({ t }, pick) {
  const element = h("table", { className: "head-sums" });
  const lines = () => [...element.querySelectorAll("tbody tr:not(.layers-hidden)")].map((line) => [...line.querySelectorAll("button")]);

  onArrows(element, (down, right, { target }) => {
    const cells = lines();
    const row = cells.findIndex((line) => line.includes(/** @type {any} */ (target)));
    const col = cells[row]?.indexOf(/** @type {any} */ (target)) ?? -1;
    if (col < 0) return false;
    const next = cells[row + down]?.[col + right];
    reach(next)?.focus();
    return true;
  });

  /** Make one cell the only one reachable by Tab. @param {HTMLButtonElement | undefined} button */
  function reach(button) {
    if (button) for (const cell of lines().flat()) cell.tabIndex = cell === button ? 0 : -1;
    return button;
  }

  return {
    element,

    /** @param {string} label @param {Sum} sum @param {Paint} paint @param {HeadAddress} present @param {Parameters<typeof foldedRows>[2]} fold */
    draw(label, sum, paint, present, fold) {
      element.ariaLabel = label;
      render(element, headRows(t, sum, fold, (address, n, value) => headCell(t, address, n, value, { paint, present, pick })));
      const buttons = lines().flat();
      const focused = buttons.find((button) => button === document.activeElement);
      reach(focused ?? buttons.find((button) => button.ariaPressed === "true") ?? buttons[0]);
    },
  };
}

/**
 * @param {Context["t"]} t
 * @param {Sum} sum
 * @param {Parameters<typeof foldedRows>[2]} fold
 * @param {(at: HeadAddress, n: number, value: number) => import("../../lib/dom.js").Described} cell
 */
function headRows(t, { heads }, fold, cell) {
  /** Self-attention comes first in a layer. */
  const kinds = [t("self"), t("cross")];
  const names = heads[0].values[0].map((_, n) => el("th", { scope: "col" }, String(n + 1)));
  const rows = foldedRows(t, heads[0].values.length, fold, names.length + 2, (layer) =>
    heads.map(({ block, values }, n) =>
      el(
        "tr",
        { className: n === heads.length - 1 ? `${block} last` : block },
        n === 0 && el("th", { scope: "rowgroup", rowSpan: heads.length }, t("Layer {n}", { n: layer + 1 })),
        el("th", { scope: "row", className: "kind" }, kinds[n]),
        values[layer].map((value, head) => el("td", {}, cell({ block, layer, head }, n, value))),
      ),
    ),
  );
  return [el("thead", {}, el("tr", {}, el("th", { colSpan: 2, className: "kind" }, t("Head")), names)), el("tbody", {}, rows)];
}

/**
 * @param {Context["t"]} t
 * @param {HeadAddress} address
 * @param {number} n  index among the layer's attentions
 * @param {number} value
 * @param {{paint: Paint, present: HeadAddress, pick: (at: HeadAddress) => void}} how
 */
function headCell(t, address, n, value, { paint, present, pick }) {
  const { block, layer, head } = address;
  const values = { layer: layer + 1, head: head + 1, value: plus(value, four) };
  const description = n ? t("Layer {layer}, cross-attention, head {head}: {value}", values) : t("Layer {layer}, self-attention, head {head}: {value}", values);
  const isCurrent = block === present.block && layer === present.layer && head === present.head;
  const props = { type: "button", title: description, "aria-label": `${change(value)}, ${description}`, "aria-pressed": isCurrent, "data-value": value.toFixed(6) };
  return el("button", { ...props, style: paint(value), onclick: () => pick(address) }, change(value));
}
