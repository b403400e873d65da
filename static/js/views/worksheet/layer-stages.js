/** The stages of the whole layer: all heads together, and what comes next. */

import { total } from "../../core/compute/formula.js";
import { size } from "../../lib/vectors.js";
import { ONWARD, ledger, upTo } from "./sheet-model.js";

/** @import { Scene, Stage, Table } from "./sheet-model.js" */

/** @param {Scene} scene @returns {Stage} */
export function output({ t, sheet, cell, query, named }) {
  const { parts, bias, computed, model, check } = /** @type {NonNullable<Scene["sheet"]["output"]>} */ (sheet.output);
  const name = named.own ? "projected" : "output_i";
  const own = parts[cell.head];
  return {
    id: "output",
    title: t("All heads together"),
    result: "",
    prose: [
      {
        says: t("The weighted sums of all {heads} heads, concatenated, times {W}: what attention adds for {query}. " +
          "Each head has its own rows in that matrix, so the output is a sum with one part from each head."),
        values: { heads: parts.length, query, W: { math: "W_O" } },
      },
    ],
    formulas: [
      [name, "=", total("h", ["mix_ih", "W_Oh"]), ...(bias ? ["+", "b_O"] : [])],
    ],
    bands: [
      { name: ["mix_ih", "W_Oh"], values: own, tone: "signed" },
      { name, values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      heads(t, parts, cell.head),
      ledger(t, {
        title: t("This head's part and that of the others"),
        unit: t("feature"),
        head: [t("this head"), t("other heads"), ...(bias ? [{ math: "b_O" }] : [])],
        entries: (f) => [own[f], computed[f] - own[f] - (bias ? bias[f] : 0), ...(bias ? [bias[f]] : [])],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/** @param {Scene["t"]} t @param {import("../../lib/vectors.js").Vector[]} parts @param {number} here @returns {Table} */
function heads(t, parts, here) {
  const lengths = parts.map(size);
  const longest = Math.max(...lengths) || 1;
  return {
    title: t("Length of each head's part"),
    head: [t("head"), t("length"), ""],
    rows: upTo(parts.length),
    few: parts.length,
    here,
    entries: (head) => [String(head + 1), lengths[head], { bar: lengths[head] / longest }],
  };
}

/**
 * The stage for layers with cross-attention between self-attention and the feed-forward network.
 * @param {Scene} scene
 * @returns {Stage}
 */
export function onwards({ t, cell, query, named }) {
  return {
    id: ONWARD,
    title: t("Cross-attention comes next"),
    result: "",
    prose: [
      {
        says: named.pre
          ? t("In the decoder, cross-attention comes before the feed-forward network: the residual stream of {query} " +
            "is the x with which layer {layer} now looks at the source sentence.")
          : t("In the decoder, cross-attention comes before the feed-forward network: the normed vector of {query} is " +
            "the x with which layer {layer} now looks at the source sentence."),
        values: { query, layer: cell.layer + 1 },
      },
    ],
    formulas: [],
    bands: [],
    tables: [],
    check: null,
  };
}
