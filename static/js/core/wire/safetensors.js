/**
 * Parse the server's replies: one safetensors file with its document in the metadata under "trace".
 *
 * A tensor is flat and row-major, and has named dims, so that no view guesses an axis.
 */

/** @import { OutputReply, PieceReply, ScoreReply, TokenReply } from "./schemas.d.ts" */
/** @typedef {Float32Array | Uint8Array | Int32Array} Numbers */
/**
 * @typedef {object} Tensor
 * @property {string[]} dims  e.g. ["head", "query", "key"]
 * @property {Record<string, string>} over  which tokens a dim follows, e.g. {query: "target"}
 * @property {number[]} shape
 * @property {string} dtype  as sent: data of "uint8" is value · 255; `plane` and `meanPlane` divide
 * @property {Numbers} data
 * @property {Rounded} [rounded]  of weights in 8 bits, whose data are codes
 * @property {{query: number, key: number}} [span]  of pooled weights: tokens that a cell stands for
 * @property {string} [at]  of a window in a share: its attention
 * @property {number} [head]  of a window
 * @property {number[]} [query]  of a window: its first token, and the end
 * @property {number[]} [key]
 * @property {{query: number[], key: number[]}} [edges]  of a window with groups of tokens as cells
 */
/**
 * @typedef {object} Trace
 * @property {string} id
 * @property {string} model
 * @property {string} direction  "" if the model does not translate
 * @property {Record<string, TokenReply[]>} tokens  by text, the typed one first
 * @property {Omit<OutputReply, "logprobs" | "score"> & {logprobs: number[], score: number}} output  empty if nothing was written
 * @property {Record<string, Tensor>} tensors
 * @property {{texts: Record<string, string>, tiles: Record<string, Tensor>}} [long]  overview of a long text
 *   (long-texts.js): the texts as sent, and the windows that came with it, by `windowName`
 * @property {Record<string, PieceReply>} [pieces]  tokens of the ids in
 *   `candidates` tensors
 * @property {Record<string, ScoreReply>} [scores]  the terms of scores, by cell such as "decoder.1.cross.3.4.1"; if
 *   selected
 * @property {Record<string, Summary>} [summaries]  by attention, e.g. "encoder.0.self"; if
 *   requested
 * @property {RoundedWeights} [rounded]  in a large handout, the weights that are in 8 bits
 * @property {object} [described]  in a share, the model of this reply, if it is not the share's
 */
/**
 * What the heads of an attention do: one number per head, null where undefined.
 * @typedef {Record<string, (number | null)[]> & {pattern: string[]}} Summary
 */
/** @typedef {{rows: number, cols: number, values: Numbers, error?: number}} Matrix  error: by which a rounded number differs at most; absent: none is rounded */

/** The output of a model that neither translates nor writes. */
const NOTHING = Object.freeze({
  direction: "",
  output: Object.freeze({ text: "", tokens: [], logprobs: [], score: 0, finished: false }),
});

/** @type {Record<string, (bytes: ArrayBuffer) => Numbers>} */
const READERS = {
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => Float32Array.from(new Uint16Array(bytes), half),
  U8: (bytes) => new Uint8Array(bytes),
  BOOL: (bytes) => new Uint8Array(bytes),
  I32: (bytes) => new Int32Array(bytes),
  I64: (bytes) => Int32Array.from(new BigInt64Array(bytes), Number),
};

/**
 * @param {ArrayBuffer} buffer  a whole safetensors file
 * @returns {Trace}
 */
export function readSafetensors(buffer) {
  const { header, start } = open(buffer);
  const trace = JSON.parse(header.__metadata__.trace);
  for (const [name, tensor] of Object.entries(trace.tensors)) tensor.data = numbersOf(buffer, name, header[name], start);
  return { ...NOTHING, ...trace };
}

/**
 * @param {ArrayBuffer} buffer  a safetensors file without a document
 * @returns {Record<string, Numbers>}
 */
export function readArrays(buffer) {
  const { header, start } = open(buffer);
  const { __metadata__: _, ...entries } = header;
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, numbersOf(buffer, name, entry, start)]));
}

/** @param {ArrayBuffer} buffer @param {string} name @param {{dtype: string, data_offsets: [number, number]}} entry @param {number} start */
function numbersOf(buffer, name, { dtype, data_offsets: [from, to] }, start) {
  const reader = READERS[dtype];
  if (!reader) throw new TypeError(`unknown dtype of ${name}: ${dtype}`);
  const bytes = buffer.slice(start + from, start + to);
  if (bytes.byteLength !== to - from) throw new RangeError(`${name} is cut off`);
  return reader(bytes);
}

/**
 * A document stored beside the trace.
 * @param {ArrayBuffer} buffer
 * @param {string} name  e.g. "share"
 */
export function readDocument(buffer, name) {
  return JSON.parse(open(buffer).header.__metadata__[name]);
}

/** @param {ArrayBuffer} buffer */
function open(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  return { header, start: 8 + length };
}

/**
 * The matrix that remains when all dims but the last two are fixed.
 * @param {Tensor} tensor
 * @param {Record<string, number>} [indices]  e.g. {head: 3}
 * @returns {Matrix}
 */
export function plane(tensor, indices = {}) {
  const { dims, shape, data } = tensor;
  let offset = 0;
  let size = data.length;
  for (let i = 0; i < dims.length - 2; i++) {
    const index = indices[dims[i]];
    if (!(index >= 0 && index < shape[i])) throw new RangeError(`no ${dims[i]} ${index}`);
    size /= shape[i];
    offset += index * size;
  }
  const [rows, cols] = shape.slice(-2);
  const { rounded } = tensor;
  if (rounded) return { rows, cols, values: headWeights({ data, shape, rounded }, indices.head), error: errorOf(tensor, indices.head) };
  const values = data.subarray(offset, offset + size);
  const scale = unit(tensor);
  return { rows, cols, values: scale === 1 ? values : over(values, scale) };
}

/**
 * Divide all numbers; a loop, because `from` with a function takes ten times as long.
 * @param {Numbers} values
 * @param {number} scale
 */
function over(values, scale) {
  const shares = new Float32Array(values.length);
  for (let i = 0; i < shares.length; i++) shares[i] = values[i] / scale;
  return shares;
}

/**
 * The mean over the first dim, e.g. over the heads of a layer.
 * @param {Tensor} tensor
 * @returns {Matrix}
 */
export function meanPlane(tensor) {
  const [rows, cols] = tensor.shape.slice(-2);
  const { data, rounded } = tensor;
  const sums = new Float64Array(rows * cols);
  if (rounded) {
    const heads = Array.from({ length: tensor.shape[0] }, (_, head) => headWeights({ ...tensor, rounded }, head));
    for (const values of heads) for (let i = 0; i < sums.length; i++) sums[i] += values[i];
    return { rows, cols, values: Float32Array.from(sums, (sum) => sum / heads.length), error: rounded.error };
  }
  for (let start = 0; start < data.length; start += sums.length)
    for (let i = 0; i < sums.length; i++) sums[i] += data[start + i];
  const whole = (data.length / sums.length) * unit(tensor);
  return { rows, cols, values: Float32Array.from(sums, (sum) => sum / whole) };
}

/** The same for a picture. @param {Tensor} tensor @returns {Matrix & {unit?: number}} */
export function meanView(tensor) {
  const { rounded } = tensor;
  if (!rounded) return meanPlane(tensor);
  const [rows, cols] = tensor.shape.slice(-2);
  return { rows, cols, values: meanShades({ ...tensor, rounded }), unit: 255 };
}

/**
 * One plane of the first dim as it was sent, for a picture: `unit` is the number that means 1.
 * @param {Tensor} tensor
 * @param {number} index
 * @returns {Matrix & {unit: number}}
 */
export function headView(tensor, index) {
  const [rows, cols] = tensor.shape.slice(-2);
  const size = rows * cols;
  const { rounded } = tensor;
  if (rounded) return { rows, cols, values: headShades({ ...tensor, rounded }, index), unit: 255 };
  return { rows, cols, values: tensor.data.subarray(index * size, (index + 1) * size), unit: unit(tensor) };
}

/** uint8 is sent, and kept, as value · 255. @param {Tensor} tensor */
const unit = ({ dtype }) => (dtype === "uint8" ? 255 : 1);

/** @param {Matrix} matrix @param {number} row @returns {Numbers} */
export function row(matrix, row) {
  return matrix.values.subarray(row * matrix.cols, (row + 1) * matrix.cols);
}

/** @param {number} bits  IEEE 754 half precision */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

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
 * @property {Record<string, Pick<Tensor, "dims" | "over" | "shape">>} tensors  by name, in the order of the file
 */

const LEVELS = 256;

/**
 * Weights of a head in 8 bits, as a large handout has them (app/handouts/packing.py):
 *
 *     w = level[code] + (Σ − Σ level[code]) / n     n: the row's codes above 0
 *
 * A code stands for the mean of the head's weights near it, and a row keeps its sum. Code 0 is a
 * weight of 0.
 *
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
function headShades({ data, shape, rounded: { levels } }, head) {
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
function meanShades({ data, shape, rounded: { levels } }) {
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
