/**
 * The breakdown of a logit: one row per kind of part, one column per layer, sums at the end. A deep
 * model's layers are rows.
 */

import { el } from "../../lib/render.js";
import { LAYERS, total } from "../../core/compute/logit-lens.js";
import { change } from "../../lib/numbers.js";
import { foldedRows } from "./folding.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Sum } from "../../core/compute/logit-lens.js" */
/** @import { Paint } from "./head-contributions.js" */
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

/** @param {string[]} names @param {import("../../lib/render.js").Child[]} rows @param {import("../../lib/render.js").Child[]} foot */
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
