/**
 * Weights in 8 bits, as a large handout has them (app/handouts/rounded_weights.py):
 *
 *     w = level[code] + (Σ − Σ level[code]) / n     n: the row's codes above 0
 *
 * A code stands for the mean of the head's weights near it, and a row keeps its sum. Code 0 is a
 * weight of 0.
 */

/** @import { Numbers } from "./wire.js" */
/**
 * @typedef {object} Rounded  of a layer: (heads, queries, keys)
 * @property {Float32Array} levels  256 of each head
 * @property {Float32Array | null} sums  of each row; null: all are 1
 * @property {number} error  by which a weight differs at most
 * @property {{head: number, values: Float32Array} | null} exact  the head that is not rounded
 */
/**
 * What a trace says of its rounded weights.
 * @typedef {object} RoundedWeights
 * @property {number} error
 * @property {{name: string, head: number}} exact
 * @property {Record<string, Pick<import("./wire.js").Tensor, "dims" | "over" | "shape">>} tensors  by name, in the order of the file
 */

const LEVELS = 256;

/**
 * @param {{data: Numbers, shape: number[], rounded: Rounded}} tensor
 * @param {number} head
 * @returns {Float32Array}
 */
export function headWeights({ data, shape, rounded }, head) {
  const { levels, sums, exact } = rounded;
  if (exact?.head === head) return exact.values;
  const [, rows, cols] = shape;
  const values = new Float32Array(rows * cols);
  const first = head * rows * cols;
  for (let row = 0; row < rows; row++) {
    let [missing, count] = [sums ? sums[head * rows + row] : 1, 0];
    const [start, end] = [row * cols, (row + 1) * cols];
    for (let cell = start; cell < end; cell++) {
      const code = data[first + cell];
      if (!code) continue;
      values[cell] = levels[head * LEVELS + code];
      missing -= values[cell];
      count++;
    }
    const correction = missing / Math.max(1, count);
    for (let cell = start; cell < end; cell++) if (data[first + cell]) values[cell] = Math.max(0, values[cell] + correction);
  }
  return values;
}

/**
 * A head for a picture: value · 255.
 * @param {{data: Numbers, shape: number[], rounded: Rounded}} tensor
 * @param {number} head
 * @returns {Uint8Array}
 */
export function headShades({ data, shape, rounded: { levels } }, head) {
  const size = shape[1] * shape[2];
  const shades = Uint8Array.from(levels.subarray(head * LEVELS, (head + 1) * LEVELS), (level) => Math.round(255 * level));
  const picture = new Uint8Array(size);
  for (let cell = 0, code = head * size; cell < size; cell++, code++) picture[cell] = shades[data[code]];
  return picture;
}

/**
 * The mean of the heads for a picture: value · 255.
 * @param {{data: Numbers, shape: number[], rounded: Rounded}} tensor
 * @returns {Float32Array}
 */
export function meanShades({ data, shape, rounded: { levels } }) {
  const [heads, rows, cols] = shape;
  const shades = new Float32Array(rows * cols);
  const shares = levels.map((level) => (255 * level) / heads);
  for (let head = 0, code = 0; head < heads; head++)
    for (let cell = 0; cell < shades.length; cell++, code++) shades[cell] += shares[head * LEVELS + data[code]];
  return shades;
}

/**
 * By how much the weights of a head may differ from the model's.
 * @param {{rounded?: Rounded} | undefined} tensor
 * @param {number} head
 */
export const errorOf = (tensor, head) => (!tensor?.rounded || tensor.rounded.exact?.head === head ? 0 : tensor.rounded.error);

/**
 * The weights that a share has and that were not read yet.
 * @param {{rounded?: RoundedWeights} | null} trace
 * @param {string} name
 */
export const isUnread = (trace, name) => Boolean(trace?.rounded && Object.hasOwn(trace.rounded.tensors, name));
