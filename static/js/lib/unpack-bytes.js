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
  return new Response(new Blob([bytesOf(atob(textContent ?? ""))]).stream().pipeThrough(new DecompressionStream("gzip")));
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
