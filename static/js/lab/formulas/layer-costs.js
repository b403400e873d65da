/** The cost of a layer (Vaswani et al. 2017, table 1): n tokens, d features, kernel k, window w. */

/** @typedef {{id: string, operations: string, count: number, steps: string, path: string}} Cost */

/**
 * @param {{n: number, d: number, k: number, w: number}} sizes
 * @returns {Cost[]}  operations, sequential steps and the longest path between two tokens, to order
 */
export const layerCosts = ({ n, d, k, w }) => [
  { id: "attention", operations: "n² · d", count: n * n * d, steps: "1", path: "1" },
  { id: "recurrence", operations: "n · d²", count: n * d * d, steps: String(n), path: String(n) },
  { id: "convolution", operations: "k · n · d²", count: k * n * d * d, steps: "1", path: String(convolutions(n, k)) },
  { id: "window", operations: "w · n · d", count: Math.min(w, n) * n * d, steps: "1", path: String(Math.ceil(n / Math.min(w, n))) },
];

/**
 * Layers needed to connect the first token with the last: log_k n.
 * @param {number} n
 * @param {number} k
 */
const convolutions = (n, k) => (k < 2 ? n : Math.max(1, Math.ceil(Math.log(n) / Math.log(k) - 1e-9)));
