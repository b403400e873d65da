/** The parts of a cell that combines several tokens or several heads. */

import { attention, axes } from "../core/wire/attentions.js";
import { four } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { shareBar } from "../core/draw/proportion-bar.js";
import { token } from "../core/draw/token.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Reading } from "../core/store/heatmap-data.js" */

/**
 * @param {Context} context
 * @param {Reading} reading
 * @param {{row: number, col: number}} at
 * @returns {import("../lib/render.js").Described[] | null}  null for a single pair of tokens of a
 *   single head
 */
export function cellBreakdown(context, reading, { row, col }) {
  const { choice, planes, rows, cols, matrix } = reading;
  const cell = row * matrix.cols + col;
  const [queries, keys] = [rows.axis.groups[row], cols.axis.groups[col]];
  if (choice.pool !== "one") return heads(context, planes.map(({ values }) => values[cell]), choice.pool);
  if (queries.length === 1 && keys.length === 1) return null;
  return pieces(context, queries, keys, matrix.values[cell]);
}

/**
 * @param {Context} context
 * @param {number[]} weights  of each head
 * @param {"mean" | "max"} pool
 */
function heads({ t }, weights, pool) {
  const masked = weights.some(Number.isNaN);
  const most = weights.indexOf(Math.max(...weights));
  const lines = weights.map((weight, head) => {
    const name = t("head {n}", { n: head + 1 });
    const strong = pool === "max" && head === most && !masked;
    return el(
      "div",
      { className: strong ? "part strong" : "part" },
      el("dt", {}, name),
      el("dd", {}, shareBar(weight || 0), masked ? t("masked") : four(weight)),
    );
  });
  const whole = pool === "max" ? weights[most] : weights.reduce((a, b) => a + b, 0) / weights.length;
  return [...lines, result(pool === "max" ? t("maximum") : t("mean"), masked ? t("masked") : four(whole))];
}

/**
 * A word's pieces: one line per query with the sum over its keys, and the mean of the lines.
 * @param {Context} context
 * @param {number[]} queries
 * @param {number[]} keys
 * @param {number} weight  the resulting weight
 */
function pieces({ store, t }, queries, keys, weight) {
  const { trace, model, link } = store.get();
  const matrix = trace && attention(model, trace, link);
  if (!trace || !matrix) return [];
  const names = axes(model, trace, link.block).rows.map(({ writes }) => writes);
  const lines = queries.map((query) => {
    const open = keys.map((key) => matrix.values[query * matrix.cols + key]).filter((n) => !Number.isNaN(n));
    const sum = open.reduce((a, b) => a + b, 0);
    const terms = open.length > 1 ? `${open.map(four).join(" + ")} = ` : "";
    const said = open.length ? four(sum) : t("masked");
    return el("div", { className: "part" }, el("dt", {}, token(names[query])), el("dd", {}, terms, el("b", {}, said)));
  });
  const name = queries.length > 1 ? t("mean") : t("weight");
  return [...lines, result(name, Number.isNaN(weight) ? t("masked") : four(weight))];
}

/** @param {string} name @param {string} value */
const result = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value)));
