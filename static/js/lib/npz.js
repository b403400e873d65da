/**
 * Arrays in NumPy's NPZ format: an uncompressed ZIP archive with one `.npy` file per array.
 *
 * Sources: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html (version 1.0),
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (4.3).
 */

/** @typedef {Pick<import("../core/wire/safetensors.js").Tensor, "shape" | "dtype" | "data">} Array */

/** The length of a header is a multiple of this, in bytes. */
const ALIGNED = 64;
/** Names in UTF-8; 1980-01-01. */
const [UTF8, DAY] = [1 << 11, 33];
const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);

/**
 * @param {Record<string, Array>} arrays
 * @param {Record<string, string>} [texts]  zero-dimensional arrays, each one string
 * @returns {Blob}
 */
export function npz(arrays, texts = {}) {
  const files = [
    ...Object.entries(arrays).map(([name, array]) => ({ name, body: npy(kind(array), array.shape, array.data) })),
    ...Object.entries(texts).map(([name, text]) => {
      const points = Uint32Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
      return { name, body: npy(`<U${points.length}`, [], points) };
    }),
  ];
  return zip(files.map(({ name, body }) => ({ name: bytes(`${name}.npy`), body })));
}

/** @param {Array} array */
function kind({ dtype, data }) {
  if (data instanceof Float32Array) return "<f4";
  return data instanceof Int32Array ? "<i4" : dtype === "bool" ? "|b1" : "|u1";
}

/**
 * @param {string} descr
 * @param {number[]} shape
 * @param {import("../core/wire/safetensors.js").Numbers | Uint32Array} data  row-major
 */
function npy(descr, shape, data) {
  const axes = shape.map((size) => `${size},`).join(" ");
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${axes}), }`;
  const length = ALIGNED * Math.ceil((10 + header.length + 1) / ALIGNED) - 10;
  const numbers = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return joined([
    Uint8Array.of(0x93, ...bytes("NUMPY"), 1, 0, length & 255, length >> 8),
    bytes(`${header.padEnd(length - 1)}\n`),
    numbers,
  ]);
}

/** @param {{name: Uint8Array, body: Uint8Array}[]} files */
function zip(files) {
  /** @type {Uint8Array[]} */
  const local = [];
  /** @type {Uint8Array[]} */
  const central = [];
  let offset = 0;
  for (const { name, body } of files) {
    const common = [u16(20, UTF8, 0, 0, DAY), u32(crc(body), body.length, body.length), u16(name.length, 0)];
    const before = joined([bytes("PK\x03\x04"), ...common, name]);
    local.push(before, body);
    central.push(bytes("PK\x01\x02"), u16(20), ...common, u16(0, 0, 0), u32(0, offset), name);
    offset += before.length + body.length;
  }
  const list = joined(central);
  const end = [bytes("PK\x05\x06"), u16(0, 0, files.length, files.length), u32(list.length, offset), u16(0)];
  return new Blob(/** @type {BlobPart[]} */ ([...local, list, ...end]));
}

/** @param {...number} values  Little-endian. */
const u16 = (...values) => Uint8Array.from(values.flatMap((value) => [value & 255, (value >> 8) & 255]));
/** @param {...number} values */
const u32 = (...values) => joined(values.map((value) => u16(value & 0xffff, value >>> 16)));

/** @param {Uint8Array[]} parts */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((offset, part) => (whole.set(part, offset), offset + part.length), 0);
  return whole;
}

/** CRC-32 of each byte, with the polynomial of ZIP. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

/** @param {Uint8Array} data @returns {number}  CRC-32 */
function crc(data) {
  let remainder = 0xffffffff;
  for (const byte of data) remainder = TABLE[(remainder ^ byte) & 255] ^ (remainder >>> 8);
  return ~remainder >>> 0;
}
