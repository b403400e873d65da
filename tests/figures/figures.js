/** Three figures in plain elements, as a page of someone's own would make them; a test serves this file. */

/**
 * @param {string} js  where our modules are
 * @param {(root: Element, page: object) => Promise<any>} live  the example of the docs
 * @param {ReturnType<typeof counting>} count
 * @param {{plotly: string, share: string, given: any}} of
 */
export async function three(js, live, count, { plotly, share, given: numbers }) {
  const [api, around, sources, made, index] = await Promise.all(
    ["core/wire/api", "core/page/page-context", "core/store/data-sources", "views/create-figure", "views/index"].map((name) => import(`${js}/${name}.js`)),
  );
  const find = (/** @type {string} */ selector) => document.querySelector(selector);
  const page = around.createPageContext(window, { plotly, live: find("#live") });
  const initial = made.linkTo();
  const server = api.createApi((/** @type {[string]} */ ...request) => fetch(...request));
  const { trace } = numbers;
  for (const tensor of Object.values(trace.tensors)) tensor.data = Float32Array.from(tensor.data);

  const first = await live(find("#live-figure"), page);
  /** @param {string} name @param {any} source @param {string} view */
  async function figure(name, source, view) {
    const store = count.store(made.storeOf(initial));
    const [root, caption] = [find(`#${name}-figure`), find(`#${name}-caption`)];
    const created = made.createFigure({ root, store, source, page, caption });
    await created.run();
    store.go({ view });
    return created;
  }
  const second = await figure("share", sources.frozen(server, { id: share, initial, options: index.OPTIONS }), "heads");
  const third = await figure("given", sources.given(numbers), "attention");
  return { live: first, share: second, given: third };
}

/** Counts what our modules listen to: the page, sizes, stores. */
export function counting() {
  /** @type {Map<string, Set<unknown>>} */
  const all = new Map(["page", "sizes", "stores"].map((of) => [of, new Set()]));
  const [page, sizes] = ["page", "sizes"].map((of) => /** @type {Set<unknown>} */ (all.get(of)));
  for (const target of [window, document]) {
    const { addEventListener: add, removeEventListener: remove } = target;
    target.addEventListener = (/** @type {any[]} */ ...of) => {
      if (new Error().stack?.includes("/static/")) page.add(of[1]);
      add.apply(target, /** @type {any} */ (of));
    };
    target.removeEventListener = (/** @type {any[]} */ ...of) => {
      page.delete(of[1]);
      remove.apply(target, /** @type {any} */ (of));
    };
  }
  const { observe, disconnect } = ResizeObserver.prototype;
  ResizeObserver.prototype.observe = function (...of) {
    sizes.add(this);
    observe.apply(this, of);
  };
  ResizeObserver.prototype.disconnect = function () {
    sizes.delete(this);
    disconnect.apply(this);
  };
  return {
    /** How many there are, by what they listen to. */
    now: () => Object.fromEntries([...all].map(([of, { size }]) => [of, size])),
    /** A store whose listeners are counted. @param {any} store */
    store(store) {
      const heard = /** @type {Set<unknown>} */ (all.get("stores"));
      for (const name of ["subscribe", "watch"]) {
        const listen = store[name];
        store[name] = (/** @type {any[]} */ ...of) => {
          const end = listen(...of);
          heard.add(end);
          return () => (heard.delete(end), end());
        };
      }
      return store;
    },
  };
}
