/**
 * Rotary positions (Su et al. 2021, "RoFormer", equations 15 and 34): each pair of neighbouring
 * channels of q and k is rotated by the position times the pair's frequency.
 *
 *     (x_2i, x_2i+1) → R(pos · θ_i) (x_2i, x_2i+1)        θ_i = 10000^(−2i / d_k)
 */

import { frequency } from "./position-rotation.js";

/** @import { Vector } from "../../lib/vectors.js" */
/**
 * @typedef {object} Rotation  how a model rotates; other channels stay as they are
 * @property {[number, number][]} pairs  the channels of each pair
 * @property {Vector} theta  radians per position, of each pair
 * @property {number} scale  multiplies the rotated channels (YaRN)
 */

/** The paper's rotation: neighbouring channels. @param {number} width  d_k @returns {Rotation} */
export const plainRotation = (width) => ({
  pairs: Array.from({ length: width >> 1 }, (_, pair) => [2 * pair, 2 * pair + 1]),
  theta: Float64Array.from({ length: width >> 1 }, (_, pair) => frequency(pair, width)),
  scale: 1,
});

/**
 * Rotate a vector by its position, or back.
 * @param {Vector} x  [d_k]
 * @param {number} at  the position
 * @param {Rotation} rotation
 * @param {1 | -1} [way]  -1: back
 * @returns {Float64Array}
 */
export function turnedBy(x, at, { pairs, theta, scale }, way = 1) {
  const out = Float64Array.from(x);
  pairs.forEach(([a, b], pair) => {
    const turn = way * at * theta[pair];
    const [sin, cos] = [Math.sin(turn) * scale ** way, Math.cos(turn) * scale ** way];
    out[a] = x[a] * cos - x[b] * sin;
    out[b] = x[a] * sin + x[b] * cos;
  });
  return out;
}

/**
 * @param {Vector} x  [d_k]
 * @param {number} at  the position; a negative one rotates back
 * @returns {Float64Array}
 */
export function rotated(x, at) {
  const out = new Float64Array(x.length);
  for (let even = 0; even < x.length; even += 2) {
    const turn = angle(even >> 1, x.length, at);
    const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
    out[even] = x[even] * cos - x[even + 1] * sin;
    out[even + 1] = x[even] * sin + x[even + 1] * cos;
  }
  return out;
}

/**
 * The angle by which a pair of channels is rotated.
 * @param {number} pair
 * @param {number} width  d_k
 * @param {number} at  the position
 * @returns {number}  radians
 */
export const angle = (pair, width, at) => at * frequency(pair, width);

/**
 * Rotate every row, or rotate it back.
 * @param {import("../wire/wire.js").Matrix} matrix  [position, channel]
 * @param {1 | -1} way
 * @returns {import("../wire/wire.js").Matrix}
 */
export function rotatedRows({ rows, cols, values }, way) {
  const out = new Float32Array(values.length);
  for (let at = 0; at < rows; at++) out.set(rotated(values.subarray(at * cols, (at + 1) * cols), way * at), at * cols);
  return { rows, cols, values: out };
}
