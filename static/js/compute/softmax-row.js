/**
 * One cell of attention, worked out again from q and k:
 *
 *     score = q · k / √d_k        weight = exp(score) / Σ exp(scores that the mask leaves)
 */

/** @typedef {import("../data/wire.js").Matrix} Matrix */
/**
 * @typedef {object} Working
 * @property {number} dot  q · k
 * @property {number} width  d_k
 * @property {number} score
 * @property {number} total  Σ exp over the row, after the mask
 * @property {number} weight
 * @property {boolean} masked
 */

/**
 * @param {Matrix} q  [query, channel]
 * @param {Matrix} k  [key, channel]
 * @param {number} query
 * @param {number} key
 * @param {(key: number) => boolean} may  whether the query may attend to it
 * @returns {Working}
 */
export function working(q, k, query, key, may) {
  const width = q.cols;
  /** @param {number} other */
  const score = (other) => dot(q, query, k, other) / Math.sqrt(width);
  const open = Array.from({ length: k.rows }, (_, other) => other).filter(may);
  const total = open.reduce((sum, other) => sum + Math.exp(score(other)), 0);
  const masked = !may(key);
  return {
    dot: dot(q, query, k, key),
    width,
    score: score(key),
    total,
    weight: masked ? 0 : Math.exp(score(key)) / total,
    masked,
  };
}

/**
 * @param {Matrix} q
 * @param {number} i
 * @param {Matrix} k
 * @param {number} j
 */
function dot(q, i, k, j) {
  let sum = 0;
  for (let c = 0; c < q.cols; c++) sum += q.values[i * q.cols + c] * k.values[j * k.cols + c];
  return sum;
}
