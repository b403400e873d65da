/**
 * Texts with more tokens than a matrix shows individually: the page gets a pooled overview of every
 * head and requests windows of one head (POST /api/overview, POST /api/tile).
 */

import { textsOf } from "./request.js";
import { coarseAddress } from "./tensor-cache.js";

/** @import { Trace } from "./safetensors.js" */
/** @import { ModelInfo } from "./model-description.js" */
/** @typedef {{phase: "queue" | "pass" | "pictures", done: number, of: number, seconds: number}} Progress  of an overview: layers done of all (0: not known), and seconds since the request */

/** Up to this many tokens, all cells of a matrix are requested and shown. */
export const LONGEST = 256;
/** Cells on each side of a head's overview, used as a thumbnail. */
export const THUMBNAIL = 64;
/**
 * A text of this many UTF-8 bytes cannot exceed `LONGEST` tokens: a token has at least one byte,
 * and a few are special.
 */
const SURELY_SHORT = 248;
const OVERVIEW = ".weights.max";
/** In a share, the names of its windows. */
const WINDOW = /^tile\.\d+$/;
/**
 * In 8 bits a weight is value · 254, and this value means that all weights of the cell are masked.
 */
const HIDDEN = 255;

/**
 * Whether a trace is an overview of a long text.
 * @param {Pick<Trace, "long"> | null | undefined} trace
 */
export const isLong = (trace) => trace?.long !== undefined;

/**
 * Whether a text may be a long one; only the server can count its tokens.
 * @param {Pick<ModelInfo, "capabilities" | "max_tokens"> | null} model
 * @param {(string | null)[]} texts
 */
export function mayBeLong(model, texts) {
  if (!model?.capabilities.includes("long") || model.max_tokens <= LONGEST) return false;
  const utf8 = new TextEncoder();
  return texts.some((text) => text !== null && text.length * 4 > SURELY_SHORT && utf8.encode(text).length > SURELY_SHORT);
}

/** Whether a text of a run is a long one. @param {Pick<Trace, "tokens">} trace */
export const exceeds = ({ tokens }) => Object.values(tokens).some(({ length }) => length > LONGEST);

/**
 * The name of a window: equal for a request and the description of its reply.
 * @param {{at?: string, head?: number, query?: number[], key?: number[], cells?: number[], span?: {query: number, key: number}, edges?: {query: number[], key: number[]}}} window
 */
export function windowName({ at: address, head, query = [0, 0], key = [0, 0], cells, span, edges }) {
  if (edges) return JSON.stringify([address, head, edges.query, edges.key]);
  const side = (/** @type {number[]} */ [from, to], /** @type {number | undefined} */ maxCells) => (maxCells ? Math.ceil((to - from) / maxCells) : 1);
  const cell = span ?? { query: side(query, cells?.[0]), key: side(key, cells?.[1]) };
  return JSON.stringify([address, head, query, key, cell.query, cell.key]);
}

/**
 * The reply of an overview as a trace: its pictures become the thumbnails, with entirely masked
 * cells as their mask. The windows of a share are kept beside them.
 * @param {Trace} reply  with pictures in 8 bits
 * @param {Record<string, string>} sent  the texts that were sent, by name
 * @returns {Trace}
 */
export function overviewTrace(reply, sent) {
  /** @type {Trace["tensors"]} */
  const tensors = {};
  /** @type {Record<string, import("./safetensors.js").Tensor>} */
  const tiles = {};
  for (const [name, tensor] of Object.entries(reply.tensors)) {
    if (WINDOW.test(name)) tiles[windowName(tensor)] = tensor;
    if (!name.endsWith(OVERVIEW)) continue;
    const place = name.slice(0, -OVERVIEW.length);
    const { data, dims, shape } = tensor;
    const [, rows, cols] = shape;
    const may = Uint8Array.from(data.subarray(0, rows * cols), (value) => (value === HIDDEN ? 0 : 1));
    // As in other thumbnails: value · 255.
    const weights = Uint8Array.from(data, (value) => (value === HIDDEN ? 0 : Math.round((255 * value) / (HIDDEN - 1))));
    tensors[coarseAddress(`${place}.weights`)] = { ...tensor, data: weights };
    tensors[`${place}.mask`] = { ...tensor, dims: dims.slice(1), shape: [rows, cols], dtype: "bool", data: may };
  }
  return { ...reply, tensors, long: { texts: sent, tiles } };
}

/**
 * The trace of a share as sent by the server: of a long text it is an overview.
 * @param {Trace} reply
 * @param {import("./model-description.js").Model} model
 * @param {Record<string, unknown>} state  of the share, as in a link
 * @returns {Trace}
 */
export function sharedTrace(reply, model, state) {
  if (!Object.keys(reply.tensors).some((name) => name.endsWith(OVERVIEW))) return reply;
  const { source, target = null, pair = null } = /** @type {{source: string, target?: string, pair?: string}} */ (state);
  return overviewTrace(reply, textsOf(model, { source, target, pair }));
}
