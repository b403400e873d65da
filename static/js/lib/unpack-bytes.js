/** What a file holds in its own text, compressed: `app/handouts/packing.py` writes it. */

/** @param {string} text  a character for each byte */
function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * @param {HTMLElement} element  with compressed content, or with the id of the element that has the same
 * @returns {Response}
 */
export function unpacked(element) {
  const { same: sameId } = element.dataset;
  const { textContent } = sameId ? /** @type {Element} */ (element.ownerDocument.querySelector(`[id="${sameId}"]`)) : element;
  return new Response(decompressed(bytesOf(atob(textContent ?? ""))));
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
const decompressed = (bytes) => new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

/**
 * @param {ArrayBuffer} planes  the first byte of every number, then the second, and so on
 * @param {number} [width]  bytes of a number
 * @returns {Uint8Array<ArrayBuffer>}  the numbers
 */
export function joined(planes, width = 4) {
  const numbers = new Uint8Array(planes.slice(0));
  const apart = new Uint8Array(planes);
  const count = Math.floor(apart.length / width);
  for (let index = 0; index < count; index++)
    for (let byte = 0; byte < width; byte++) numbers[width * index + byte] = apart[byte * count + index] ?? 0;
  return numbers;
}

/** The digits of base 85, in their order. */
const DIGITS_85 = "!#%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz|}~";
const NO_DIGIT = 255;
const VALUES = new Uint8Array(128).fill(NO_DIGIT);
[...DIGITS_85].forEach((digit, value) => (VALUES[digit.charCodeAt(0)] = value));

/** Bytes in base 85: five digits for four; what is no digit, such as a line break, is skipped. @param {string} text */
export function bytesOf85(text) {
  const bytes = new Uint8Array(Math.ceil((text.length * 4) / 5) + 4);
  const view = new DataView(bytes.buffer);
  let [length, group, count] = [0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const value = VALUES[text.charCodeAt(index)] ?? NO_DIGIT;
    if (value === NO_DIGIT) continue;
    group = group * 85 + value;
    if (++count < 5) continue;
    view.setUint32(length, group);
    [length, group, count] = [length + 4, 0, 0];
  }
  if (!count) return bytes.subarray(0, length);
  for (let digit = count; digit < 5; digit++) group = group * 85 + 84;
  view.setUint32(length, group);
  return bytes.subarray(0, length + count - 1);
}

/** @typedef {{text: string, width: number}} PackedFile  in base 85; width: the bytes of its numbers, which are apart */

/** @param {PackedFile} file @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function packedFile({ text, width }) {
  const planes = await new Response(decompressed(bytesOf85(text))).arrayBuffer();
  return width === 1 ? new Uint8Array(planes) : joined(planes, width);
}
