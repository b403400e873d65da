/** What the highlighted token looks at most, in both models. */

import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { quoted } from "../core/draw/token.js";
import { explained } from "../core/compute/row-summary.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Models, Side } from "./model-comparison.js" */

/**
 * @param {Pick<Context, "t" | "say">} context
 * @param {Models} shown
 * @param {import("./pointing.js").Marked} marked
 * @returns {import("../lib/render.js").Child[]}
 */
export function finding({ t, say }, { a, b }, marked) {
  const [one, other] = [most(a, marked.a), most(b, marked.b)];
  const first = one ?? other;
  if (!first) return [];
  const query = el("span", { className: "as-query" }, quoted(first.query));
  if (one && other) {
    const values = { query, a: key(one), x: two(one.weight), b: key(other), y: two(other.weight) };
    return say(t("{query} looks most at {a} in A ({x}) and at {b} in B ({y})."), values);
  }
  const values = { query, key: key(first), x: two(first.weight) };
  return say(one ? t("In A, {query} looks most at {key} ({x}).") : t("In B, {query} looks most at {key} ({x})."), values);
}

/** @param {NonNullable<ReturnType<typeof most>>} found */
const key = ({ key }) => el("span", { className: "as-key" }, quoted(key));

/**
 * The largest weight of a row; of several rows, the last: with a causal mask it has read the others.
 * @param {Side} side
 * @param {import("../core/draw/geometry.js").Place} place
 */
function most({ matrix, rows, cols }, { row, tall = 1 }) {
  const at = row === null ? null : row + tall - 1;
  const cell = at === null ? null : explained(matrix, at, null);
  if (at === null || !cell) return null;
  const weight = matrix.values[at * matrix.cols + cell.col];
  return weight > 0 ? { query: rows.steps[at].writes, key: cols.steps[cell.col].writes, weight } : null;
}
