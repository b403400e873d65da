import assert from "node:assert/strict";
import { test } from "node:test";

import { ORIGINS, createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";

const LINK = { ...DEFAULTS, block: "encoder", source: "the the" };

/** @param {import("../../static/js/core/store/store.js").Page} page */
const all = (page) => page;

test("a listener hears of each change once, with what was before and where it comes from", () => {
  const store = createStore(LINK);
  /** @type {[number, number, string][]} */
  const heard = [];
  const stop = store.subscribe(all, (page, previous, origin) =>
    heard.push([previous.link.head, page.link.head, origin]),
  );
  store.go({ head: 3 });
  store.go({ head: 3 });
  store.go({ head: 4 }, "pinned");
  store.set({ live: false });
  const before = store.get();
  store.set({ live: false });
  assert.equal(store.get(), before);
  stop();
  store.go({ head: 5 });
  assert.deepEqual(heard, [
    [0, 3, "moved"],
    [3, 4, "pinned"],
    [4, 4, "answer"],
  ]);
});

test("a store begins with its link and nothing else", () => {
  const { link, ...rest } = createStore(LINK).get();
  assert.equal(link, LINK);
  const nothing = { model: null, models: [], trace: null, answers: {}, runs: { trained: null, changed: null }, status: "waiting", problem: null, progress: null, share: null, unoffered: null, live: true };
  assert.deepEqual(rest, nothing);
});

test("a batch is named by its weightiest origin, whichever came first", () => {
  assert.deepEqual([...ORIGINS], ["link", "answer", "pushed", "moved", "typed", "chosen", "pinned"]);
  for (const [i, light] of ORIGINS.entries()) {
    for (const weighty of ORIGINS.slice(i)) {
      for (const [first, second] of [[light, weighty], [weighty, light]]) {
        const store = createStore(LINK);
        /** @type {string[]} */
        const heard = [];
        store.subscribe(all, (_page, _previous, origin) => heard.push(origin));
        store.batch(() => {
          store.go({ head: 1 }, first);
          store.go({ head: 2 }, second);
        });
        assert.deepEqual(heard, [weighty]);
      }
    }
  }
});

test("a choice keeps the others, and the same one again is no change", () => {
  const store = createStore({ ...LINK, options: { a: 1, b: 2 } });
  const before = store.get();
  store.choose({ a: 1 });
  assert.equal(store.get(), before);
  /** @type {string[]} */
  const origins = [];
  store.subscribe(all, (_page, _previous, origin) => origins.push(origin));
  store.choose({ a: 5 });
  store.choose({ b: NaN }, "chosen");
  store.choose({ b: NaN }, "chosen");
  assert.deepEqual(store.get().link.options, { a: 5, b: NaN });
  assert.deepEqual(origins, ["moved", "chosen"]);
});

test("a change that a listener makes is told after the one that it heard, to everyone", () => {
  const store = createStore(LINK);
  /** @type {string[]} */
  const heard = [];
  store.subscribe(all, ({ link }) => {
    if (link.head === 1 && link.key === null) {
      store.go({ layer: 1 });
      store.go({ layer: 2 }, "chosen");
      store.go({ key: 2 });
    }
  });
  store.subscribe(all, ({ link }, { link: before }, origin) =>
    heard.push(`${before.head}${before.layer} ${link.head}${link.layer} ${origin}`),
  );
  store.go({ head: 1 });
  assert.deepEqual(heard, ["00 10 moved", "10 12 chosen"], "in order, and several are one");
});

test("several changes in a batch are one, from the first state, named by the weightiest", () => {
  const store = createStore(LINK);
  /** @type {[number, number, string][]} */
  const heard = [];
  store.subscribe(all, (page, previous, origin) => heard.push([previous.link.head, page.link.head, origin]));
  store.batch(() => {
    store.go({ head: 1 }, "typed");
    assert.equal(store.get().link.head, 1, "it is there at once");
    store.batch(() => store.go({ head: 2 }, "link"));
    assert.deepEqual(heard, [], "and is told of at the end of the outermost");
  });
  store.batch(() => {
    store.set({ live: false });
    store.set({ live: true });
  });
  assert.deepEqual(heard, [[0, 2, "typed"]], "there and back is no change");
  store.go({ head: 4 });
  assert.deepEqual(heard[1], [2, 4, "moved"]);
});

test("a batch that fails tells what it changed, and the store goes on", () => {
  const store = createStore(LINK);
  let heard = 0;
  store.subscribe(all, () => heard++);
  const fails = () => {
    store.go({ head: 1 });
    throw new Error("half-way");
  };
  assert.throws(() => store.batch(fails), /half-way/);
  store.go({ head: 2 });
  assert.equal(heard, 2);
});

test("whoever hears of a part hears when that part has changed", () => {
  const store = createStore(LINK);
  /** @type {string[]} */
  const heard = [];
  store.subscribe(({ link }) => link.head, () => heard.push("head"));
  store.subscribe(({ link }) => [link.layer, link.view], () => heard.push("place"));
  store.subscribe(({ link }) => (link.layer ? [link.layer] : []), () => heard.push("length"));
  store.subscribe(({ link }) => (link.layer === 2 ? [] : null), () => heard.push("none"));
  store.go({ query: 1 });
  assert.deepEqual(heard, []);
  store.go({ head: 1 });
  assert.deepEqual(heard, ["head"]);
  store.go({ layer: 1 });
  store.go({ view: "lines" });
  assert.deepEqual(heard, ["head", "place", "length", "place"]);
  store.go({ layer: 2 });
  store.go({ layer: 0 });
  assert.deepEqual(heard.slice(4), ["place", "length", "none", "place", "length", "none"]);
});

test("a listener that fails keeps nobody else from hearing", () => {
  const store = createStore(LINK);
  let heard = 0;
  store.subscribe(all, () => {
    throw new Error("mine");
  });
  store.subscribe(all, () => heard++);
  assert.throws(() => store.go({ head: 1 }), /mine/);
  assert.throws(() => store.go({ head: 2 }), /mine/);
  assert.equal(heard, 2);
});

test("listeners that answer each other without end are stopped", () => {
  const store = createStore(LINK);
  let answers = true;
  store.subscribe(({ link }) => link.head, ({ link }) => answers && store.go({ head: link.head + 1 }));
  assert.throws(() => store.go({ head: 1 }), /without end/);
  assert.throws(() => store.go({ head: 1 }), /without end/);
  answers = false;
  /** @type {string[]} */
  const origins = [];
  store.subscribe(({ link }) => link.layer, (_page, _previous, origin) => origins.push(origin));
  store.go({ layer: 1 }, "link");
  assert.deepEqual(origins, ["link"], "what was stopped names nothing later");
});

test("hovering is told apart from the link, and only when it moves", () => {
  const store = createStore(LINK);
  let changes = 0;
  let moves = 0;
  store.subscribe(all, () => changes++);
  const stop = store.watch(() => moves++);
  /** @param {"source" | "target"} side @param {number} index */
  const ref = (side, index) => ({ side, index });
  store.hover(null);
  store.hover({ query: ref("source", 1), key: null });
  store.hover({ query: ref("source", 1), key: null });
  store.hover({ query: ref("target", 1), key: null });
  store.hover({ query: ref("target", 1), key: ref("source", 0) });
  store.hover({ query: ref("target", 1), key: ref("source", 2) });
  assert.deepEqual(store.hovered(), { query: ref("target", 1), key: ref("source", 2) });
  store.hover({ query: ref("target", 1), key: null });
  store.hover(null);
  assert.deepEqual([changes, moves], [0, 6]);
  stop();
  store.hover({ query: ref("source", 1), key: null });
  assert.equal(moves, 6);
});
