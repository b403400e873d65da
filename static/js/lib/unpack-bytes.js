/** What a file holds in its own text, compressed: `app/handouts/packing.py` writes it. */

const CODES = Uint8Array.from({ length: 0xe0 }, (_, index) => index + 0x20);
// Of a character set in which a character is a byte: what is printed and means nothing in HTML or JSON.
const LETTERS = [...new TextDecoder("windows-1252").decode(CODES)].filter(
  (letter) => !/[\x7f-\xa0\xad "&'<>\\]/.test(letter),
);
const DIGITS = new Map(LETTERS.map((letter, index) => [letter.charCodeAt(0), index]));
const BITS = 23;

/**
 * @param {string} text  three characters for 23 bits
 * @param {number} length  in bytes
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function decoded(text, length) {
  const bytes = new Uint8Array(length);
  const digit = (/** @type {number} */ position) => DIGITS.get(text.charCodeAt(position)) ?? 0;
  for (let position = 0, to = 0, bits = 0, buffer = 0; to < length; position += 3) {
    const number = (digit(position) * LETTERS.length + digit(position + 1)) * LETTERS.length + digit(position + 2);
    buffer = (buffer << BITS) | number;
    for (bits += BITS; bits >= 8 && to < length; bits -= 8) bytes[to++] = buffer >>> (bits - 8);
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
      : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
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
  for (let index = 0; index < count; index++)
    for (let byte = 0; byte < 4; byte++) numbers[4 * index + byte] = apart[byte * count + index] ?? 0;
  return numbers;
}
