/** Which layers of a deep model are shown at first: the others are one line until it is opened. */

import { el } from "../../lib/render.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @typedef {{layers: number[], shown: boolean}} Run  consecutive layers */

/** A model with more layers than this is folded; and how many of the last, and of those whose heads add most, stay. */
const [MOST, LAST, STRONGEST] = [12, 5, 4];

/** @param {number} count  of layers */
export const isDeep = (count) => count > MOST;

/**
 * The layers that are shown: the first, the last ones, that of the link, that from which on the
 * token is most probable, and those whose heads add most to its logit.
 * @param {number} count
 * @param {import("../../core/compute/logit-lens.js").Sum | null} sum
 * @param {(number | null)[]} others
 * @returns {Set<number>}
 */
export function kept(count, sum, others) {
  const largest = Array.from({ length: count }, (_, layer) =>
    Math.max(0, ...(sum?.heads ?? []).flatMap(({ values }) => Array.from(values[layer] ?? [], Math.abs))));
  const strongest = largest.map((_, layer) => layer).sort((a, b) => largest[b] - largest[a]).slice(0, sum ? STRONGEST : 0);
  const last = Array.from({ length: LAST }, (_, i) => count - 1 - i);
  return new Set([0, ...last, ...strongest, ...others.flatMap((layer) => layer ?? [])]);
}

/**
 * @param {number} count
 * @param {Set<number> | null} keep  null: all
 * @returns {Run[]}  a single hidden layer is shown, since a line in its place saves nothing
 */
export function runs(count, keep) {
  /** @type {Run[]} */
  const found = [];
  for (let layer = 0; layer < count; layer++) {
    const alone = (!layer || keep?.has(layer - 1)) && (layer === count - 1 || keep?.has(layer + 1));
    const shown = !keep || keep.has(layer) || Boolean(alone);
    const last = found.at(-1);
    if (last?.shown === shown) last.layers.push(layer);
    else found.push({ layers: [layer], shown });
  }
  return found;
}

/**
 * The rows of a table, with a line for each run of hidden layers.
 * @param {Context["t"]} t
 * @param {number} count
 * @param {{keep: Set<number> | null, unfold: () => void}} fold
 * @param {number} width  columns of the table
 * @param {(layer: number) => import("../../lib/render.js").Child[]} rows
 */
export const foldedRows = (t, count, { keep, unfold }, width, rows) =>
  runs(count, keep).flatMap(({ layers, shown }) => {
    if (shown) return layers.flatMap(rows);
    const [first, last] = [layers[0] + 1, layers[layers.length - 1] + 1];
    const button = el("button", { type: "button", className: "button quiet", onclick: unfold }, t("Layers {first}–{last}", { first, last }));
    return [el("tr", { className: "layers-hidden" }, el("td", { colSpan: width }, button))];
  });
