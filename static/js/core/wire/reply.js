/** Replies of the server: why a request failed, and reading what came, of which a malformed one is a Problem. */

import { readSafetensors } from "./safetensors.js";

/** @import { Excess } from "./connection.js" */
/** @import { TokenReply } from "./schemas.d.ts" */
/** @import { Trace } from "./safetensors.js" */

/** Problems that may disappear when the request is repeated. */
const PASSING = new Set([
  ...["offline", "unloaded", "busy", "internal", "garbled", "unexpected"],
  "stopped", "queued",
  ...["storage-busy", "storage-unavailable", "too-many-requests"],
  ...["room-changes", "rooms-full", "too-many-rooms", "too-many-room-tries"],
]);

/**
 * A failed request: `kind` is the last part of the problem document's type. The page adds its own
 * kinds: `stopped` (by the reader), `offline` (no reply, or a truncated one), `garbled` (a reply that cannot be parsed),
 * `unexpected` (a bug in the page), `queued` (a busy server gets the sentence next), `unloaded` (`offline` where nothing was loaded before), `frozen` (not in a share), `not-given` (not among the given
 * numbers).
 */
export class Problem extends Error {
  /**
   * @param {string} kind
   * @param {{detail?: string, field?: string, retryAfter?: number | null, excess?: Excess | null}} [fields]
   */
  constructor(kind, { detail = "", field = "", retryAfter = null, excess = null } = {}) {
    super(detail || kind);
    this.kind = kind;
    this.detail = detail;
    this.field = field;
    this.retryAfter = retryAfter;
    this.excess = excess;
  }

  /** Whether repeating the request may help. */
  get passing() {
    return PASSING.has(this.kind);
  }

  /** The same problem where there is no earlier result. */
  first() {
    return this.kind === "offline" ? new Problem("unloaded") : this;
  }

  /** The same problem when there will be no automatic retry. */
  final() {
    const { kind, detail, field, excess } = this;
    return new Problem(kind, { detail, field, excess });
  }
}

/**
 * Convert an error to a Problem. A bug in the page becomes one too, and is logged.
 * @param {unknown} error
 * @returns {Problem}
 */
export function failure(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem("unexpected", { detail: error instanceof Error ? error.message : String(error) });
}

// Reading replies: a truncated or malformed reply is thrown as a Problem.

/** @param {any} error  of a connection that was not there, or broke. @returns {never} */
export function connectionProblem(error) {
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
  const text = await response.text().catch(connectionProblem);
  return sound(() => JSON.parse(text));
}

/** @param {Response} response @returns {Promise<import("./safetensors.js").Trace>} */
export async function tensors(response) {
  const file = await response.arrayBuffer().catch(connectionProblem);
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
  let partialLine = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(connectionProblem);
      partialLine += utf8.decode(value, { stream: !done });
      const lines = partialLine.split("\n");
      partialLine = lines.pop() ?? "";
      yield* lines.filter(Boolean);
      if (done) break;
    }
    if (partialLine) throw new Problem("offline");
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// The output of a run: a translation, what else an encoder–decoder writes, what follows each token of a text, or the words at its masks.

/** @typedef {Trace["output"]} Output */
/** @typedef {"translation" | "output" | "text" | "mask"} Kind */

/** @typedef {Pick<import("./model-description.js").ModelInfo, "texts" | "mask"> & Partial<Pick<import("./model-description.js").ModelInfo, "languages">>} Writer */

/** @param {Writer | null} model @returns {Kind}  of its output */
export function outputKind(model) {
  if (!model) return "translation";
  if (model.texts.length > 1) return model.languages?.length ? "translation" : "output";
  return model.mask ? "mask" : "text";
}

/** @param {Output} output @param {number} index  of one of its tokens @returns {number}  the row that predicts it */
export const rowOf = ({ rows }, index) => (rows?.length ? rows[index] : index);

/** @param {Output} output @returns {TokenReply[]}  what the model wrote itself */
export const writtenTokens = ({ tokens, continues = 0 }) => tokens.slice(continues);

/**
 * The index of the first output token that continues a text.
 * @param {Writer | null} model
 * @param {Output} output
 * @returns {number}  Infinity if the output does not continue one
 */
export const continuesAt = (model, { continues = 0 }) => (outputKind(model) === "text" ? continues : Infinity);

/** @param {Output} output @returns {number[]}  indices of its tokens, without those of a chat's template */
export const counted = ({ tokens }) => tokens.flatMap(({ template }, index) => (template ? [] : [index]));

/** @param {Output} output @returns {number}  log-probability of its counted tokens, in nats */
export const logprob = (output) => counted(output).reduce((sum, index) => sum + output.logprobs[index], 0);
