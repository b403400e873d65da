/** What a file holds in its own text, compressed: `app/handouts/packing.py` writes it. */

const CODES = Uint8Array.from({ length: 0xe0 }, (_, index) => index + 0x20);
// Of a character set in which a character is a byte: what is printed and means nothing in HTML or JSON.
const LETTERS = [...new TextDecoder("windows-1252").decode(CODES)].filter(
  (one) => !/[\x7f-\xa0\xad "&'<>\\]/.test(one),
);
const DIGITS = new Map(LETTERS.map((one, index) => [one.charCodeAt(0), index]));
const BITS = 23;

/**
 * @param {string} text  three characters for 23 bits
 * @param {number} length  in bytes
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function decoded(text, length) {
  const bytes = new Uint8Array(length);
  const digit = (/** @type {number} */ at) => DIGITS.get(text.charCodeAt(at)) ?? 0;
  for (let at = 0, to = 0, bits = 0, held = 0; to < length; at += 3) {
    const number = (digit(at) * LETTERS.length + digit(at + 1)) * LETTERS.length + digit(at + 2);
    held = (held << BITS) | number;
    for (bits += BITS; bits >= 8 && to < length; bits -= 8) bytes[to++] = held >>> (bits - 8);
  }
  return bytes;
}

/**
 * @param {HTMLElement} element  with compressed content
 * @returns {Response}
 */
export function unpacked({ textContent, dataset }) {
  const text = textContent ?? "";
  const bytes =
    dataset.base64 === undefined
      ? decoded(text, Number(dataset.bytes))
      : Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

/**
 * @param {ArrayBuffer} planes  the first byte of every number of 4, then the second, and so on
 * @returns {Uint8Array<ArrayBuffer>}  the numbers
 */
export function joined(planes) {
  const numbers = new Uint8Array(planes.slice(0));
  const apart = new Uint8Array(planes);
  const count = Math.floor(apart.length / 4);
  for (let at = 0; at < count; at++)
    for (let byte = 0; byte < 4; byte++) numbers[4 * at + byte] = apart[byte * count + at] ?? 0;
  return numbers;
}
