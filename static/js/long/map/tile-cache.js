/**
 * Windows of a long text's weights, requested when they come into view: a few at a time, and
 * cancelled when no longer wanted. Results are cached up to a limit of memory.
 */

import { Problem } from "../../core/wire/problem.js";
import { createAsker } from "../../core/wire/retry.js";

/** @import { Tensor } from "../../core/wire/wire.js" */
/** @typedef {{name: string, body: object}} Wish  name: equal for equal windows; body: as the API takes it */
/** @typedef {ReturnType<typeof createTileCache>} TileCache */

/** Number of simultaneous requests: the server computes one while the next is being sent. */
const AT_ONCE = 2;
/** The size of the cache in bytes. */
const MOST = 48 * 2 ** 20;

/**
 * @param {object} of
 * @param {(body: object, signal: AbortSignal) => Promise<Tensor>} of.ask
 * @param {() => void} of.changed  called after a result or a failure
 * @param {number} [of.most]  bytes
 */
export function createTileCache({ ask, changed, most = MOST }) {
  /** In order of use, the most recent last. @type {Map<string, Tensor>} */
  const kept = new Map();
  /** @type {Map<string, import("../../core/wire/retry.js").Asker>} */
  const open = new Map();
  /** @type {Map<string, Problem>} */
  const failed = new Map();
  /** @type {Wish[]} */
  let wanted = [];
  let bytes = 0;

  /** @param {Wish} wish */
  async function load({ name, body }) {
    const asker = createAsker();
    open.set(name, asker);
    const found = await asker.ask((signal) => ask(body, signal));
    if (found === null) return;
    open.delete(name);
    if (found instanceof Problem) failed.set(name, found);
    else keep(name, found);
    next();
    changed();
  }

  /** @param {string} name @param {Tensor} tensor */
  function keep(name, tensor) {
    kept.set(name, tensor);
    bytes += tensor.data.byteLength;
    const needed = new Set(wanted.map((wish) => wish.name));
    for (const [old, { data }] of kept) {
      if (bytes <= most) break;
      if (needed.has(old)) continue;
      kept.delete(old);
      bytes -= data.byteLength;
    }
  }

  function next() {
    for (const wish of wanted) {
      if (open.size >= AT_ONCE) return;
      if (!kept.has(wish.name) && !open.has(wish.name) && !failed.has(wish.name)) void load(wish);
    }
  }

  /** @param {string} name */
  function cancel(name) {
    open.get(name)?.stop();
    open.delete(name);
  }

  return {
    /** @param {string} name @returns {Tensor | undefined} */
    get(name) {
      const found = kept.get(name);
      if (!found) return undefined;
      kept.delete(name);
      kept.set(name, found);
      return found;
    },

    /** @param {Wish[]} wishes  All that is wanted now, the most urgent first. */
    want(wishes) {
      wanted = wishes;
      const names = new Set(wishes.map(({ name }) => name));
      for (const name of [...open.keys()]) if (!names.has(name)) cancel(name);
      next();
    },

    /** The first failure among the wanted windows, except of those that a share does not have. @returns {Problem | null} */
    problem: () => wanted.map(({ name }) => failed.get(name)).find((one) => one && one.kind !== "frozen") ?? null,

    /** Whether a window was not in the share, whose model is gone. @param {string} name */
    isUnsaved: (name) => failed.get(name)?.kind === "frozen",

    /** Whether a wanted window is still loading. */
    waits: () => wanted.some(({ name }) => !kept.has(name) && !failed.has(name)),

    /** Request failed windows again. */
    retry() {
      failed.clear();
      next();
      changed();
    },

    stop() {
      wanted = [];
      for (const name of [...open.keys()]) cancel(name);
    },
  };
}
