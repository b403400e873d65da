/**
 * The page's one store: what the address bar holds (`link`), what the server answered, and, beside
 * them, what the pointer is on, which never is part of a link. Everything changes here, and
 * everyone hears of it.
 */

/** @typedef {import("./link.js").State} State */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("../data/problem.js").Problem} Problem */
/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../data/api.js").Share} Share */
/** @typedef {import("./questions.js").Answer} Answer */
/**
 * @typedef {object} Page
 * @property {State} link
 * @property {ModelInfo | null} model
 * @property {Trace | null} trace  the last answer, with the tensors that were asked for since; it
 *   stays while the next one is on its way
 * @property {Record<string, Answer | Problem>} answers  to what views ask beside it, by question
 * @property {"waiting" | "ready" | "empty" | "failed"} status
 * @property {Problem | null} problem
 * @property {Share | null} share  when a frozen share is open
 * @property {boolean} live  whether the model that a share was made with can still be asked
 */
/** @typedef {"replace" | "push" | "none"} History  what a change does to the address bar */
/** @typedef {(page: Page, previous: Page, history: History) => void} Listener */
/** @typedef {{side: "source" | "target", index: number}} Ref  one token of the sentence or of its translation */
/**
 * What the pointer is on. A cell has both; a token by itself is looked for among the queries and
 * among the keys.
 * @typedef {{query: Ref | null, key: Ref | null}} Lit
 */
/** @typedef {ReturnType<typeof createStore>} Store */

/** @param {State} link */
export function createStore(link) {
  /** @type {Page} */
  let page = {
    link,
    model: null,
    trace: null,
    answers: {},
    status: "waiting",
    problem: null,
    share: null,
    live: true,
  };
  /** @type {Lit | null} */
  let hovered = null;
  /** @type {Set<Listener>} */
  const listeners = new Set();
  /** @type {Set<() => void>} */
  const watchers = new Set();

  /** @param {Partial<Page>} patch @param {History} [history] */
  function set(patch, history = "none") {
    const previous = page;
    page = { ...page, ...patch };
    if (same(page, previous)) return;
    for (const listener of [...listeners]) listener(page, previous, history);
  }

  return {
    get: () => page,
    hovered: () => hovered,
    set,

    /**
     * Goes to another place of the link.
     * @param {Partial<State>} patch
     * @param {History} [history]
     */
    go(patch, history = "replace") {
      const next = { ...page.link, ...patch };
      if (!same(next, page.link)) set({ link: next }, history);
    },

    /**
     * Chooses among what a view offers.
     * @param {import("./options.js").Choices} patch
     * @param {History} [history]
     */
    choose(patch, history = "replace") {
      const { options } = page.link;
      if (Object.keys(patch).some((name) => !Object.is(patch[name], options[name])))
        set({ link: { ...page.link, options: { ...options, ...patch } } }, history);
    },

    /** @param {Lit | null} lit */
    hover(lit) {
      if (equal(hovered?.query, lit?.query) && equal(hovered?.key, lit?.key)) return;
      hovered = lit;
      for (const watcher of [...watchers]) watcher();
    },

    /**
     * @param {Listener} listener
     * @returns {() => void}  stops it
     */
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
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
