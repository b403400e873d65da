/** What a reader points at in a figure, which someone else's page can highlight in the same figure. */

/** @import { Lit } from "../store/store.js" */
/**
 * @typedef {object} Pointing
 * @property {() => Lit | null} at  what is pointed at
 * @property {(lit: Lit | null) => void} show  highlight it; what the figure does not have is ignored
 * @property {(listener: () => void) => void} listen  call a listener when something else is pointed at
 */

/** @param {import("../store/store.js").Store} store @returns {Pointing} */
export const pointingIn = (store) => ({ at: store.hovered, show: store.hover, listen: (listener) => void store.watch(listener) });

/**
 * For a figure without a store: it keeps what is pointed at.
 * @template T
 * @param {object} figure
 * @param {(at: T | null) => void} figure.light  highlights it
 * @param {(at: T) => Lit} figure.write  what is pointed at, as it is sent
 * @param {(lit: Lit) => T | null} figure.read
 */
export function createPointing({ light, write, read }) {
  /** @type {T | null} */
  let at = null;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const key = (/** @type {T | null} */ one) => JSON.stringify(one && write(one));

  /** @param {T | null} next */
  function move(next) {
    if (key(next) === key(at)) return;
    at = next;
    light(at);
    listeners.forEach((listener) => listener());
  }

  return {
    move,
    /** @type {Pointing} */
    pointing: {
      at: () => at && write(at),
      show: (lit) => move(lit && read(lit)),
      listen: (listener) => void listeners.add(listener),
    },
  };
}
