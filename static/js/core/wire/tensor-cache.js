/** Cache the tensors of a run, up to a limit of memory. */

/** @import { Summary, Tensor, Trace } from "./safetensors.js" */

// Addresses of what a view needs of a run: a tensor by its name ("encoder.0.self.weights"), the
// same in 8 bits ("….weights:uint8", for thumbnails), or a summary of what the heads of an
// attention do ("summary of encoder.0.self"). A reply has tensors under the requested addresses, so
// an address is also the key under which a tensor is cached.

const COARSE = ":uint8";
const SUMMARY = "summary of ";

/** @param {string} name  of weights */
export const coarseAddress = (name) => name + COARSE;

/** @param {string} place  such as "encoder.0.self" */
export const summaryAddress = (place) => SUMMARY + place;

/** @param {string} address @returns {string | null}  the name of the whole tensor; null: it is of none */
export function wholeTensorName(address) {
  if (address.startsWith(SUMMARY)) return null;
  return address.endsWith(COARSE) ? address.slice(0, -COARSE.length) : address;
}

/**
 * @param {Trace | null} trace
 * @param {string} name
 * @returns {Tensor | undefined}  as precisely as available: in 8 bits if there is no full tensor
 */
export const tensorAt = (trace, name) => trace?.tensors[name] ?? trace?.tensors[coarseAddress(name)];

/**
 * @param {Trace | null} trace
 * @param {string} address
 * @returns {Tensor | Summary | undefined}  its value; for an 8-bit address, the full tensor if
 *   available
 */
export function valueAt(trace, address) {
  const name = wholeTensorName(address);
  if (name === null) return trace?.summaries?.[address.slice(SUMMARY.length)];
  return name === address ? trace?.tensors[name] : tensorAt(trace, name);
}

/**
 * @param {string[]} addresses
 * @returns {{select: string[], summarise?: string[]}}  as the API takes them, without duplicates;
 *   in 8 bits only what is not requested in full
 */
export function selection(addresses) {
  const all = new Set(addresses);
  const select = [...all].filter((address) => {
    const name = wholeTensorName(address);
    return name !== null && (name === address || !all.has(name));
  });
  const summarise = [...all].filter((address) => wholeTensorName(address) === null).map((address) => address.slice(SUMMARY.length));
  return summarise.length ? { select, summarise } : { select };
}

/** Bytes of tensors to keep besides those that are shown. */
export const BYTES = 96 * 2 ** 20;

/** @param {Trace["tensors"]} tensors @returns {number}  bytes */
export const size = (tensors) => Object.values(tensors).reduce((sum, { data }) => sum + data.byteLength, 0);

/**
 * @param {Trace | null} trace
 * @param {string[]} addresses
 * @returns {string[]}  those that are missing, without duplicates
 */
export const missingAddresses = (trace, addresses) => [...new Set(addresses)].filter((address) => !valueAt(trace, address));

/**
 * Add tensors to a run. Tensors that are not needed are evicted above the limit, oldest first.
 * @param {Trace} trace
 * @param {Trace} addition  of the same run
 * @param {string[]} needed  addresses of what is shown
 * @param {number} [maxBytes]  bytes
 * @returns {Trace}
 */
export function withTensors(trace, addition, needed, maxBytes = BYTES) {
  const neededNames = new Set(needed.flatMap((address) => [address, wholeTensorName(address)]));
  const tensors = { ...trace.tensors, ...addition.tensors };
  let over = size(tensors) - maxBytes;
  for (const [key, { data }] of Object.entries(tensors)) {
    if (over <= 0) break;
    if (neededNames.has(key)) continue;
    over -= data.byteLength;
    delete tensors[key];
  }
  const pieces = { ...trace.pieces, ...addition.pieces };
  return { ...trace, pieces, summaries: { ...trace.summaries, ...addition.summaries }, tensors };
}
