/** The breakdown of a logit: one row per kind of part, one column per layer, sums at the end. */

import { el } from "../../lib/render.js";
import { LAYERS, total } from "../../compute/logit-lens.js";
import { change } from "../../lib/numbers.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Sum} Sum */
/** @typedef {import("./head-contributions.js").Paint} Paint */
/** @typedef {{name: string, label: string, input: number | null, layers: (number | null)[]}} Line */

/** @param {Context["t"]} t @param {Sum} sum @param {Paint} paint */
export function ledgerTable(t, sum, paint) {
  const layers = sum.heads[0].values.map((_, n) => t("layer {n}", { n: n + 1 }));
  const names = [t("Part"), t("input"), ...layers, "Σ"].map((name) => el("th", { scope: "col" }, name));
  const together = el("th", { scope: "row", colSpan: layers.length + 2 }, t("together"));
  return el(
    "table",
    { className: "ledger-sums" },
    el("thead", {}, el("tr", {}, names)),
    el("tbody", {}, lines(t, sum).map((one) => row(one, paint))),
    el("tfoot", {}, el("tr", {}, together, el("td", { className: "all" }, change(sum.sum)))),
  );
}

/** @param {Line} line @param {Paint} paint */
function row({ name, label, input, layers }, paint) {
  const values = [input, ...layers];
  return el(
    "tr",
    { "data-part": name },
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
