/**
 * The store of one figure: the state of the link (`link`), the server's replies, and what the
 * pointer is on, which is never part of a link. All changes go through it, and subscribers are
 * called when the part that they select has changed. It is independent of the page, which can have
 * several figures.
 */

import { createSettler } from "./link.js";

/** @import { State } from "./link.js" */
/** @import { Trace } from "../wire/safetensors.js" */
/** @import { Problem } from "../wire/reply.js" */
/** @import { ModelInfo } from "../wire/model-description.js" */
/** @import { Share } from "../wire/api.js" */
/** @import { Answer } from "./view-requests.js" */
/**
 * @typedef {object} Page
 * @property {State} link
 * @property {ModelInfo | null} model
 * @property {ModelInfo[]} models  those that are served, the default first; in a share also those
 *   that made its replies; empty until they are known
 * @property {Trace | null} trace  the last trace, with the tensors requested since; it stays until
 *   the next one arrives
 * @property {Record<string, Answer | Problem>} answers  answers to the views' additional questions,
 *   by question
 * @property {import("./runs-with-and-without-changes.js").Runs} runs  the last run of the model as trained and of the
 *   changed model
 * @property {"waiting" | "ready" | "empty" | "failed"} status  of the trace that the link requests
 * @property {Problem | null} problem
 * @property {import("../wire/long-texts.js").Progress | null} progress  of a long text's run
 * @property {Share | null} share  the open share
 * @property {string | null} unoffered  the requested view, if another one is shown because it is
 *   not offered
 * @property {boolean} live  whether the share's model is still served
 */
/** @typedef {(typeof ORIGINS)[number]} Origin */
/** @typedef {(page: Page, previous: Page, origin: Origin) => void} Listener */
/** @typedef {(page: Page, previous: Page) => Page} Settle */
/** @typedef {{side: string, index: number}} Ref  one token of a text, which is `side` */
/**
 * What the pointer is on. A cell has both; a single token is highlighted among queries and keys.
 * @typedef {{query: Ref | null, key: Ref | null}} Highlight
 */
/** @typedef {ReturnType<typeof createStore>} Store */

/**
 * The origin of a change; a batch with several has the one that is last in this list.
 *
 * - `link`: the address bar, on opening, Back or Forward
 * - `answer`: the server
 * - `pushed`: another person who shares the page
 * - `moved`: navigation, such as an arrow key, a slider, another head
 * - `typed`: text
 * - `chosen`: a decision that Back undoes, such as a change of the model
 * - `pinned`: a click on a token or a cell, which Back undoes as well
 */
export const ORIGINS = /** @type {const} */ ([
  "link",
  "answer",
  "pushed",
  "moved",
  "typed",
  "chosen",
  "pinned",
]);

/** The largest number of changes that listeners may trigger in a row. */
const ROUNDS = 100;

/** A page without any data, except for its link. @type {Omit<Page, "link">} */
export const BLANK = Object.freeze({
  model: null,
  models: [],
  trace: null,
  answers: {},
  runs: { trained: null, changed: null },
  status: "waiting",
  problem: null,
  progress: null,
  share: null,
  unoffered: null,
  live: true,
});

/**
 * @param {State} link
 * @param {Settle} [settle]  computes the consequences of a change before listeners are called
 */
export function createStore(link, settle = createSettler()) {
  /** @type {Page} */
  const blank = { ...BLANK, link };
  const current = createDelivery(settle(blank, blank));
  /** @type {Highlight | null} */
  let hovered = null;
  /** @type {Set<() => void>} */
  const watchers = new Set();

  /** @param {Partial<Page>} patch @param {Origin} [origin] */
  function set(patch, origin = "answer") {
    const page = current.page();
    const next = settle({ ...page, ...patch }, page);
    if (!shallowEqual(next, page)) current.change(next, origin);
  }

  return {
    get: current.page,
    hovered: () => hovered,
    set,

    batch: current.batch,

    /**
     * Change parts of the link.
     * @param {Partial<State>} patch
     * @param {Origin} [origin]
     */
    go(patch, origin = "moved") {
      const { link } = current.page();
      const next = { ...link, ...patch };
      if (!shallowEqual(next, link)) set({ link: next }, origin);
    },

    /**
     * Set options of views.
     * @param {import("./link-options.js").Choices} patch
     * @param {Origin} [origin]
     */
    choose(patch, origin = "moved") {
      const { link } = current.page();
      const { options } = link;
      if (Object.keys(patch).some((name) => !Object.is(patch[name], options[name])))
        set({ link: { ...link, options: { ...options, ...patch } } }, origin);
    },

    /** @param {Highlight | null} lit */
    hover(lit) {
      if (equal(hovered?.query, lit?.query) && equal(hovered?.key, lit?.key)) return;
      hovered = lit;
      for (const watcher of [...watchers]) watcher();
    },

    /**
     * Call a listener when a part of the page has changed, in the order of changes.
     * @param {(page: Page) => unknown} select  the part: a value, or a list of values
     * @param {Listener} listener
     * @returns {() => void}  stops it
     */
    subscribe(select, listener) {
      let lastValue = select(current.page());
      /** @type {Listener} */
      const hear = (now, previous, origin) => {
        const next = select(now);
        if (alike(next, lastValue)) return;
        lastValue = next;
        listener(now, previous, origin);
      };
      return current.listen(hear);
    },

    /**
     * Call a watcher when the pointer moves, which happens sixty times per second.
     * @param {() => void} watcher
     * @returns {() => void}  stops it
     */
    watch(watcher) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
  };
}

/**
 * The current page and its listeners. All listeners are called for one change before any is called
 * for the next, which a listener may have made.
 * @param {Page} page
 */
function createDelivery(page) {
  /** The page as last delivered. */
  let delivered = page;
  /** The origin of undelivered changes. @type {Origin | null} */
  let pendingOrigin = null;
  let batchDepth = 0;
  /** @type {Set<Listener>} */
  const listeners = new Set();

  function deliver() {
    /** @type {unknown[]} */
    const failures = [];
    batchDepth++;
    try {
      tell(failures);
    } finally {
      batchDepth--;
      pendingOrigin = null;
    }
    if (failures.length) throw failures[0];
  }

  /** @param {unknown[]} failures  of listeners */
  function tell(failures) {
    for (let round = 0; pendingOrigin; round++) {
      if (round === ROUNDS) throw new Error("listeners answer each other without end");
      const [previous, origin] = [delivered, pendingOrigin];
      delivered = page;
      pendingOrigin = null;
      if (shallowEqual(delivered, previous)) continue;
      for (const listener of [...listeners]) {
        try {
          listener(delivered, previous, origin);
        } catch (error) {
          failures.push(error);
        }
      }
    }
  }

  return {
    page: () => page,

    /** @param {Page} next @param {Origin} origin */
    change(next, origin) {
      page = next;
      pendingOrigin = later(pendingOrigin, origin);
      if (!batchDepth) deliver();
    },

    /**
     * Make several changes that are delivered as one.
     * @param {() => void} task
     */
    batch(task) {
      batchDepth++;
      try {
        task();
      } finally {
        batchDepth--;
        if (!batchDepth) deliver();
      }
    },

    /** @param {Listener} listener @returns {() => void}  stops it */
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @param {Origin | null} a @param {Origin} b @returns {Origin}  the one that names both */
function later(a, b) {
  return a && ORIGINS.indexOf(a) > ORIGINS.indexOf(b) ? a : b;
}

/** @param {unknown} a @param {unknown} b  Values, or lists of values. */
function alike(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && shallowEqual(a, b);
}

/** @template {object} T @param {T} a @param {T} b */
function shallowEqual(a, b) {
  return /** @type {(keyof T)[]} */ (Object.keys(a)).every((key) => Object.is(a[key], b[key]));
}

/** @param {Ref | null | undefined} a @param {Ref | null | undefined} b */
function equal(a, b) {
  return a?.side === b?.side && a?.index === b?.index;
}
