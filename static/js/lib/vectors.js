/** Rows of tensors, and the linear algebra that the worksheet needs. All sums are float64. */

/** @import { Tensor } from "../core/wire/safetensors.js" */
/** @typedef {ArrayLike<number>} Vector */

/**
 * x W + b in the columns from `from` up to `to`; W starts at row `top`.
 * @param {Vector} x
 * @param {Tensor} W  [in, out]
 * @param {Vector | null} b  [out]
 * @param {number} [from]
 * @param {number} [to]
 * @param {number} [top]
 * @returns {Float64Array}  [to − from]
 */
export function affine(x, { shape, data }, b, from = 0, to = shape[1], top = 0) {
  const out = Float64Array.from({ length: to - from }, (_, c) => (b ? b[from + c] : 0));
  for (let f = 0; f < x.length; f++) {
    const start = (top + f) * shape[1] + from;
    for (let c = 0; c < out.length; c++) out[c] += x[f] * data[start + c];
  }
  return out;
}

/**
 * The products whose sum is one channel: x_f · W[f, channel].
 * @param {Vector} x
 * @param {Tensor} W  [in, out]
 * @param {number} column
 */
export const terms = (x, { shape, data }, column) =>
  Float64Array.from({ length: x.length }, (_, f) => x[f] * data[f * shape[1] + column]);

/**
 * The last axis of a tensor at a row (and at a head, if it has heads).
 * @param {Tensor} tensor
 * @param {number} [index]
 * @param {number} [head]
 * @returns {Vector}
 */
export function row({ shape, data }, index = 0, head = 0) {
  const width = shape[shape.length - 1];
  const height = shape.length > 1 ? shape[shape.length - 2] : 1;
  const start = (head * height + index) * width;
  return data.subarray(start, start + width);
}

/** @param {Tensor} tensor @param {number} head */
export function rows(tensor, head) {
  return Array.from({ length: tensor.shape[1] }, (_, index) => row(tensor, index, head));
}

/** @param {Vector} a @param {Vector} b @returns {Float64Array} */
export const plus = (a, b) => Float64Array.from({ length: a.length }, (_, i) => a[i] + b[i]);
/** @param {Vector} a @param {Vector} b @returns {Float64Array} */
export const times = (a, b) => Float64Array.from({ length: a.length }, (_, i) => a[i] * b[i]);
/** @param {Vector} values */
export function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
/** @param {Vector} vector */
export const size = (vector) => Math.sqrt(sum(times(vector, vector)));
/** The largest absolute value. @param {Vector} values */
export function largest(values) {
  let maximum = 0;
  for (let i = 0; i < values.length; i++) maximum = Math.max(maximum, Math.abs(values[i]));
  return maximum;
}
