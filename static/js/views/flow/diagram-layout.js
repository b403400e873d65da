/** The layout of a flow: rows are tokens, columns layers, from the input to the selected layer. */

import { texts } from "../../core/wire/attentions.js";

/** @import { Graph, Side } from "./flow.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @typedef {{width: number, height: number, wide: boolean, measure: (text: string) => number}} Room */
/** @typedef {ReturnType<typeof layout>} Places */

/** Height of the column names above the rows. */
export const HEAD = 46;
const BAR_WIDTH = { wide: 92, narrow: 58 };
/** Columns are at least this wide, and narrower before the diagram scrolls. */
const COLUMN = { wide: 64, narrow: 46 };
const NARROWEST = 26;

/**
 * @param {{graph: Graph, tops: Step[], leaves: Record<Side, Step[]>}} content
 * @param {Room} room
 */
export function layout({ graph, tops, leaves }, { width, height, wide, measure }) {
  const size = wide ? "wide" : "narrow";
  const side = graph.nodes[graph.tops[0]].side;
  const below = graph.nodes[graph.leaves[0]].side;
  const through = graph.leaves.some((node) => graph.nodes[node].side !== side);
  const sources = through ? leaves[below].length : 0;
  const rows = graph.leaves.length;
  const row = Math.min(30, Math.max(18, (height - HEAD) / rows));
  const last = (/** @type {Side} */ one) =>
    Math.max(...graph.nodes.map((node) => (node.side === one ? node.column : 0)));
  // A stack starts where the one it attends to ends.
  const shift = through ? last(below) : 0;
  const columns = shift + last(side);
  const label = (/** @type {Step[]} */ steps) => Math.max(...texts(steps).map(measure)) + 16;
  const inputs = 2 * BAR_WIDTH[size] + Math.max(label(through ? leaves[below] : []), label(leaves[side]));
  const outputs = label(tops);
  const free = width - inputs - outputs - 8;
  const least = columns * Math.min(COLUMN[size], Math.max(NARROWEST, free / columns));
  const span = Math.max(least, Math.min(columns * 190, free));
  const behind = (/** @type {Side} */ one) => through && one !== below;
  return {
    width: Math.ceil(inputs + span + outputs + 8),
    height: Math.ceil(HEAD + rows * row),
    row,
    bar: BAR_WIDTH[size],
    inputs,
    through,
    side,
    below,
    shift,
    columns,
    x: (/** @type {Side} */ one, /** @type {number} */ column) =>
      inputs + (span * (column + (behind(one) ? shift : 0))) / columns,
    y: (/** @type {Side} */ one, /** @type {number} */ index) =>
      HEAD + (index + (behind(one) ? sources : 0) + 0.5) * row,
  };
}
