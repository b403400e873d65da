/**
 * The lines between queries and keys: which pairs have one, and the weight of those that do not.
 */

/** @import { Matrix } from "../../core/wire/safetensors.js" */
/** @typedef {{head: number, matrix: Matrix}} Head  NaN where masked */
/** @typedef {{head: number, query: number, key: number, weight: number}} Strand */
/**
 * @typedef {object} Strands
 * @property {Strand[]} strands  strongest last, so that it is drawn on top
 * @property {number} hidden  unmasked pairs without a line
 * @property {number} mass  their share of the total weight
 * @property {boolean} cut  whether some are hidden by the limit, not by the threshold
 */

/**
 * @param {Head[]} heads
 * @param {{least: number, most: number}} wanted  the smallest weight with a line, and the largest
 *   number of lines
 * @returns {Strands}
 */
export function strands(heads, { least, most: limit }) {
  /** @type {Strand[]} */
  const candidates = [];
  let [open, total] = [0, 0];
  for (const { head, matrix } of heads) {
    const { cols, values } = matrix;
    for (let i = 0; i < values.length; i++) {
      const weight = values[i];
      if (Number.isNaN(weight)) continue;
      open++;
      total += weight;
      if (weight > 0 && weight >= least) candidates.push({ head, query: Math.floor(i / cols), key: i % cols, weight });
    }
  }
  candidates.sort((a, b) => a.weight - b.weight);
  const strongest = candidates.slice(-limit);
  const drawnWeight = strongest.reduce((sum, { weight }) => sum + weight, 0);
  return {
    strands: strongest,
    hidden: open - strongest.length,
    mass: total > 0 ? Math.max(0, 1 - drawnWeight / total) : 0,
    cut: strongest.length < candidates.length,
  };
}

/**
 * The mean over heads, cell by cell.
 * @param {Head[]} heads
 * @returns {Matrix | null}  null if there are no heads
 */
export function average(heads) {
  if (!heads.length) return null;
  const { rows, cols } = heads[0].matrix;
  const values = new Float32Array(rows * cols);
  for (const { matrix } of heads)
    for (let i = 0; i < values.length; i++) values[i] += matrix.values[i] / heads.length;
  return { rows, cols, values };
}

/**
 * Which lines are highlighted: a query's, or a key's if no query is highlighted.
 * @param {{query: number | null, key: number | null, head?: number | null}} at  null: any
 * @returns {(strand: Strand) => boolean}
 */
export function isOnHighlight({ query, key, head = null }) {
  const token = (/** @type {Strand} */ strand) => (query !== null ? strand.query === query : key === null || strand.key === key);
  return (strand) => token(strand) && (head === null || strand.head === head);
}

/**
 * The heads named in a link that exist.
 * @param {number[] | null} list  null: the current one
 * @param {number} present  the current head
 * @param {number} count
 * @returns {number[]}  in order
 */
export function chosen(list, present, count) {
  return list ? allIndices(count).filter((head) => list.includes(head)) : [present];
}

/** @param {number} count */
export const allIndices = (count) => [...Array(count).keys()];

/**
 * Switch a head on or off.
 * @param {number[]} list
 * @param {number} head
 * @returns {number[]}  in order
 */
export function toggled(list, head) {
  if (list.includes(head)) return list.filter((listed) => listed !== head);
  return [...list, head].sort((a, b) => a - b);
}

/**
 * Strokes that distinguish heads without colour: solid, dashed, dotted, dash-dotted. If more heads
 * are on than there are strokes, all are solid, because many dashed lines side by side form a
 * pattern of their own; pointing at a head's button then shows which lines are its own.
 */
export const DASHES = Object.freeze([null, "7 3", "1.5 3", "9 3 1.5 3"]);

/** @param {number} head @param {number} on  how many heads are */
export const dash = (head, on) => (on > DASHES.length ? null : DASHES[head % DASHES.length]);
