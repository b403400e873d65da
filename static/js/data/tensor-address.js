/**
 * What a view needs of a run, by address: a tensor by its name ("encoder.0.self.weights"), the same
 * in 8 bits ("….weights:uint8", which is what a small picture shows), or what the heads of an
 * attention do ("summary of encoder.0.self"). A reply holds tensors under the addresses that were
 * asked for, so an address is also the key under which a tensor is kept.
 */

/** @typedef {import("./wire.js").Trace} Trace */
/** @typedef {import("./wire.js").Tensor} Tensor */
/** @typedef {import("./wire.js").Summary} Summary */

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
 * @returns {Tensor | undefined}  as exactly as it is there: in 8 bits where it is not there whole
 */
export const tensorAt = (trace, name) => trace?.tensors[name] ?? trace?.tensors[coarse(name)];

/**
 * @param {Trace | null} trace
 * @param {string} address
 * @returns {Tensor | Summary | undefined}  what stands for it; of 8 bits the whole, where that is there
 */
export function valueAt(trace, address) {
  const name = whole(address);
  if (name === null) return trace?.summaries?.[address.slice(SUMMARY.length)];
  return name === address ? trace?.tensors[name] : tensorAt(trace, name);
}

/**
 * @param {string[]} addresses
 * @returns {{select: string[], summarise?: string[]}}  as the API takes them, each once; in 8 bits
 *   only what is not asked for whole
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
