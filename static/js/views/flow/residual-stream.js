/** How a token's vector changes across the layers: its length and its direction. */

/** @import { Tensor } from "../../core/wire/wire.js" */

/**
 * ‖x‖ of every token.
 * @param {Tensor} tensor  (query, feature)
 * @returns {number[]}
 */
export function norms({ shape: [rows, cols], data }) {
  return Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let c = row * cols; c < (row + 1) * cols; c++) sum += data[c] * data[c];
    return Math.sqrt(sum);
  });
}

/**
 * cos(x, y) of every token; NaN if either is the zero vector.
 * @param {Tensor} x  (query, feature)
 * @param {Tensor} y  (query, feature)
 * @returns {number[]}
 */
export function cosines(x, y) {
  const cols = x.shape[1];
  const [long, wide] = [norms(x), norms(y)];
  return long.map((norm, row) => {
    let dot = 0;
    for (let c = row * cols; c < (row + 1) * cols; c++) dot += x.data[c] * y.data[c];
    return dot / (norm * wide[row]);
  });
}

/** How far a scale extends beyond the 90th percentile of lengths. */
const BEYOND = 1.5;

/**
 * The upper end of a scale of lengths: the largest one, unless a few are so large that all others
 * would look the same.
 * @param {number[][]} lengths
 */
export function reach(lengths) {
  const sorted = lengths.flat().filter(Number.isFinite).sort((a, b) => a - b);
  const [largest, usual] = [sorted.at(-1) ?? 0, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0];
  return Math.min(largest, BEYOND * usual) || largest || 1;
}

/**
 * The points at which the stream of a stack is read, from its input up to a layer: after every
 * sublayer.
 * @param {string[]} kinds  of a layer's attentions, in the order in which they run
 * @param {number} layers  how many
 * @returns {{layer: number, part: string}[]}  the input is layer −1
 */
export function stations(kinds, layers) {
  const parts = [...kinds, "ffn"];
  const behind = Array.from({ length: layers }, (_, layer) => parts.map((part) => ({ layer, part })));
  return [{ layer: -1, part: "input" }, ...behind.flat()];
}
