/** The map of a model: its stacks as columns, with the attentions of every layer. */

import { blocks, stacked, withVectors } from "../core/wire/attentions.js";

/** @import { Model } from "../core/wire/attentions.js" */
/**
 * @typedef {object} Tower  a stack
 * @property {string} stack
 * @property {boolean} writes  whether its output is the next token
 * @property {string[]} kinds  the kinds of attention of its layers, in the order in which they run
 * @property {{layer: number, cells: {block: string, layer: number}[]}[]} layers  layer 1 first; a
 *   cell is an attention as named in a link, with its layer within the block
 */

/** @typedef {Tower["layers"][number]} Floor */
/** @typedef {{from: number, to: number}} Fold  layers that are not drawn, the first and the last of them */

/** So many floors stand on a screen of 720 lines. */
const MOST = 7;

/** @param {Model} model @returns {Tower[]}  in the order in which they run */
export function floors(model) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.map((stack, i) => {
    const there = stacked(model, stack);
    const layers = [...new Set(there.flatMap(({ rows }) => rows.map(({ layer }) => layer)))].sort((a, b) => a - b);
    return {
      stack,
      writes: i === stacks.length - 1 && there.some(({ rows }) => rows.some(({ mask }) => mask === "causal")),
      kinds: there.map(({ kind }) => kind),
      layers: layers.map((layer) => ({ layer, cells: there.flatMap((block) => cellsOf(block, layer)) })),
    };
  });
}

/**
 * The layers without q and k, by block, of a model that has them in others.
 * @param {Model} model
 * @returns {{block: string, layers: string, count: number}[]}  layers as in "1, 3–5"
 */
export function withoutVectors(model) {
  const all = blocks(model);
  if (!all.some(withVectors)) return [];
  return all.flatMap(({ id, rows }) => {
    const found = rows.flatMap(({ qk }, layer) => (qk === false ? [layer + 1] : []));
    return found.length > 0 ? [{ block: id, layers: ranges(found), count: found.length }] : [];
  });
}

/** @param {number[]} numbers  ascending */
function ranges(numbers) {
  const starts = numbers.filter((n) => !numbers.includes(n - 1));
  const ends = numbers.filter((n) => !numbers.includes(n + 1));
  return starts.map((from, i) => (from === ends[i] ? `${from}` : `${from}–${ends[i]}`)).join(", ");
}

/**
 * A tower of many layers, folded: its ends, the layer that is shown with its neighbours, and others that
 * are to be seen.
 * @param {Floor[]} layers
 * @param {number} at  the layer that is shown
 * @param {number[]} [seen]
 * @returns {(Floor | Fold)[]}  all of them where they are few
 */
export function folded(layers, at, seen = []) {
  const last = layers.length - 1;
  if (layers.length <= MOST) return layers;
  const middle = Math.min(Math.max(at, 0), last);
  const kept = new Set([0, last, middle - 1, middle, middle + 1, ...seen]);
  /** @type {(Floor | Fold)[]} */
  const floors = [];
  for (let i = 0; i <= last; i++) {
    let to = i;
    while (to <= last && !kept.has(to)) to++;
    // One layer takes no more room than the fold that hides it.
    if (to - i > 1) floors.push({ from: layers[i].layer, to: layers[to - 1].layer });
    if (to - i > 1) i = to - 1;
    else floors.push(layers[i]);
  }
  return floors;
}

/**
 * Whether a part of the map is among those that a view shows.
 * @param {import("../core/figure/types.js").ModelPart[]} lit
 * @param {import("../core/figure/types.js").ModelPart} one
 */
export function isLit(lit, { part, stack, layer, block }) {
  return lit.some((other) =>
    other.part === part && other.block === block &&
    (other.stack ?? stack) === stack && (other.layer ?? layer) === layer);
}

/** @param {import("../core/wire/attentions.js").Block} block @param {number} layer */
function cellsOf({ id, rows }, layer) {
  const at = rows.findIndex((row) => row.layer === layer);
  return at < 0 ? [] : [{ block: id, layer: at }];
}
