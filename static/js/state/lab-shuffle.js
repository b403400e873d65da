/** Shuffling the tokens: attention without positions gives each the same output in any order. */

import { transposed } from "../lib/cells.js";
import { inRows, sizes } from "./lab-matrices.js";

/** @typedef {import("./lab-matrices.js").Lab} Lab */
/** @typedef {import("./lab-steps.js").Answer} Answer */

/** The first of these that there is, is what comes out. */
const OUTPUTS = ["final.norm", "ffn.norm", "ffn.residual", "ffn.output", "norm", "residual", "output"];
/** Differences below it are rounding. */
const ROUNDING = 1e-9;

/**
 * Tokens, with all that belongs to them, in another order.
 * @param {Lab} lab
 * @param {number[]} order  for each place, the place that its token comes from
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

/** Another order than the present one. @param {Lab} lab @param {() => number} [random] @returns {Lab} */
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

/** In the order in which it was written. @param {Lab} lab @returns {Lab} */
export function unshuffled(lab) {
  if (!lab.order.length) return lab;
  const back = lab.order.map((_, place) => lab.order.indexOf(place));
  return reordered(lab, back);
}

/**
 * By how much each token's output differs from what it was in the order as written.
 * @param {Lab} lab  shuffled
 * @param {Answer} answer
 * @param {Answer} before  of the same, unshuffled
 * @returns {number[]}  the largest difference of its features
 */
export function moves(lab, answer, before) {
  const [now, then] = [outputs(lab, answer), outputs(lab, before)];
  return now.map((row, place) => {
    const most = Math.max(...row.map((value, i) => Math.abs(value - then[lab.order[place]][i])));
    return most < ROUNDING ? 0 : most;
  });
}

/** A row of features a token. @param {Lab} lab @param {Answer} answer @returns {number[][]} */
function outputs(lab, { steps }) {
  const found = steps[OUTPUTS.find((name) => steps[name]) ?? "output"];
  return lab.convention === "column" ? transposed(found) : found;
}
