/** Reading replies: one that breaks off, or is not what it claims to be, comes out as a Problem. */

import { Problem } from "./problem.js";
import { readSafetensors } from "./wire.js";

/** @param {any} error  of a connection that was not there, or broke. @returns {never} */
export function cut(error) {
  throw error.name === "AbortError" ? error : new Problem("offline");
}

/**
 * @template T
 * @param {() => T} read
 * @returns {T}  a Problem is thrown where the reply is not what it claims to be
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

/**
 * A stream's lines, wherever its pieces are cut, even within a character.
 * @param {ReadableStream<Uint8Array>} stream  of UTF-8
 * @returns {AsyncGenerator<string, void, void>}  whole lines that say something
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
