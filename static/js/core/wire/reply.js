/** Reading replies: a truncated or malformed reply is thrown as a Problem. */

import { Problem } from "./problem.js";
import { readSafetensors } from "./wire.js";

/** @param {any} error  of a connection that was not there, or broke. @returns {never} */
export function cut(error) {
  throw error.name === "AbortError" ? error : new Problem("offline");
}

/**
 * @template T
 * @param {() => T} read
 * @returns {T}  a Problem is thrown if the reply is malformed
 */
export function sound(read) {
  try {
    return read();
  } catch (error) {
    throw new Problem("garbled", { detail: String(error) });
  }
}

/** @param {Response} response @returns {Promise<any>} */
export async function json(response) {
  const text = await response.text().catch(cut);
  return sound(() => JSON.parse(text));
}

/** @param {Response} response @returns {Promise<import("./wire.js").Trace>} */
export async function tensors(response) {
  const file = await response.arrayBuffer().catch(cut);
  return sound(() => readSafetensors(file));
}

/** @param {string} base64 @returns {ArrayBuffer} */
export function unpacked(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

/**
 * The lines of a stream, even if its chunks end in the middle of a character.
 * @param {ReadableStream<Uint8Array>} stream  of UTF-8
 * @returns {AsyncGenerator<string, void, void>}  complete, nonempty lines
 */
export async function* split(stream) {
  const reader = stream.getReader();
  const utf8 = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cut);
      rest += utf8.decode(value, { stream: !done });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      yield* lines.filter(Boolean);
      if (done) break;
    }
    if (rest) throw new Problem("offline");
  } finally {
    await reader.cancel().catch(() => {});
  }
}
