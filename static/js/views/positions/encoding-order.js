/**
 * The order in which positional encodings are drawn: all sines (even features), then all cosines.
 */

/**
 * @param {number} col  of the drawing
 * @param {number} width  d_model
 * @returns {number}  the feature drawn there
 */
export function featureAt(col, width) {
  const sines = Math.ceil(width / 2);
  return col < sines ? 2 * col : 2 * (col - sines) + 1;
}

/**
 * @param {import("../../core/wire/wire.js").Matrix} matrix  [position, feature]
 * @returns {import("../../core/wire/wire.js").Matrix}  the same, with columns in drawing order
 */
export function apart({ rows, cols, values }) {
  const drawn = Float32Array.from(values, (_, i) => {
    const row = Math.floor(i / cols);
    return values[row * cols + featureAt(i % cols, cols)];
  });
  return { rows, cols, values: drawn };
}
