/** Cache the tensors of a run, up to a limit of memory. */

import { valueAt, whole } from "./tensor-address.js";

/** @import { Trace } from "./wire.js" */

/** Bytes of tensors to keep besides those that are shown. */
export const BYTES = 96 * 2 ** 20;

/** @param {Trace["tensors"]} tensors @returns {number}  bytes */
export const size = (tensors) => Object.values(tensors).reduce((sum, { data }) => sum + data.byteLength, 0);

/**
 * @param {Trace | null} trace
 * @param {string[]} addresses
 * @returns {string[]}  those that are missing, without duplicates
 */
export const lacking = (trace, addresses) => [...new Set(addresses)].filter((one) => !valueAt(trace, one));

/**
 * Add tensors to a run. Tensors that are not needed are evicted above the limit, oldest first.
 * @param {Trace} trace
 * @param {Trace} more  of the same run
 * @param {string[]} needed  addresses of what is shown
 * @param {number} [most]  bytes
 * @returns {Trace}
 */
export function joined(trace, more, needed, most = BYTES) {
  const shown = new Set(needed.flatMap((one) => [one, whole(one)]));
  const tensors = { ...trace.tensors, ...more.tensors };
  let over = size(tensors) - most;
  for (const [key, { data }] of Object.entries(tensors)) {
    if (over <= 0) break;
    if (shown.has(key)) continue;
    over -= data.byteLength;
    delete tensors[key];
  }
  const pieces = { ...trace.pieces, ...more.pieces };
  return { ...trace, pieces, summaries: { ...trace.summaries, ...more.summaries }, tensors };
}
