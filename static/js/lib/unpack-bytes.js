/** What a file holds in its own text, compressed: `app/handouts/packing.py` writes it. */

const CODES = Uint8Array.from({ length: 0xe0 }, (_, index) => index + 0x20);
// Of a character set in which a character is a byte: what is printed and means nothing in HTML or JSON.
const LETTERS = [...new TextDecoder("windows-1252").decode(CODES)].filter(
  (letter) => !/[\x7f-\xa0\xad "&'<>\\]/.test(letter),
);
const DIGITS = new Uint8Array(0x10000);
LETTERS.forEach((letter, index) => (DIGITS[letter.charCodeAt(0)] = index));
const BITS = 23;

/**
 * @param {string} text  three characters for 23 bits
 * @param {number} length  in bytes
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function decoded(text, length) {
  const bytes = new Uint8Array(length);
  const [digits, base] = [DIGITS, LETTERS.length];
  for (let position = 0, to = 0, bits = 0, buffer = 0; to < length; position += 3) {
    const high = digits[text.charCodeAt(position)] * base + digits[text.charCodeAt(position + 1)];
    const number = high * base + digits[text.charCodeAt(position + 2)];
    buffer = (buffer << BITS) | number;
    for (bits += BITS; bits >= 8 && to < length; bits -= 8) bytes[to++] = buffer >>> (bits - 8);
  }
  return bytes;
}

/** @param {string} text  a character for each byte */
function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
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
      : bytesOf(atob(text));
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
