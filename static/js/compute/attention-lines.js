/** What the lines between queries and keys are: which pairs have one, and what those without hold. */

/** @typedef {import("../data/wire.js").Matrix} Matrix */
/** @typedef {{head: number, matrix: Matrix}} Head  NaN where masked */
/** @typedef {{head: number, query: number, key: number, weight: number}} Strand */
/**
 * @typedef {object} Strands
 * @property {Strand[]} strands  the strongest last, so that it lies on top
 * @property {number} hidden  pairs that may look at each other and have no line
 * @property {number} mass  of all the weight, the share that these hold
 * @property {boolean} cut  whether the limit, and not the threshold, hid some
 */

/**
 * @param {Head[]} heads
 * @param {{least: number, most: number}} wanted  the weight from which a pair has a line; how many at most
 * @returns {Strands}
 */
export function strands(heads, { least, most }) {
  /** @type {Strand[]} */
  const found = [];
  let [open, total] = [0, 0];
  for (const { head, matrix } of heads) {
    const { cols, values } = matrix;
    for (let i = 0; i < values.length; i++) {
      const weight = values[i];
      if (Number.isNaN(weight)) continue;
      open++;
      total += weight;
      if (weight > 0 && weight >= least) found.push({ head, query: Math.floor(i / cols), key: i % cols, weight });
    }
  }
  found.sort((a, b) => a.weight - b.weight);
  const shown = found.slice(-most);
  const held = shown.reduce((sum, { weight }) => sum + weight, 0);
  return {
    strands: shown,
    hidden: open - shown.length,
    mass: total > 0 ? Math.max(0, 1 - held / total) : 0,
    cut: shown.length < found.length,
  };
}

/**
 * The mean over heads, cell by cell.
 * @param {Head[]} heads
 * @returns {Matrix | null}  null without heads
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
 * What is told apart: a query's lines, or a key's where no query is lit.
 * @param {{query: number | null, key: number | null, head?: number | null}} at  null: any
 * @returns {(strand: Strand) => boolean}
 */
export function touched({ query, key, head = null }) {
  const token = (/** @type {Strand} */ strand) => (query !== null ? strand.query === query : key === null || strand.key === key);
  return (strand) => token(strand) && (head === null || strand.head === head);
}

/**
 * The heads that a link asks for, as far as there are such.
 * @param {number[] | null} list  null: the one that the page is at
 * @param {number} present  that one
 * @param {number} count
 * @returns {number[]}  in order
 */
export function chosen(list, present, count) {
  return list ? every(count).filter((head) => list.includes(head)) : [present];
}

/** @param {number} count */
export const every = (count) => [...Array(count).keys()];

/**
 * Switches a head on or off.
 * @param {number[]} list
 * @param {number} head
 * @returns {number[]}  in order
 */
export function toggled(list, head) {
  if (list.includes(head)) return list.filter((other) => other !== head);
  return [...list, head].sort((a, b) => a - b);
}

/**
 * Strokes by which heads differ where colours do not help: solid, dashed, dotted, both. Where more
 * heads are on than there are strokes, all are solid: dashes side by side make a pattern of their own,
 * and a head is told from the others by pointing at its button.
 */
export const DASHES = Object.freeze([null, "7 3", "1.5 3", "9 3 1.5 3"]);

/** @param {number} head @param {number} on  how many heads are */
export const dash = (head, on) => (on > DASHES.length ? null : DASHES[head % DASHES.length]);
