/** The queries and keys of one head as points in a plane, and a query's keys ranked by q · k. */

/** @import { Matrix } from "../../core/wire/safetensors.js" */
/** @import { Point } from "./scatter.js" */

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
/** @typedef {{key: number, dot: number, weight: number, masked: boolean}} RankedKey */

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
  const [minX, maxX] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const fit = Math.min(
    (width - 2 * aside) / (maxX - minX || 1e-9),
    (height - 2 * above) / (high - low || 1e-9),
  );
  const scale = Number.isFinite(fit) && maxX - minX + high - low > 0 ? fit : 0;
  return points.map(([x, y]) => ({
    x: width / 2 + (x - (minX + maxX) / 2) * scale,
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
 * @returns {RankedKey[]}
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

// Principal components: the directions in which a set of points varies most.
//
// The points are centred; the components are the eigenvectors of their covariance XᵀX / n, found by
// Jacobi rotations (Golub & Van Loan, Matrix Computations, section 8.5), largest share first. The
// sign of a component is arbitrary; here its largest entry is positive.

/** @typedef {ArrayLike<number>} Vector */
/**
 * @typedef {object} Plane
 * @property {Float64Array} mean  [channel]
 * @property {Float64Array[]} components  [component][channel], of length one
 * @property {number[]} shares  of the variance, from 0 to 1
 * @property {number[][]} points  [point][component]
 */

const SWEEPS = 60;

/**
 * @param {Vector[]} points  all of the same length
 * @param {number} [count]  of components
 * @returns {Plane}
 */
export function pca(points, count = 2) {
  const width = points[0]?.length ?? 0;
  const mean = new Float64Array(width);
  for (const point of points) mean.forEach((_, c) => (mean[c] += point[c] / points.length));
  const centred = points.map((point) => mean.map((centre, c) => point[c] - centre));
  const { values, vectors } = eigen(covariance(centred, width));
  const total = values.reduce((sum, value) => sum + value, 0);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, count);
  const components = order.map((i) => upright(vectors[i]));
  return {
    mean,
    components,
    shares: order.map((i) => (total > 0 ? Math.max(0, values[i]) / total : 0)),
    points: centred.map((point) => components.map((component) => dot(point, component))),
  };
}

/** @param {Float64Array[]} points  centred @param {number} width @returns {Float64Array[]} */
function covariance(points, width) {
  const matrix = Array.from({ length: width }, () => new Float64Array(width));
  for (const point of points) {
    for (let a = 0; a < width; a++) {
      for (let b = a; b < width; b++) matrix[a][b] += (point[a] * point[b]) / points.length;
    }
  }
  for (let a = 0; a < width; a++) for (let b = 0; b < a; b++) matrix[a][b] = matrix[b][a];
  return matrix;
}

/**
 * Eigenvalues and eigenvectors of a symmetric matrix, in no order.
 * @param {Float64Array[]} matrix  is overwritten
 * @returns {{values: number[], vectors: Float64Array[]}}
 */
export function eigen(matrix) {
  const size = matrix.length;
  const vectors = matrix.map((_, i) => Float64Array.from({ length: size }, (_, j) => +(i === j)));
  const all = matrix.reduce((sum, row) => sum + dot(row, row), 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    for (let a = 0; a < size; a++) for (let b = 0; b < a; b++) off += matrix[a][b] ** 2;
    if (off <= 1e-26 * all) break;
    for (let a = 0; a < size; a++)
      for (let b = a + 1; b < size; b++) if (matrix[a][b] !== 0) rotate(matrix, vectors, a, b);
  }
  return { values: matrix.map((row, i) => row[i]), vectors };
}

/**
 * Rotate in the plane of axes a and b, so that the matrix entry there becomes zero.
 * @param {Float64Array[]} matrix
 * @param {Float64Array[]} vectors  rotated as well; its rows become the eigenvectors
 * @param {number} a
 * @param {number} b
 */
function rotate(matrix, vectors, a, b) {
  const slope = (matrix[b][b] - matrix[a][a]) / (2 * matrix[a][b]);
  const tangent = (slope < 0 ? -1 : 1) / (Math.abs(slope) + Math.hypot(slope, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  for (const row of matrix) {
    const [x, y] = [row[a], row[b]];
    row[a] = cosine * x - sine * y;
    row[b] = sine * x + cosine * y;
  }
  for (const rows of [matrix, vectors]) {
    const [first, second] = [rows[a], rows[b]];
    for (let i = 0; i < first.length; i++) {
      const [x, y] = [first[i], second[i]];
      first[i] = cosine * x - sine * y;
      second[i] = sine * x + cosine * y;
    }
  }
}

/** @param {Float64Array} vector */
function upright(vector) {
  let largest = 0;
  for (const value of vector) if (Math.abs(value) > Math.abs(largest) + 1e-12) largest = value;
  return largest < 0 ? vector.map((value) => -value) : vector;
}

/** @param {Vector} a @param {Vector} b */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
