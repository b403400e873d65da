/**
 * Addresses of what a view needs of a run: a tensor by its name ("encoder.0.self.weights"), the
 * same in 8 bits ("….weights:uint8", for thumbnails), or a summary of what the heads of an
 * attention do ("summary of encoder.0.self"). A reply has tensors under the requested addresses, so
 * an address is also the key under which a tensor is cached.
 */

/** @import { Trace, Tensor, Summary } from "./wire.js" */

const COARSE = ":uint8";
const SUMMARY = "summary of ";

/** @param {string} name  of weights */
export const coarse = (name) => name + COARSE;

/** @param {string} place  such as "encoder.0.self" */
export const summary = (place) => SUMMARY + place;

/** @param {string} address @returns {string | null}  the name of the whole tensor; null: it is of none */
export function whole(address) {
  if (address.startsWith(SUMMARY)) return null;
  return address.endsWith(COARSE) ? address.slice(0, -COARSE.length) : address;
}

/**
 * @param {Trace | null} trace
 * @param {string} name
 * @returns {Tensor | undefined}  as precisely as available: in 8 bits if there is no full tensor
 */
export const tensorAt = (trace, name) => trace?.tensors[name] ?? trace?.tensors[coarse(name)];

/**
 * @param {Trace | null} trace
 * @param {string} address
 * @returns {Tensor | Summary | undefined}  its value; for an 8-bit address, the full tensor if
 *   available
 */
export function valueAt(trace, address) {
  const name = whole(address);
  if (name === null) return trace?.summaries?.[address.slice(SUMMARY.length)];
  return name === address ? trace?.tensors[name] : tensorAt(trace, name);
}

/**
 * @param {string[]} addresses
 * @returns {{select: string[], summarise?: string[]}}  as the API takes them, without duplicates;
 *   in 8 bits only what is not requested in full
 */
export function asked(addresses) {
  const all = new Set(addresses);
  const select = [...all].filter((one) => {
    const name = whole(one);
    return name !== null && (name === one || !all.has(name));
  });
  const summarise = [...all].filter((one) => whole(one) === null).map((one) => one.slice(SUMMARY.length));
  return summarise.length ? { select, summarise } : { select };
}
