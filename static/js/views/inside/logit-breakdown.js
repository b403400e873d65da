/** All that makes a logit, added up: a row a kind of part, a column a layer, its sum at the end. */

import { h } from "../../lib/dom.js";
import { INPUT, LAYERS, total } from "../../compute/logit-lens.js";
import { signed } from "./head-contributions.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Sum} Sum */
/** @typedef {import("./head-contributions.js").Paint} Paint */
/** @typedef {{name: string, label: string, input: number | null, layers: (number | null)[]}} Line */

/** @param {Context} context */
export function ledgerTable({ t }) {
  const element = h("table", { className: "ledger-sums" });

  /** @param {Sum} sum @returns {Line[]} */
  function lines({ heads, parts }) {
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
      ...INPUT.map((name) => ({ name, label: names[name], input: parts[name][0], layers: none })),
      ...heads.map(({ kind, values }, n) => ({ name: kind, label: kinds[n], input: null, layers: values.map(total) })),
      ...LAYERS.map((name) => ({ name, label: names[name], input: null, layers: parts[name] })),
    ];
  }

  return {
    element,

    /** @param {Sum} sum @param {Paint} paint */
    draw(sum, paint) {
      element.replaceChildren(
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, t("Part")),
            h("th", { scope: "col" }, t("input")),
            ...sum.heads[0].values.map((_, n) => h("th", { scope: "col" }, t("layer {n}", { n: n + 1 }))),
            h("th", { scope: "col" }, "Σ"),
          ),
        ),
        h("tbody", {}, ...lines(sum).map(line)),
        h(
          "tfoot",
          {},
          h("tr", {}, h("th", { scope: "row", colSpan: sum.heads[0].values.length + 2 }, t("together")), h("td", { className: "all" }, signed(sum.sum))),
        ),
      );

      /** @param {Line} one */
      function line({ name, label, input, layers }) {
        const values = [input, ...layers];
        const made = h(
          "tr",
          {},
          h("th", { scope: "row" }, label),
          ...values.map((value) => {
            const cell = h("td", {}, value === null ? "" : signed(value));
            if (value !== null) paint(cell, value);
            return cell;
          }),
          h("td", { className: "row-sum" }, signed(total(values.map((value) => value ?? 0)))),
        );
        made.dataset.part = name;
        return made;
      }
    },
  };
}
