/**
 * Aggregate attention, in this order:
 *
 *  1. words    w(R, C) = 1/|R| · Σ_{i∈R} Σ_{j∈C} w(i, j): summed over a word's keys, averaged over
 *     its queries. The sum of a row stays the same.
 *  2. heads    one head's, or the mean or the maximum over a layer's heads, cell by cell.
 *  3. hiding   rows and columns are left out; nothing is rescaled, so a row sums to less by just
 *              what it gave to the columns that are hidden (`weightShares` says how much).
 *  4. top      of the cells that are left, those below the strongest n % are covered.
 *
 * NaN is a masked cell: it has no number, adds nothing, and a cell made only of masked ones stays
 * NaN.
 */

/** @import { Matrix } from "../wire/safetensors.js" */
/** @typedef {"one" | "mean" | "max"} Heads */
/**
 * One axis of the picture.
 * @typedef {object} Axis
 * @property {number[][]} groups  the trace's tokens behind each row or column
 * @property {(number | null)[]} at  the row or column of each of the trace's tokens; null: hidden
 */

/** Why a cell has no number. */
export const COVER = Object.freeze({ open: 0, masked: 1, weak: 2, onlyA: 3, onlyB: 4 });

/**
 * @param {number[][]} groups  of all tokens
 * @param {(token: number) => boolean} [hides]  a group is hidden if its first token is
 * @returns {Axis}
 */
export function groupAxis(groups, hides = () => false) {
  const visibleGroups = groups.filter(([first]) => !hides(first));
  /** @type {(number | null)[]} */
  const places = groups.flat().map(() => null);
  visibleGroups.forEach((group, place) => group.forEach((token) => (places[token] = place)));
  return { groups: visibleGroups, at: places };
}

/**
 * Sum over groups of keys, average over groups of queries.
 * @param {Matrix} matrix
 * @param {number[][]} rows
 * @param {number[][]} cols
 * @returns {Matrix}
 */
export function fold({ values, cols: width, error = 0 }, rows, cols) {
  const folded = new Float32Array(rows.length * cols.length);
  rows.forEach((queries, row) => {
    cols.forEach((keys, col) => {
      let sum = 0;
      let open = 0;
      for (const query of queries) {
        for (const key of keys) {
          const value = values[query * width + key];
          if (Number.isNaN(value)) continue;
          open++;
          sum += value;
        }
      }
      folded[row * cols.length + col] = open ? sum / queries.length : NaN;
    });
  });
  return { rows: rows.length, cols: cols.length, values: folded, error: error * Math.max(1, ...cols.map(({ length }) => length)) };
}

/**
 * @param {Matrix[]} planes  of the same shape, one per head
 * @param {Heads} heads
 * @returns {Matrix}
 */
export function combine(planes, heads) {
  if (heads === "one" || planes.length === 1) return planes[0];
  const { rows, cols } = planes[0];
  const error = Math.max(...planes.map((plane) => plane.error ?? 0));
  const sums = new Float64Array(rows * cols).fill(heads === "max" ? -Infinity : 0);
  for (const { values } of planes)
    for (let i = 0; i < sums.length; i++) sums[i] = heads === "max" ? Math.max(sums[i], values[i]) : sums[i] + values[i];
  const count = heads === "max" ? 1 : planes.length;
  return { rows, cols, values: Float32Array.from(sums, (sum) => sum / count), error };
}

/**
 * The share of each row on the given keys, and by how much it was rounded; for the maximum over heads, the
 * largest share of any head.
 * @param {Matrix[]} planes  before folding
 * @param {number[][]} rows
 * @param {number[]} keys
 * @param {Heads} heads
 * @returns {{shares: Float32Array, error: number}}  0 if all of them are masked
 */
export function weightShares(planes, rows, keys, heads) {
  if (!keys.length) return { shares: new Float32Array(rows.length), error: 0 };
  const folded = planes.map((plane) => fold(plane, rows, [keys]));
  const { values, error = 0 } = combine(folded, heads);
  return { shares: Float32Array.from(values, (value) => value || 0), error };
}

/**
 * The smallest of the strongest cells.
 * @param {import("../wire/safetensors.js").Numbers} open
 * @param {number} percent
 */
function smallestOf(open, percent) {
  const keep = Math.max(1, Math.ceil((open.length * percent) / 100));
  return open.slice().sort()[open.length - keep] ?? 0;
}

/**
 * Cover masked cells and those below the strongest ones. Ties with the last cell shown are shown
 * too.
 * @param {Matrix} matrix
 * @param {number} [percent]  of the unmasked cells, rounded up
 * @returns {{cover: Uint8Array, shown: number, open: number}}
 */
export function coverOfStrongest({ values }, percent = 100) {
  const least =
    percent < 100 ? smallestOf(values.filter((value) => !Number.isNaN(value)), percent) : -Infinity;
  const cover = new Uint8Array(values.length);
  let [visible, open] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const masked = Number.isNaN(values[i]);
    const weak = values[i] < least;
    cover[i] = masked ? COVER.masked : weak ? COVER.weak : COVER.open;
    if (!masked) open++;
    if (!masked && !weak) visible++;
  }
  return { cover, shown: visible, open };
}
