/**
 * Shuffle the tokens: without positions, attention gives each token the same output in any order.
 */

import { transposed } from "../lib/csv.js";
import { inRows, sizes } from "./matrices.js";

/** @import { Lab } from "./matrices.js" */
/** @import { Answer } from "./steps.js" */

/** The first of these that exists is the output. */
const OUTPUTS = ["final.norm", "ffn.norm", "ffn.residual", "ffn.output", "norm", "residual", "output"];
/** Smaller differences are rounding errors. */
const ROUNDING = 1e-9;

/**
 * Reorder the tokens with everything that belongs to them.
 * @param {Lab} lab
 * @param {number[]} order  for each position, the index of its token
 * @returns {Lab}
 */
export function reordered(lab, order) {
  const column = lab.convention === "column";
  /** @param {string} name @param {(rows: string[][]) => string[][]} move @returns {[string, string[][]]} */
  function moved(name, move) {
    const cells = move(inRows(lab, name));
    return [name, column ? transposed(cells) : cells];
  }
  const { x, targets, padding, memory } = lab.matrices;
  const own = [
    ...(x ? [moved("x", (rows) => order.map((from) => rows[from]))] : []),
    ...(padding && !memory ? [moved("padding", ([row]) => [order.map((from) => row[from])])] : []),
    ...(targets ? [moved("targets", ([row]) => [order.map((from) => row[from])])] : []),
  ];
  const written = order.map((from) => lab.order[from] ?? from);
  return {
    ...lab,
    tokens: order.map((from) => lab.tokens[from]),
    order: written.every((from, place) => from === place) ? [] : written,
    matrices: { ...lab.matrices, ...Object.fromEntries(own) },
  };
}

/**
 * Shuffle into an order that differs from the current one.
 * @param {Lab} lab
 * @param {() => number} [random]
 * @returns {Lab}
 */
export function shuffled(lab, random = Math.random) {
  const { n } = sizes(lab);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const same = order.every((from, place) => from === place);
  return reordered(lab, same ? [...order.slice(1), order[0]] : order);
}

/** Restore the original order. @param {Lab} lab @returns {Lab} */
export function unshuffled(lab) {
  if (!lab.order.length) return lab;
  const back = lab.order.map((_, place) => lab.order.indexOf(place));
  return reordered(lab, back);
}

/**
 * How much each token's output differs from its output in the original order.
 * @param {Lab} lab  shuffled
 * @param {Answer} answer
 * @param {Answer} before  for the same tokens, unshuffled
 * @returns {number[]}  the largest difference of its features
 */
export function moves(lab, answer, before) {
  const [now, then] = [outputs(lab, answer), outputs(lab, before)];
  return now.map((row, place) => {
    const most = Math.max(...row.map((value, i) => Math.abs(value - then[lab.order[place]][i])));
    return most < ROUNDING ? 0 : most;
  });
}

/** One row of features per token. @param {Lab} lab @param {Answer} answer @returns {number[][]} */
function outputs(lab, { steps }) {
  const found = steps[OUTPUTS.find((name) => steps[name]) ?? "output"];
  return lab.convention === "column" ? transposed(found) : found;
}
