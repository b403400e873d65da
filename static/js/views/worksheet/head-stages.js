/** The stages mask and softmax, and weighted sum. */

import { factor, fraction, plain, raised, total } from "../../core/compute/formula.js";
import { four } from "../../lib/numbers.js";
import { sum } from "../../lib/vectors.js";
import { bySize, ledger, upTo } from "./sheet-model.js";

/** @import { Scene, Stage } from "./sheet-model.js" */
/** @import { Formula } from "../../core/compute/formula.js" */

/** The number of keys in a table at first; a button shows all. */
const MANY_KEYS = 24;
/** A score minus the largest of its row. @type {Formula} */
const LESS = ["score_ij", "−", "max_i"];

/** @param {Scene} scene @returns {Stage} */
export function softmax({ t, sheet, cell, query, key, keys }) {
  const { scores, may, highest, at, shifted, powers, total: all, computed, model, sink, check } = sheet.softmax;
  const open = may.filter(Boolean).length;
  const weight = may[cell.key] ? computed[cell.key] : 0;
  /** @type {Formula} */
  const worked = may[cell.key]
    ? ["weight_ij", "=", fraction(raised("e", LESS), total(["m"], raised("e", ["score_im", "−", "max_i"]))), "=", fraction(raised("e", shifted[cell.key]), all), "=", fraction(powers[cell.key], all), "=", weight]
    : ["weight_ij", "=", plain(0)];
  return {
    id: "softmax",
    title: t("Mask and softmax"),
    result: may[cell.key] ? four(weight) : t("masked"),
    prose: [
      open < may.length
        ? { says: t("The mask lets {query} look at {open} of {all} keys; the others are not in the sum."), values: { query, open, all: may.length } }
        : { says: t("The mask lets {query} look at all {all} keys."), values: { query, all: may.length } },
      ...(open ? [{ says: t("The largest score of the row, {max} of {best}, is subtracted from every score. This changes no weight, because it cancels, and keeps every exponential between 0 and 1."), values: { max: four(highest), best: keys[at] ?? t("attention sink") } }] : []),
      ...(sink ? [{ says: t("This head has a learned attention sink: a score of {score} that belongs to no token. It takes " +
        "{weight} of the weight and has no value, so that the weights of the tokens sum to {rest}."), values: { score: four(sink.score), weight: four(sink.computed), rest: four(1 - sink.computed) } }] : []),
      may[cell.key]
        ? { says: t("The softmax turns the scores of the row into weights that add up to 1; {key} gets {weight}."), values: { key, weight: four(weight) } }
        : { says: t("{key} is masked: the query may not look there, and its weight is exactly 0."), values: { key } },
    ],
    formulas: [worked],
    bands: [],
    tables: [
      {
        title: t("The whole row, key by key"),
        head: [t("key"), { math: "score_ij" }, { math: LESS }, { math: raised("e", LESS) }, { math: "weight_ij" }, "", t("the model's"), t("difference")],
        rows: softmaxRows(computed, cell.key, sink !== null),
        few: MANY_KEYS + (sink ? 1 : 0),
        here: cell.key,
        entries: (j) =>
          sink && j === computed.length
            ? [t("attention sink"), sink.score, shifted[j], powers[j], sink.computed, { bar: sink.computed }, sink.model, { exact: Math.abs(sink.computed - sink.model) }]
            : may[j]
            ? [keys[j], scores[j], shifted[j], powers[j], computed[j], { bar: computed[j] }, model[j], { exact: Math.abs(computed[j] - model[j]) }]
            : [keys[j], scores[j], t("masked"), null, null, null, model[j], { exact: Math.abs(computed[j] - model[j]) }],
        foot: [t("sum"), null, null, all, sum(computed) + (sink?.computed ?? 0), null, sum(model) + (sink?.model ?? 0), null],
      },
    ],
    check,
  };
}

/**
 * In sentence order if all fit, and then the sink; else the cell's key, the sink, and the keys by
 * their weights.
 * @param {Stage["bands"][0]["values"]} weights
 * @param {number} here
 * @param {boolean} sunk
 */
function softmaxRows(weights, here, sunk) {
  const sink = sunk ? [weights.length] : [];
  if (weights.length <= MANY_KEYS) return [...upTo(weights.length), ...sink];
  return [here, ...sink, ...bySize(weights).filter((key) => key !== here)];
}

/** @param {Scene} scene @returns {Stage} */
export function mix({ t, sheet, cell, key }) {
  const { weights, v, own, others, computed, model, check } = sheet.mix;
  return {
    id: "mix",
    title: t("Weighted sum"),
    result: "",
    prose: [
      {
        says: t("The sum of all values, each times its weight. {key} contributes {weight} of its v; the other keys " +
          "contribute the rest."),
        values: { key, weight: four(weights[cell.key]) },
      },
    ],
    formulas: [
      ["mix_i", "=", total("m", ["weight_im", "v_m"])],
    ],
    bands: [
      { name: ["weight_ij", "v_j"], values: own, tone: "v" },
      { name: "mix_i", values: computed, tone: "plain" },
    ],
    unit: t("channel"),
    tables: [
      ledger(t, {
        title: t("This key's part and that of the others"),
        unit: t("channel"),
        head: [{ math: "v_j" }, { math: [factor(weights[cell.key]), "·", "v_j"] }, t("other keys")],
        entries: (c) => [v[c], own[c], others[c]],
        result: { computed, model },
      }),
    ],
    check,
  };
}
