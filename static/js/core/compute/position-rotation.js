/**
 * Sinusoidal positions (Vaswani et al. 2017, section 3.5).
 *
 *     PE(pos, 2i) = sin(pos · ω_i)    PE(pos, 2i+1) = cos(pos · ω_i)    ω_i = 10000^(−2i / d_model)
 *
 * Features 2i and 2i+1 are the coordinates of a point that rotates by ω_i per position. Moving by k
 * rotates it by k·ω_i, whatever the position: PE(pos + k) is a rotation of PE(pos) that does not
 * depend on pos.
 *
 *     ⎡ sin((pos+k)ω) ⎤   ⎡  cos kω  sin kω ⎤ ⎡ sin(pos·ω) ⎤
 *     ⎣ cos((pos+k)ω) ⎦ = ⎣ −sin kω  cos kω ⎦ ⎣ cos(pos·ω) ⎦
 */

/** @import { Matrix } from "../wire/wire.js" */

/**
 * @param {number} pair  i, from 0
 * @param {number} width  d_model
 * @returns {number}  radians per position
 */
export const frequency = (pair, width) => 10000 ** ((-2 * pair) / width);

/** PE(pos, ·) in float64. @param {number} pos @param {number} width @returns {number[]} */
export const encoding = (pos, width) =>
  Array.from({ length: width }, (_, feature) => Math[feature % 2 ? "cos" : "sin"](pos * frequency(feature >> 1, width)));

/**
 * @param {number} feature
 * @param {number} width
 * @returns {number}  in positions
 */
export const wavelength = (feature, width) => (2 * Math.PI) / frequency(feature >> 1, width);

/**
 * @param {number} angle  in radians
 * @returns {[[number, number], [number, number]]}  multiplies (sin, cos) from the left
 */
export function turn(angle) {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return [
    [cos, sin],
    [-sin, cos],
  ];
}

/** @param {number} width  @returns {number} how many whole (sin, cos) pairs there are */
export const pairs = (width) => width >> 1;

/**
 * Rotate every row by k positions, pair by pair.
 * @param {Matrix} table  [position, feature]
 * @param {number} k
 * @returns {Matrix}  an odd last feature has no partner and becomes NaN
 */
export function turned({ rows, cols, values }, k) {
  const out = new Float32Array(values.length).fill(NaN);
  for (let i = 0; i < pairs(cols); i++) {
    const [[a, b], [c, d]] = turn(k * frequency(i, cols));
    for (let row = 0; row < rows; row++) {
      const at = row * cols + 2 * i;
      out[at] = a * values[at] + b * values[at + 1];
      out[at + 1] = c * values[at] + d * values[at + 1];
    }
  }
  return { rows, cols, values: out };
}

/**
 * The largest difference between rotated encodings and the encodings themselves.
 * @param {Matrix} table
 * @param {number} k  less than the number of rows
 * @returns {{largest: number, compared: number}}  compared: how many numbers
 */
export function check(table, k) {
  const { rows, cols, values } = table;
  const moved = turned(table, k).values;
  let largest = 0;
  let compared = 0;
  for (let i = 0; i < (rows - k) * cols; i++) {
    if (Number.isNaN(moved[i])) continue;
    largest = Math.max(largest, Math.abs(moved[i] - values[i + k * cols]));
    compared++;
  }
  return { largest, compared };
}

/**
 * Dot products from cosines: cos · |a| · |b|.
 * @param {Matrix} table  [position, feature]
 * @param {Matrix} cosines  [position, position]
 * @returns {Matrix}
 */
export function dots({ rows, cols, values }, cosines) {
  const norms = Float64Array.from({ length: rows }, (_, row) =>
    Math.hypot(...values.subarray(row * cols, (row + 1) * cols)),
  );
  const out = Float32Array.from(
    cosines.values,
    (value, i) => value * norms[Math.floor(i / rows)] * norms[i % rows],
  );
  return { rows, cols: rows, values: out };
}

/**
 * The similarity of two positions by their distance.
 * @param {Matrix} similarity  [position, position]
 * @returns {{mean: number[], spread: number}}  the mean over all pairs at each distance, and the
 *   largest deviation of a pair from its mean: 0 if similarity depends only on the distance
 */
export function decay({ rows, values }) {
  const mean = Array.from({ length: rows }, (_, distance) => {
    let sum = 0;
    for (let i = 0; i + distance < rows; i++) sum += values[i * rows + i + distance];
    return sum / (rows - distance);
  });
  let spread = 0;
  for (let i = 0; i < rows; i++)
    for (let j = i; j < rows; j++)
      spread = Math.max(spread, Math.abs(values[i * rows + j] - mean[j - i]));
  return { mean, spread };
}
