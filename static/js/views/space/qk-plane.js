/** The queries and keys of one head as points in a plane, and a query's keys ranked by q · k. */

import { dot, pca } from "./pca.js";

/** @import { Matrix } from "../../core/wire/wire.js" */
/** @import { Point } from "./label-placement.js" */
/**
 * @typedef {object} Space
 * @property {number[][]} queries  [query][x, y]
 * @property {number[][]} keys  [key][x, y]
 * @property {number[]} origin  the origin, where the mean query and the mean key are
 * @property {number[][]} directions  [query][x, y]: the direction of the uncentred query, which
 *   determines q · k
 * @property {{queries: number[][], keys: number[][], origin: number[], share: number}} solid  the
 *   same with a third direction, and its share of the variance
 * @property {number[]} shares  of the variance along x and y
 * @property {number} channels
 */
/** @typedef {{key: number, dot: number, weight: number, masked: boolean}} Found */

/**
 * The plane in which queries and keys together vary most. Both sets are centred and scaled
 * separately: a shift of all keys adds the same number to all scores of a row, which does not
 * change the softmax, and queries twice as long with keys half as long have the same products. Only
 * the direction of a query is that of the uncentred query.
 * @param {Matrix} q  [query, channel]
 * @param {Matrix} k  [key, channel]
 * @returns {Space}
 */
export function space(q, k) {
  const { components, shares, points } = pca([...centred(rows(q)), ...centred(rows(k))], 3);
  const flat = (/** @type {number[]} */ [x, y = 0]) => [x, y];
  const all = points.map(flat);
  const origin = components.map(() => 0);
  return {
    queries: all.slice(0, q.rows),
    keys: all.slice(q.rows),
    origin: flat(origin),
    directions: rows(q).map((query) => flat(components.map((component) => dot(query, component)))),
    solid: { queries: points.slice(0, q.rows), keys: points.slice(q.rows), origin, share: shares[2] ?? 0 },
    shares: [shares[0] ?? 0, shares[1] ?? 0],
    channels: q.cols,
  };
}

/**
 * Subtract the mean, and scale to a root mean square length of one.
 * @param {ArrayLike<number>[]} points
 */
function centred(points) {
  const mean = Array.from(points[0] ?? [], (_, c) => points.reduce((sum, point) => sum + point[c], 0) / points.length);
  const moved = points.map((point) => mean.map((centre, c) => point[c] - centre));
  const spread = Math.sqrt(moved.reduce((sum, point) => sum + dot(point, point), 0) / points.length) || 1;
  return moved.map((point) => point.map((value) => value / spread));
}

/** @param {Matrix} matrix */
function rows({ rows, cols, values }) {
  return Array.from({ length: rows }, (_, i) => values.subarray(i * cols, (i + 1) * cols));
}

/**
 * Points in pixels: the same scale on both axes, y upwards, centred in the available space.
 * @param {number[][]} points
 * @param {{width: number, height: number}} room
 * @param {[number, number]} margin  horizontally and vertically
 * @returns {Point[]}
 */
export function placed(points, { width, height }, [aside, above]) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const fit = Math.min(
    (width - 2 * aside) / (right - left || 1e-9),
    (height - 2 * above) / (high - low || 1e-9),
  );
  const scale = Number.isFinite(fit) && right - left + high - low > 0 ? fit : 0;
  return points.map(([x, y]) => ({
    x: width / 2 + (x - (left + right) / 2) * scale,
    y: height / 2 - (y - (low + high) / 2) * scale,
  }));
}

/**
 * The keys of a query by q · k, largest first, or by their weights if the score is something else;
 * masked keys come last.
 * @param {Matrix} q
 * @param {Matrix} k
 * @param {number} query
 * @param {ArrayLike<number>} weights  of the query's row, NaN where masked
 * @param {"dot" | "weight"} [by]
 * @returns {Found[]}
 */
export function ranking(q, k, query, weights, by = "dot") {
  const from = rows(q)[query];
  return rows(k)
    .map((to, key) => ({
      key,
      dot: dot(from, to),
      weight: weights[key],
      masked: Number.isNaN(weights[key]),
    }))
    .sort((a, b) => Number(a.masked) - Number(b.masked) || b[by] - a[by]);
}

/**
 * The point nearest to another.
 * @param {Point[]} points
 * @param {Point} at
 * @param {number} [reach]  largest distance
 * @returns {number | null}
 */
export function nearest(points, { x, y }, reach = Infinity) {
  let best = /** @type {number | null} */ (null);
  let shortest = reach;
  points.forEach((point, i) => {
    const distance = Math.hypot(point.x - x, point.y - y);
    if (distance <= shortest) [best, shortest] = [i, distance];
  });
  return best;
}
