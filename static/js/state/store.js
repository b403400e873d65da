/**
 * One figure's store: what the link says (`link`), what the server answered, and, beside them, what
 * the pointer is on, which is never part of a link. Everything changes here, and whoever shows a
 * part of it hears when that part has changed. It knows no page: several can stand on one.
 */

import { settler } from "./reconcile-link.js";

/** @typedef {import("./link.js").State} State */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("../data/problem.js").Problem} Problem */
/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../data/api.js").Share} Share */
/** @typedef {import("./view-requests.js").Answer} Answer */
/**
 * @typedef {object} Page
 * @property {State} link
 * @property {ModelInfo | null} model
 * @property {Trace | null} trace  the last answer, with the tensors that were asked for since; it
 *   stays while the next one is on its way
 * @property {Record<string, Answer | Problem>} answers  to what views ask beside it, by question
 * @property {import("./two-runs.js").Runs} runs  the last run of the model as trained and of the changed one
 * @property {"waiting" | "ready" | "empty" | "failed"} status  of the trace that the link asks for
 * @property {Problem | null} problem
 * @property {Share | null} share  when a frozen share is open
 * @property {string | null} unoffered  the view that was asked for, where the one that is open stands for it
 * @property {boolean} live  whether the model that a share was made with can still be asked
 */
/** @typedef {(typeof ORIGINS)[number]} Origin */
/** @typedef {(page: Page, previous: Page, origin: Origin) => void} Listener */
/** @typedef {(page: Page, previous: Page) => Page} Settle */
/** @typedef {{side: string, index: number}} Ref  one token of a text, which is `side` */
/**
 * What the pointer is on. A cell has both; a token by itself is looked for among the queries and
 * among the keys.
 * @typedef {{query: Ref | null, key: Ref | null}} Lit
 */
/** @typedef {ReturnType<typeof createStore>} Store */

/**
 * Where a change comes from; of several in one batch, the last in this list names it.
 *
 * - `link`: the address bar, opened or gone back to
 * - `answer`: the server
 * - `pushed`: someone else who shares the page
 * - `moved`: a step on the way, such as an arrow key, a slider, another head
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

/** Changes in a row that listeners may make of one another's. */
const ROUNDS = 100;

/** A page before anything is known, beside its link. @type {Omit<Page, "link">} */
export const BLANK = Object.freeze({
  model: null,
  trace: null,
  answers: {},
  runs: { trained: null, changed: null },
  status: "waiting",
  problem: null,
  share: null,
  unoffered: null,
  live: true,
});

/**
 * @param {State} link
 * @param {Settle} [settle]  works out what follows from a change, before anyone hears of it
 */
export function createStore(link, settle = settler()) {
  /** @type {Page} */
  const blank = { ...BLANK, link };
  const current = createDelivery(settle(blank, blank));
  /** @type {Lit | null} */
  let hovered = null;
  /** @type {Set<() => void>} */
  const watchers = new Set();

  /** @param {Partial<Page>} patch @param {Origin} [origin] */
  function set(patch, origin = "answer") {
    const page = current.page();
    const next = settle({ ...page, ...patch }, page);
    if (!same(next, page)) current.change(next, origin);
  }

  return {
    get: current.page,
    hovered: () => hovered,
    set,

    batch: current.batch,

    /**
     * Goes to another place of the link.
     * @param {Partial<State>} patch
     * @param {Origin} [origin]
     */
    go(patch, origin = "moved") {
      const { link } = current.page();
      const next = { ...link, ...patch };
      if (!same(next, link)) set({ link: next }, origin);
    },

    /**
     * Chooses among what a view offers.
     * @param {import("./options.js").Choices} patch
     * @param {Origin} [origin]
     */
    choose(patch, origin = "moved") {
      const { link } = current.page();
      const { options } = link;
      if (Object.keys(patch).some((name) => !Object.is(patch[name], options[name])))
        set({ link: { ...link, options: { ...options, ...patch } } }, origin);
    },

    /** @param {Lit | null} lit */
    hover(lit) {
      if (equal(hovered?.query, lit?.query) && equal(hovered?.key, lit?.key)) return;
      hovered = lit;
      for (const watcher of [...watchers]) watcher();
    },

    /**
     * Hears when a part of the page has changed, in the order in which it changed.
     * @param {(page: Page) => unknown} select  the part: a value, or a list of values
     * @param {Listener} listener
     * @returns {() => void}  stops it
     */
    subscribe(select, listener) {
      let seen = select(current.page());
      /** @type {Listener} */
      const hear = (now, previous, origin) => {
        const next = select(now);
        if (alike(next, seen)) return;
        seen = next;
        listener(now, previous, origin);
      };
      return current.listen(hear);
    },

    /**
     * Hears of the pointer only, which moves sixty times a second.
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
 * The page as it is now, and who hears of its changes, in the order in which they are made: everyone
 * hears of one before anyone hears of the next, which a listener may have made.
 * @param {Page} page
 */
function createDelivery(page) {
  /** What the listeners know. */
  let told = page;
  /** Where the changes come from that they do not know yet. @type {Origin | null} */
  let untold = null;
  let held = 0;
  /** @type {Set<Listener>} */
  const listeners = new Set();

  function deliver() {
    /** @type {unknown[]} */
    const failures = [];
    held++;
    try {
      tell(failures);
    } finally {
      held--;
      untold = null;
    }
    if (failures.length) throw failures[0];
  }

  /** @param {unknown[]} failures  of listeners */
  function tell(failures) {
    for (let round = 0; untold; round++) {
      if (round === ROUNDS) throw new Error("listeners answer each other without end");
      const [previous, origin] = [told, untold];
      told = page;
      untold = null;
      if (same(told, previous)) continue;
      for (const listener of [...listeners]) {
        try {
          listener(told, previous, origin);
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
      untold = later(untold, origin);
      if (!held) deliver();
    },

    /**
     * Makes several changes that are heard of as one.
     * @param {() => void} task
     */
    batch(task) {
      held++;
      try {
        task();
      } finally {
        held--;
        if (!held) deliver();
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
  return a.length === b.length && same(a, b);
}

/**
 * @template {object} T
 * @param {T} a
 * @param {T} b
 */
function same(a, b) {
  return /** @type {(keyof T)[]} */ (Object.keys(a)).every((key) => Object.is(a[key], b[key]));
}

/**
 * @param {Ref | null | undefined} a
 * @param {Ref | null | undefined} b
 */
function equal(a, b) {
  return a?.side === b?.side && a?.index === b?.index;
}
