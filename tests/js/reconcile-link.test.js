import assert from "node:assert/strict";
import { test } from "node:test";

import { kept, nearest, settler } from "../../static/js/state/reconcile-link.js";
import { createStore } from "../../static/js/state/store.js";
import { DEFAULTS } from "../../static/js/state/link.js";
import { initials } from "../../static/js/state/options.js";
import { OPTIONS, view } from "../../static/js/views/index.js";
import { MODEL, sized, trace } from "./trace.js";

const LINK = { ...DEFAULTS, block: "encoder", source: "the the", options: initials(OPTIONS) };
/** @typedef {import("../../static/js/state/link.js").State} State */

/** A page that shows a trace. @param {Partial<State>} [link] */
function shown(link = {}) {
  const store = createStore({ ...LINK, ...link }, settler(view));
  store.set({ model: sized({ encoder: 3, decoder: 2 }), trace: trace(), status: "ready" });
  return store;
}

test("the nearest layer and head that the model has, per stack", () => {
  const model = sized({ encoder: 3, decoder: 2 }, { encoder: 4, decoder: 6 });
  const far = { ...LINK, layer: 9, head: 9 };
  assert.deepEqual([nearest(far, model).layer, nearest(far, model).head], [2, 3]);
  const cross = nearest({ ...far, block: "cross" }, model);
  assert.deepEqual([cross.layer, cross.head], [1, 5]);
  const there = { ...LINK, layer: 2, head: 3 };
  assert.equal(nearest(there, model), there, "the same link, not one like it");
  const { layer, head } = nearest({ ...LINK, layer: 1, head: 9 }, model);
  assert.deepEqual([layer, head], [1, 3]);
  const other = nearest({ ...LINK, layer: 9, head: 1 }, model);
  assert.deepEqual([other.layer, other.head], [2, 1]);
});

test("a pin whose token is gone is let go, on either axis", () => {
  const there = { ...LINK, block: /** @type {const} */ ("cross"), query: 1, key: 2 };
  assert.equal(kept(there, MODEL, trace()), there);
  for (const gone of [{ query: 2, key: 0 }, { query: 0, key: 3 }, { query: null, key: 3 }]) {
    const { query, key, block } = kept({ ...there, ...gone }, MODEL, trace());
    assert.deepEqual([query, key, block], [null, null, "cross"]);
  }
  const bare = { ...there, query: null, key: null };
  assert.equal(kept(bare, MODEL, trace()), bare);
});

test("what follows from a change is there before anyone hears of it", () => {
  const store = shown();
  /** @type {State[]} */
  const heard = [];
  store.subscribe((page) => page, ({ link }) => heard.push(link));
  store.go({ layer: 9, query: 7 });
  assert.deepEqual(heard.map(({ layer, query }) => [layer, query]), [[2, null]]);
  store.go({ block: "cross" });
  assert.deepEqual(heard.map(({ layer }) => layer), [2, 1]);
});

test("another request waits in the same change, and means places that are yet to come", () => {
  const store = shown();
  /** @type {string[]} */
  const heard = [];
  store.subscribe((page) => page, ({ status }) => heard.push(status));
  store.go({ source: "a longer one", query: 7, layer: 9 }, "typed");
  assert.deepEqual([store.get().link.query, store.get().link.layer], [7, 9]);
  store.go({ head: 1 });
  assert.equal(store.get().link.query, 7, "still waiting");
  store.go({ source: "  " });
  assert.deepEqual(heard, ["waiting", "waiting", "empty"]);
  store.set({ trace: trace(), status: "ready" });
  assert.deepEqual([store.get().link.query, store.get().link.layer], [null, 2]);
});

test("a trace that comes with its link is not asked for again", () => {
  const store = shown();
  store.set({ link: { ...store.get().link, source: "frozen" }, trace: { ...trace(), id: "2" } });
  assert.equal(store.get().status, "ready");
});

test("a problem goes when something else is asked", () => {
  const store = shown();
  store.set({ status: "failed", problem: /** @type {any} */ ({ kind: "busy" }) });
  store.go({ head: 1 });
  assert.equal(store.get().status, "failed");
  store.go({ source: "again" });
  assert.deepEqual([store.get().status, store.get().problem], ["waiting", null]);
});

test("a view that is for one kind of attention shows it, without pins of another", () => {
  const store = shown({ query: 1, key: 1 });
  store.go({ view: "decoding" });
  assert.deepEqual([store.get().link.block, store.get().link.query, store.get().link.key], ["cross", null, null]);
  store.go({ query: 1 });
  assert.equal(store.get().link.query, 1);
  assert.equal(nearest({ ...LINK, view: "alignment" }, MODEL, view).block, "cross", "before the first trace");
});

test("who picks a head wants to see that one, and not a mean of all", () => {
  const pool = () => store.get().link.options.pool;
  const store = shown();
  store.choose({ pool: "mean" });
  store.go({ head: 1 });
  assert.equal(pool(), "one");
  store.choose({ pool: "max" });
  store.go({ head: 0, options: { ...store.get().link.options } }, "link");
  assert.equal(pool(), "max", "a link says both");
  store.go({ view: "lines", head: 1 });
  assert.equal(pool(), "max", "the head was picked elsewhere");
  store.go({ view: "attention", head: 0 });
  assert.equal(pool(), "max");
  store.set({ trace: trace(), link: { ...store.get().link, head: 1 } });
  assert.equal(pool(), "max", "the trace chose it");
  store.go({ block: "cross", head: 0 });
  assert.equal(pool(), "max");
  const { link } = store.get();
  store.go({ layer: 1 });
  assert.equal(store.get().link.options, link.options);
});

test("the head that is spoken of is one whose lines are drawn", () => {
  const store = shown({ view: "lines" });
  store.choose({ heads: [1] });
  assert.equal(store.get().link.head, 1);
  store.choose({ heads: [0, 1] });
  assert.equal(store.get().link.head, 1);
  store.choose({ heads: [] });
  assert.equal(store.get().link.head, 1);
});

test("a cell of a snapshot is let go with its kind of attention", () => {
  const at = () => [store.get().link.options.row, store.get().link.options.col];
  const store = shown({ view: "training", block: "encoder" });
  store.choose({ row: 1, col: 2 });
  store.go({ head: 1 });
  assert.deepEqual(at(), [1, 2]);
  store.go({ block: "cross" });
  assert.deepEqual(at(), [null, null]);
  store.go({ block: "encoder", options: { ...store.get().link.options, row: 0, col: 0 } }, "link");
  assert.deepEqual(at(), [0, 0], "a link says both");
});
