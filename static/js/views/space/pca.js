/**
 * Principal components: the directions in which a set of points varies most.
 *
 * The points are centred; the components are the eigenvectors of their covariance XᵀX / n, found by
 * Jacobi rotations (Golub & Van Loan, Matrix Computations, section 8.5), largest share first. The
 * sign of a component is arbitrary; here its largest entry is positive.
 */

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
