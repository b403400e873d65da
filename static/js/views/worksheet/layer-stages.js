/** The stages of the whole layer: all heads together, and the feed-forward network. */

import { four } from "../../lib/numbers.js";
import { plain, total } from "../../compute/formula.js";
import { size } from "../../lib/vectors.js";
import { FEW, ONWARD, bySize, ledger, upTo } from "./sheet-model.js";

/** @typedef {import("./sheet-model.js").Scene} Scene */
/** @typedef {import("./sheet-model.js").Stage} Stage */
/** @typedef {import("./sheet-model.js").Table} Table */
/** @typedef {NonNullable<Scene["sheet"]["ffn"]>} FeedForward */

const UNITS = 8;

/** @param {Scene} scene @returns {Stage} */
export function output({ t, sheet, cell, query }) {
  const { parts, bias, computed, model, check } = sheet.output;
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
      ["output_i", "=", total("h", ["mix_ih", "W_Oh"]), ...(bias ? ["+", "b_O"] : [])],
    ],
    bands: [
      { name: ["mix_ih", "W_Oh"], values: own, tone: "signed" },
      { name: "output_i", values: computed, tone: "plain" },
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

/** @param {Scene} scene @returns {Stage} */
export function hidden({ t, sheet }) {
  const { sums, b, computed, model, strongest, check } = /** @type {FeedForward} */ (sheet.ffn).hidden;
  const result = `${strongest.length} / ${model.length}`;
  return {
    id: "hidden",
    title: t("Feed-forward: hidden units"),
    result,
    prose: [
      {
        says: t("{firing} of {all} hidden units are active; the others are below zero, and ReLU sets them to 0. The " +
          "strongest is unit {unit} ({value})."),
        values: { firing: strongest.length, all: model.length, unit: (strongest[0] ?? 0) + 1, value: four(model[strongest[0] ?? 0]) },
      },
    ],
    formulas: [["hidden", "=", "max", "(", plain(0), ",", "norm", "W_1", "+", "b_1", ")"]],
    bands: [{ name: "hidden", values: model, tone: "plain" }],
    unit: t("hidden unit"),
    tables: [
      ledger(t, {
        title: t("The strongest units"),
        unit: t("hidden unit"),
        head: [{ math: ["norm", "W_1"] }, { math: "b_1" }],
        entries: (unit) => [sums[unit] - b[unit], b[unit]],
        result: { computed, model },
        rows: bySize(model),
        few: UNITS,
      }),
    ],
    check,
  };
}

/** @param {Scene} scene @returns {Stage} */
export function ffn({ t, sheet }) {
  const { bias, computed, model, check } = /** @type {FeedForward} */ (sheet.ffn).output;
  return {
    id: "ffn",
    title: t("Feed-forward: output"),
    result: "",
    prose: [{ says: t("Each active unit adds its row of {W} times its activation."), values: { W: { math: "W_2" } } }],
    formulas: [["output", "=", "hidden", "W_2", "+", "b_2"]],
    bands: [{ name: "output", values: computed, tone: "plain" }],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The numbers"),
        unit: t("feature"),
        head: [{ math: ["hidden", "W_2"] }, { math: "b_2" }],
        entries: (f) => [computed[f] - bias[f], bias[f]],
        result: { computed, model },
        few: FEW,
      }),
    ],
    check,
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
