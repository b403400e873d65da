import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULTS, withoutLostPin, fittedLink, createSettler } from "../../static/js/core/store/link.js";
import { createStore } from "../../static/js/core/store/store.js";
import { initialChoices } from "../../static/js/core/store/link-options.js";
import { OPTIONS, view } from "../../static/js/views/index.js";
import { MODEL, sized, trace } from "../js/trace.js";

const LINK = { ...DEFAULTS, block: "encoder", source: "the the", options: initialChoices(OPTIONS) };
/** @import { State } from "../../static/js/core/store/link.js" */

/** A page that shows a trace. @param {Partial<State>} [link] */
function shown(link = {}) {
  const store = createStore({ ...LINK, ...link }, createSettler(view));
  store.set({ model: sized({ encoder: 3, decoder: 2 }), trace: trace(), status: "ready" });
  return store;
}

test("the nearest layer and head that the model has, per stack", () => {
  const model = sized({ encoder: 3, decoder: 2 }, { encoder: 4, decoder: 6 });
  const far = { ...LINK, layer: 9, head: 9 };
  assert.deepEqual([fittedLink(far, model).layer, fittedLink(far, model).head], [2, 3]);
  const cross = fittedLink({ ...far, block: "cross" }, model);
  assert.deepEqual([cross.layer, cross.head], [1, 5]);
  const there = { ...LINK, layer: 2, head: 3 };
  assert.equal(fittedLink(there, model), there, "the same link, not one like it");
  const { layer, head } = fittedLink({ ...LINK, layer: 1, head: 9 }, model);
  assert.deepEqual([layer, head], [1, 3]);
  const other = fittedLink({ ...LINK, layer: 9, head: 1 }, model);
  assert.deepEqual([other.layer, other.head], [2, 1]);
});

test("a pin whose token is gone is let go, on either axis", () => {
  const there = { ...LINK, block: /** @type {const} */ ("cross"), query: 1, key: 2 };
  assert.equal(withoutLostPin(there, MODEL, trace()), there);
  for (const gone of [{ query: 2, key: 0 }, { query: 0, key: 3 }, { query: null, key: 3 }]) {
    const { query, key, block } = withoutLostPin({ ...there, ...gone }, MODEL, trace());
    assert.deepEqual([query, key, block], [null, null, "cross"]);
  }
  const bare = { ...there, query: null, key: null };
  assert.equal(withoutLostPin(bare, MODEL, trace()), bare);
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

test("a link to another model is not settled by the last one's, which is still shown", () => {
  const [small, large] = [{ encoder: 2, decoder: 4 }, { encoder: 4, decoder: 8 }].map((heads) => sized({ encoder: 2, decoder: 2 }, heads));
  const models = [{ ...small, id: "first", positions: "none" }, { ...large, id: "second", positions: "relative" }];
  const options = initialChoices(OPTIONS);
  const store = createStore({ ...LINK, model: "first", view: "positions" }, createSettler(view));
  store.set({ models, model: models[0], trace: trace(), status: "ready" });
  assert.equal(store.get().link.options.part, "shuffle", "what there is without positions");
  store.go({ model: "second", options }, "link");
  assert.equal(store.get().status, "waiting");
  assert.equal(store.get().link.options.part, options.part);
  store.set({ model: models[1], trace: { ...trace(), id: "2" }, status: "ready" });
  assert.equal(store.get().link.options.part, "offsets");
  store.go({ model: "first", view: "lines", block: "decoder", head: 1, options }, "link");
  store.set({ model: models[0], trace: { ...trace(), id: "3" }, status: "ready" });
  store.go({ model: "second", head: 6, options: { ...options, heads: [1, 6] } }, "link");
  store.set({ models });
  assert.equal(store.get().link.head, 6, "the second model may have it");
  store.go({ model: "first", view: "compare", options }, "link");
  store.set({ models });
  assert.deepEqual(store.get().link.options, options);
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
  assert.equal(fittedLink({ ...LINK, view: "alignment" }, MODEL, view).block, "cross", "before the first trace");
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

test("a view that is not offered gives way to another, and is remembered until one moves on", () => {
  /** Which views are not offered. */
  let missing = ["lens"];
  const opens = (/** @type {any} */ { link }) => (missing.includes(link.view) ? "attention" : link.view);
  const store = createStore({ ...LINK, view: "lens" }, createSettler(view, opens));
  store.set({ model: sized({ encoder: 3, decoder: 2 }), trace: trace(), status: "ready" });
  const { link, status, unoffered } = store.get();
  assert.deepEqual([link, status, unoffered], [{ ...link, ...LINK, view: "attention" }, "ready", "lens"]);
  store.go({ head: 1 });
  assert.deepEqual([store.get().unoffered, store.get().link.head], ["lens", 1]);
  store.go({ view: "lines" });
  const moved = store.get();
  assert.deepEqual([moved.unoffered, moved.link.view, moved.status, moved.trace?.id], [null, "lines", "ready", trace().id]);
  store.go({ view: "attention" });
  assert.equal(store.get().unoffered, null);
});

test("a change that settles nothing leaves the page as it is", () => {
  const settle = createSettler();
  const before = shown().get();
  assert.equal(settle(before, before), before);
  const other = { ...before, link: { ...before.link, layer: 1 } };
  assert.equal(settle(other, before), other);
});

test("a link that waits keeps a block that it may come to have, and drops one that its view is not for", () => {
  const settle = createSettler(view);
  const page = { ...shown().get(), status: /** @type {const} */ ("waiting"), trace: null };
  const at = (/** @type {any} */ link) => settle({ ...page, link: { ...page.link, ...link } }, page).link;
  assert.equal(at({ block: "nowhere", view: "decoding" }).block, "nowhere");
  assert.equal(at({ block: "encoder", view: "decoding" }).block, "cross");
  assert.equal(at({ block: "encoder", view: "attention" }).block, "encoder");
  const unknown = settle({ ...page, model: null, link: { ...page.link, block: "encoder", view: "decoding" } }, page);
  assert.equal(unknown.link.block, "encoder", "no model, nothing to be nearest to");
});

test("a block that is not there is the last that is, and takes its pin with it", () => {
  const { block, query, key } = fittedLink({ ...LINK, block: "nowhere", query: 1, key: 1 }, MODEL);
  assert.deepEqual([block, query, key], ["cross", null, null]);
  const unsaid = fittedLink({ ...LINK, block: "", query: 1, key: 1 }, MODEL);
  assert.deepEqual([unsaid.block, unsaid.query, unsaid.key], ["cross", 1, 1], "one that was not said may be any");
  const far = fittedLink({ ...LINK, block: "encoder", view: "decoding", layer: 9 }, sized({ encoder: 3, decoder: 2 }), view);
  assert.deepEqual([far.block, far.layer], ["cross", 1]);
});

test("no pin holds in a text without tokens", () => {
  const bare = { ...LINK, query: null, key: null };
  assert.equal(withoutLostPin({ ...LINK, query: 0, key: 0 }, MODEL, { tokens: {} }).query, null);
  assert.equal(withoutLostPin({ ...LINK, query: 0, key: 0 }, MODEL, { tokens: { source: [], output: [] } }).query, null);
  assert.deepEqual([withoutLostPin(bare, MODEL, { tokens: {} }).query, withoutLostPin(bare, MODEL, { tokens: {} }).key], [null, null]);
  const [one] = trace().tokens[Object.keys(trace().tokens)[0]];
  const single = { tokens: Object.fromEntries(Object.keys(trace().tokens).map((text) => [text, [one]])) };
  assert.equal(withoutLostPin(bare, MODEL, single), bare);
});
