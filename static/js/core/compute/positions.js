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

import { blockOf, selfBlock, typedText } from "../wire/model-description.js";

/** @import { Matrix } from "../wire/safetensors.js" */
/** @import { Model } from "../wire/model-description.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Vector } from "../../lib/vectors.js" */

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
 * The cosine similarity of every two rows of a matrix.
 * @param {Matrix} matrix  [row, feature]
 * @returns {Float32Array}  [row, row]; 0 if one is zero
 */
export function cosines({ rows, cols, values }) {
  const unit = Float64Array.from(values);
  for (let row = 0; row < rows; row++) {
    const numbers = unit.subarray(row * cols, (row + 1) * cols);
    const length = Math.hypot(...numbers) || 1;
    for (let col = 0; col < cols; col++) numbers[col] /= length;
  }
  const similarity = new Float32Array(rows * rows);
  for (let a = 0; a < rows; a++)
    for (let b = a; b < rows; b++) {
      let sum = 0;
      for (let col = 0; col < cols; col++) sum += unit[a * cols + col] * unit[b * cols + col];
      similarity[a * rows + b] = similarity[b * rows + a] = sum;
    }
  return similarity;
}

/**
 * PE of the first positions and their cosine similarities, as `GET /api/positions` has them.
 * @param {number} length
 * @param {number} width  d_model
 * @returns {{positions: Float32Array, similarity: Float32Array}}  [position, feature], [position, position]
 */
export function encodingTable(length, width) {
  const positions = Float32Array.from(Array.from({ length }, (_, pos) => encoding(pos, width)).flat());
  return { positions, similarity: cosines({ rows: length, cols: width, values: positions }) };
}

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
export function rotationMatrix(angle) {
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
export function shiftedEncoding({ rows, cols, values }, k) {
  const out = new Float32Array(values.length).fill(NaN);
  for (let i = 0; i < pairs(cols); i++) {
    const [[a, b], [c, d]] = rotationMatrix(k * frequency(i, cols));
    for (let row = 0; row < rows; row++) {
      const index = row * cols + 2 * i;
      out[index] = a * values[index] + b * values[index + 1];
      out[index + 1] = c * values[index] + d * values[index + 1];
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
  const moved = shiftedEncoding(table, k).values;
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
export function dotProducts({ rows, cols, values }, cosines) {
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

/**
 * The two positions whose encodings are most alike.
 * @param {Matrix} similarity  [position, position]
 * @returns {{a: number, b: number, value: number} | null}  a < b; null: fewer than two positions
 */
export function mostAlike({ rows, values }) {
  let best = null;
  for (let a = 0; a < rows; a++)
    for (let b = a + 1; b < rows; b++)
      if (!best || values[a * rows + b] > best.value) best = { a, b, value: values[a * rows + b] };
  return best;
}

// The kinds of positional encoding, and where in the computation they act.

/** @typedef {"sinusoidal" | "learned" | "rotary" | "relative" | "none"} Base */
/** @typedef {"input" | "layer" | "qk" | "turn" | "scores" | ""} Where */
/** @typedef {{base: Base, site: Where, product: boolean}} PositionKind  product: a factor, and not a term */

/** @type {Record<string, PositionKind>} */
const KINDS = {
  sinusoidal: { base: "sinusoidal", site: "input", product: false },
  learned: { base: "learned", site: "input", product: false },
  "sinusoidal-each-layer": { base: "sinusoidal", site: "layer", product: false },
  "learned-each-layer": { base: "learned", site: "layer", product: false },
  "sinusoidal-on-qk": { base: "sinusoidal", site: "qk", product: false },
  "learned-on-qk": { base: "learned", site: "qk", product: false },
  rotary: { base: "rotary", site: "turn", product: false },
  relative: { base: "relative", site: "scores", product: false },
  "relative-product": { base: "relative", site: "scores", product: true },
  none: { base: "none", site: "", product: false },
};

/** @param {Model} model @returns {PositionKind} */
export const kindOf = (model) => KINDS[model?.positions ?? "sinusoidal"] ?? KINDS.none;

/**
 * Where the model's positions act, as a sentence.
 * @param {Translate} t
 * @param {PositionKind} kind
 */
export function positionSentence(t, { base, site, product }) {
  if (site === "input")
    return base === "learned"
      ? t("Learned positions: one row for each position, learned like any other parameter and added to the token's embedding.")
      : t("Sinusoidal positions: a fixed pattern of waves, added to the token's embedding.");
  if (site === "layer")
    return base === "learned"
      ? t("Learned positions: one row for each position, added to what every layer reads, and not to the embedding.")
      : t("Sinusoidal positions: a fixed pattern of waves, added to what every layer reads, and not to the embedding.");
  if (site === "qk")
    return base === "learned"
      ? t("Learned positions: one row for each position, added in every layer to the input of queries and keys. Values and embeddings have none.")
      : t("Sinusoidal positions: a fixed pattern of waves, added in every layer to the input of queries and keys. Values and embeddings have none.");
  if (site === "turn")
    return t("Rotary positions: in self-attention each pair of channels of q and k is rotated by the position times " +
      "the frequency of the pair. Nothing is added to the embedding.");
  if (site === "scores")
    return product
      ? t("Relative positions: in self-attention each head multiplies a score by a learned number π for the offset of the key from the query. Nothing is added to the embedding.")
      : t("Relative positions: in self-attention each head adds to a score a learned number π for the offset of the key from the query. Nothing is added to the embedding.");
  return t("This model has no positions: its encoder does not know where a token is, and the same tokens in another order get the same weights. Its decoder can still count, because each row sees only the tokens before it.");
}

/**
 * The position tensors that are added to the typed text; they can be dropped.
 * @param {Model} model
 * @returns {string[]}  empty if positions are not added
 */
export function droppableTensors(model) {
  const { site } = kindOf(model);
  const { stack, rows } = blockOf(model, selfBlock(model, typedText(model)).id);
  if (site === "input") return [`${typedText(model)}.position`];
  if (site === "layer") return rows.map(({ layer }) => `${stack}.${layer}.position`);
  if (site === "qk") return rows.map(({ place }) => `${place}.position`);
  return [];
}

// Rotary positions (Su et al. 2021, "RoFormer", equations 15 and 34): each pair of neighbouring
// channels of q and k is rotated by the position times the pair's frequency.
//
//     (x_2i, x_2i+1) → R(pos · θ_i) (x_2i, x_2i+1)        θ_i = 10000^(−2i / d_k)

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
 * @param {number} position  the position
 * @param {Rotation} rotation
 * @param {1 | -1} [sign]  -1: back
 * @returns {Float64Array}
 */
export function rotatedPairs(x, position, { pairs, theta, scale }, sign = 1) {
  const out = Float64Array.from(x);
  pairs.forEach(([a, b], pair) => {
    const turn = sign * position * theta[pair];
    const [sin, cos] = [Math.sin(turn) * scale ** sign, Math.cos(turn) * scale ** sign];
    out[a] = x[a] * cos - x[b] * sin;
    out[b] = x[a] * sin + x[b] * cos;
  });
  return out;
}

/**
 * @param {Vector} x  [d_k]
 * @param {number} position  the position; a negative one rotates back
 * @returns {Float64Array}
 */
export function rotatedVector(x, position) {
  const out = new Float64Array(x.length);
  for (let even = 0; even < x.length; even += 2) {
    const turn = angle(even >> 1, x.length, position);
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
 * @param {number} position  the position
 * @returns {number}  radians
 */
export const angle = (pair, width, position) => position * frequency(pair, width);

/**
 * Rotate every row, or rotate it back.
 * @param {import("../wire/safetensors.js").Matrix} matrix  [position, channel]
 * @param {1 | -1} sign
 * @returns {import("../wire/safetensors.js").Matrix}
 */
export function rotatedRows({ rows, cols, values }, sign) {
  const out = new Float32Array(values.length);
  for (let position = 0; position < rows; position++) out.set(rotatedVector(values.subarray(position * cols, (position + 1) * cols), sign * position), position * cols);
  return { rows, cols, values: out };
}
