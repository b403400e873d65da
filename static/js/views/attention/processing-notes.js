/** Notes on how the weights were processed, so that nothing is changed silently. */

import { attentionAt, extent, place } from "../../core/wire/model-description.js";
import { arrow } from "../../core/store/heatmap-data.js";
import { rounded, two } from "../../lib/numbers.js";
import { isPad } from "../../core/wire/tokens.js";
import { addedTokens } from "../../core/figure/row-wording.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Reading } from "../../core/store/heatmap-data.js" */

/**
 * @param {Context} context
 * @param {Reading} reading
 * @param {number | null} floor  the minimum of a logarithmic scale
 * @returns {string[]}
 */
export function notes({ store, t }, reading, floor) {
  const { model, link, trace } = store.get();
  const { choice, rows, cols } = reading;
  const heads = model ? extent(model, link.block).heads : 0;
  const pads = trace && Object.values(trace.tokens).flat().some(isPad);
  return [
    choice.pool === "mean" && t("Each cell is the mean over the layer's {heads} heads.", { heads }),
    choice.pool === "max" &&
      t("Each cell is the largest weight among the layer's {heads} heads: a row may sum to more than 1.", { heads }),
    choice.words && joins(rows.axis, cols.axis)
      && t("Pieces of a word are merged: weights are summed over its keys and averaged over its queries."),
    choice.words && !joins(rows.axis, cols.axis) && t("Every word here is one token: there is nothing to merge."),
    ...(reading.sunk ? learnedSink(t, reading) : [sinks(t, reading)]),
    choice.texts && textsNote(t, reading, link.options.between),
    choice.pool === "one" && shared(t, attentionAt(model, place(model, link)), link.head),
    choice.top < 100 &&
      t("{shown} of {open} cells are shown, the strongest {percent} %. The dotted ones are hidden, not 0.", {
        shown: reading.shown,
        open: reading.open,
        percent: choice.top,
      }),
    floor !== null &&
      t("Colours are logarithmic: a tenth of the weight is always the same step lighter, down to {floor}; smaller " +
        "weights all look the same.", { floor }),
    pads &&
      t("Both sides are padded. No query may look at padding; its own rows are computed, but nothing reads them."),
  ].filter((line) => typeof line === "string");
}

/** @param {Context["t"]} t @param {Reading} reading @param {string} between */
function textsNote(t, { choice, matrix }, between) {
  const limits = t("Only {texts} is shown: A is the first text, B the second, each with its special tokens.", { texts: arrow(between) });
  if (choice.pool === "max") return limits;
  const sum = [...matrix.values].reduce((total, value) => total + (value || 0), 0);
  const share = t("It is {mean} of a row's weight, on average.", { mean: rounded(sum / (matrix.rows || 1), matrix.error, two) });
  return `${limits} ${share}`;
}

/** @param {...import("../../core/compute/aggregate-attention.js").Axis} axes */
const joins = (...axes) => axes.some(({ groups }) => groups.some((group) => group.length > 1));

/** Of the bars at the end of the rows. @param {Reading} reading */
const meanOfBars = ({ sinks, sinkError }) => rounded(sinks.reduce((sum, share) => sum + share, 0) / (sinks.length || 1), sinkError, two);

/** @param {Context["t"]} t @param {Reading} reading */
function learnedSink(t, reading) {
  const { choice, specials, templated } = reading;
  const mean = meanOfBars(reading);
  return [
    choice.pool === "max"
      ? t("The hatched column is the largest weight of any single head on its learned attention sink, which is not a " +
        "token: {mean} on average.", { mean })
      : t("The hatched column is each row's weight on a learned attention sink, which is not a token: {mean} on average.", { mean }),
    choice.hides && specials
      ? t("{n} tokens are hidden ({what}), so rows no longer sum to 1.", { n: specials, what: addedTokens(t, templated) })
      : choice.pool !== "max" && t("A row and its sink together sum to 1."),
  ];
}

/** @param {Context["t"]} t @param {Reading} reading */
function sinks(t, reading) {
  const { choice, specials, templated, rows } = reading;
  const tokens = addedTokens(t, templated);
  const mean = meanOfBars(reading);
  if (!specials) return t("The bar at the end of a row is its weight on the first token: {mean} on average.", { mean });
  if (!choice.hides && choice.pool === "max")
    return t("The bar at the end of a row is the largest weight of any single head on {what}: {mean} on average.",
      { what: tokens, mean });
  if (!choice.hides)
    return t("The bar at the end of a row is its weight on {what}: {mean} on average.", { what: tokens, mean });
  const hidden = { n: specials, what: tokens, mean, rows: rows.steps.length };
  if (choice.pool === "max")
    return t("{n} tokens are hidden ({what}). The bar at the end of a row is the largest weight of any single head on " +
      "them: {mean} on average.", hidden);
  return t("{n} tokens are hidden ({what}), so rows no longer sum to 1: the hidden weight is shown at the end of each " +
    "row, {mean} on average.", hidden);
}

/**
 * Which heads read the same keys and values.
 * @param {Context["t"]} t
 * @param {import("../../core/wire/schemas.d.ts").AttentionInfo | undefined} attention
 * @param {number} head
 */
function shared(t, attention, head) {
  if (!attention || attention.kv_heads >= attention.heads) return null;
  const group = attention.heads / attention.kv_heads;
  const key = Math.floor(head / group);
  const [first, last] = [key * group + 1, (key + 1) * group];
  return t("Query heads {first}–{last} share key head {key}.", { first, last, key: key + 1 });
}
