import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { highlightOf } from "../../static/js/core/store/highlight.js";
import { isOff } from "../../static/js/core/store/interventions.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { withOtherRun, runOfLink, otherRunPage, withRemembered, traceOfQuestion as seenOf, runKind, storeOf } from "../../static/js/core/store/runs-with-and-without-changes.js";
import { runQuestion } from "../../static/js/core/store/view-requests.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { flush, ready, SELF, served } from "../js/bound-session.js";
import { MODEL, tensor, trace } from "../js/trace.js";

const OFF = [{ at: "encoder.0.self", head: 0, do: "zero" }];
const CHANGED = { ...SELF, id: "changed" };
const select = ["encoder.0.self.weights"];
const runs = (/** @type {any} */ list) => list.map((/** @type {any} */ { body }) => [body.source, body.interventions ?? null]);

test("a change asks once: the run that was there stays beside it, and either is shown at once", async () => {
  const { store, traces } = await ready();
  store.go({ interventions: OFF });
  await flush();
  assert.equal(store.get().status, "waiting");
  await traces[1].reply(CHANGED);
  assert.deepEqual(runs(traces), [["the the", null], ["the the", OFF]]);
  assert.equal(store.get().trace, CHANGED);
  assert.equal(otherRunPage(store.get())?.trace, SELF);

  /** @type {string[]} */
  const heard = [];
  store.subscribe((page) => page.trace, ({ status, trace }) => heard.push(`${status} ${trace?.id}`));
  store.choose({ as: "trained" });
  store.choose({ as: "changed" });
  store.go({ interventions: null });
  store.go({ interventions: OFF });
  await flush();
  assert.deepEqual(heard, ["ready 1", "ready changed", "ready 1", "ready changed"]);
  assert.equal(traces.length, 2, "nothing is asked again");
});

test("of a changed model both runs are asked, the one that is shown first, and again of another sentence", async () => {
  const { store, traces } = await ready({ interventions: OFF });
  assert.deepEqual(runs(traces), [["the the", OFF], ["the the", null]]);
  assert.deepEqual(traces[1].body.select, select);
  assert.equal(otherRunPage(store.get()), null, "it is not here yet");
  await traces[1].reply({ ...SELF, id: "trained" });
  assert.equal(otherRunPage(store.get())?.trace?.id, "trained");
  store.go({ source: "a" });
  assert.deepEqual([otherRunPage(store.get())?.trace?.id, otherRunPage(store.get())?.status], ["trained", "waiting"], "the old picture stays");
  await flush();
  await traces[2].reply({ ...CHANGED, id: "2" });
  assert.deepEqual(runs(traces.slice(2)), [["a", OFF], ["a", null]]);
  assert.equal(otherRunPage(store.get())?.status, "waiting");
  await traces[3].reply({ ...SELF, id: "3" });
  assert.deepEqual([otherRunPage(store.get())?.trace?.id, otherRunPage(store.get())?.status], ["3", "ready"]);
  store.choose({ as: "trained" });
  assert.deepEqual([store.get().trace?.id, store.get().status], ["3", "ready"]);
  assert.equal(traces.length, 4);
});

test("a busy server is not asked for a run that is not shown, before the reader switches to it", async () => {
  let busy = true;
  const pace = { busy: () => busy, left: () => 0 };
  const { store, traces } = await ready({ interventions: OFF }, { pace });
  await flush();
  assert.deepEqual(runs(traces), [["the the", OFF]]);
  store.choose({ as: "trained" });
  await flush();
  await traces[1].reply(CHANGED);
  assert.deepEqual(runs(traces), [["the the", OFF], ["the the", null]]);
  assert.equal(store.get().trace, CHANGED);
  store.go({ source: "a" });
  await flush();
  await traces[2].reply({ ...SELF, id: "a" });
  assert.equal(traces.length, 3);
  busy = false;
  store.go({ head: 1 });
  await flush();
  assert.deepEqual(runs(traces).at(-1), ["a", OFF], "it is when the server is not busy any more");
  const both = await ready({ interventions: OFF }, { pace: { busy: () => true, left: () => 0 }, pairs: () => true });
  await flush();
  assert.deepEqual(runs(both.traces), [["the the", OFF], ["the the", null]], "and where both are shown");
});

test("a question about the run that is on its way waits for it, and is asked where it did not come", async () => {
  const unchanged = (/** @type {any} */ page) => runQuestion(page, { interventions: null, select });
  const { traces, answers, store } = await ready({ interventions: OFF }, { asks: (page) => [unchanged(page)] });
  assert.deepEqual([traces.length, answers.length], [2, 0]);
  await traces[1].reply({ ...SELF, id: "trained" });
  assert.deepEqual([answers.length, Object.values(store.get().answers).length], [0, 1]);
  const lost = await ready({ interventions: OFF }, { asks: (page) => [unchanged(page)] });
  await lost.traces[1].fail(new Problem("offline"));
  assert.equal(lost.answers.length, 1);
  assert.deepEqual([lost.store.get().status, lost.store.get().problem], ["ready", null], "the run that is shown is as it was");
});

test("another view asks of both runs what it shows of them", async () => {
  const { store, traces } = await ready({ interventions: OFF });
  await traces[1].reply({ ...SELF, id: "trained" });
  store.go({ block: "cross" });
  await flush();
  assert.deepEqual(traces.slice(2).map(({ body }) => [body.select, Boolean(body.interventions)]), [[["decoder.0.cross.weights"], true]]);
  await traces[2].reply(served(["decoder.0.cross.weights"], { id: "more" }));
  assert.deepEqual(traces.slice(3).map(({ body }) => [body.select, Boolean(body.interventions)]), [[["decoder.0.cross.weights"], false]]);
  await traces[3].reply(served(["decoder.0.cross.weights"], { id: "more" }));
  assert.deepEqual(Object.keys(otherRunPage(store.get())?.trace?.tensors ?? {}), ["encoder.0.self.weights", "decoder.0.cross.weights"]);
});

test("where the other run cannot be shown in its place it is not asked for", async () => {
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "a", interventions: OFF });
  /** @type {any[]} */
  const asked = [];
  /** @type {any} */
  const source = { models: async () => [MODEL], trace: async (/** @type {any} */ body) => (asked.push(body), SELF) };
  const wishes = { needs: () => select, asks: () => [], flips: (/** @type {any} */ { link }) => link.view !== "whatif" };
  const session = bindSession(store, source, wishes);
  store.go({ view: "whatif" });
  await session.run();
  await flush();
  assert.equal(asked.length, 1);
  store.go({ view: "lines" });
  await flush();
  assert.deepEqual(runs(asked.map((body) => ({ body }))), [["a", OFF], ["a", null]]);
});

test("a run that comes back is of its own model", () => {
  const other = { ...MODEL, id: "other" };
  const store = createStore({ ...DEFAULTS, source: "a" });
  store.set({ model: MODEL, trace: trace(), status: "ready" });
  store.go({ interventions: OFF });
  store.set({ model: MODEL, trace: trace(), status: "ready" });
  store.go({ model: "other", interventions: null });
  store.set({ model: other, trace: trace(), status: "ready" });
  store.go({ model: null, interventions: OFF });
  assert.deepEqual([store.get().status, store.get().model?.id], ["ready", "en-zh"]);
  assert.equal(runOfLink({ ...store.get(), link: { ...store.get().link, source: "b" } }), null);
});

/** A store whose model is changed, with both runs; the trained one wrote another first token. */
function both() {
  const store = createStore({ ...DEFAULTS, source: "a", block: "decoder" });
  const trained = trace();
  trained.tokens.target[1] = { ...trained.tokens.target[1], id: 99 };
  store.set({ model: MODEL, trace: trained, status: "ready" });
  store.go({ interventions: OFF });
  store.set({ trace: trace(), status: "ready" });
  return { store, trained };
}

test("a store of one run shows it whichever the page shows, and hears of it", () => {
  const { store, trained } = both();
  const of = storeOf(store, () => "trained");
  assert.deepEqual([runKind(store.get().link), runKind(of.get().link)], ["changed", "trained"]);
  assert.equal(of.get().trace, trained);
  assert.equal(of.get().link, of.get().link, "the same link every time");
  /** @type {any[]} */
  const heard = [];
  of.subscribe(({ trace }) => trace, ({ trace }) => heard.push(trace));
  store.choose({ as: "trained" });
  assert.deepEqual(heard, [], "it shows the same as before");
  assert.equal(storeOf(store, () => "changed").get().trace, otherRunPage(store.get())?.trace);
  assert.equal(storeOf(store, () => null).get(), store.get());
  store.go({ interventions: null });
  assert.equal(storeOf(store, () => "changed").get(), store.get(), "nothing is changed: there is one run");
});

test("a cell that is picked in a run is of that run, which is shown then", () => {
  const { store } = both();
  const of = storeOf(store, () => "trained");
  of.go({ query: 0, key: null }, "pinned");
  assert.deepEqual([store.get().link.query, runKind(store.get().link)], [0, "trained"]);
  storeOf(store, () => "changed").go({ query: null, key: null });
  assert.deepEqual([store.get().link.query, runKind(store.get().link)], [null, "trained"], "to unpin shows nothing else");
  store.choose({ as: "changed" });
  storeOf(store, () => "trained", () => null).go({ query: 0, key: null }, "pinned");
  assert.deepEqual([store.get().link.query, runKind(store.get().link)], [0, "changed"], "a figure of what the change removed chooses no run");
});

test("a pin and the pointer are in both runs where both have the token", () => {
  const { store } = both();
  const of = storeOf(store, () => "trained");
  store.go({ query: 0, key: 0 });
  assert.deepEqual([of.get().link.query, of.get().link.key], [0, 0]);
  store.go({ query: 1, key: 0 });
  assert.deepEqual([of.get().link.query, of.get().link.key], [null, null], "another token was written there");
  const at = (/** @type {number} */ index) => ({ query: { side: "target", index }, key: null });
  store.hover(at(0));
  assert.deepEqual(of.hovered(), at(0));
  store.hover(at(1));
  assert.equal(of.hovered(), null);
  of.hover(at(0));
  assert.deepEqual(store.hovered(), at(0));
  of.hover(at(1));
  assert.equal(store.hovered(), null);
});

test("both runs begin with the same row, that of the model as trained", () => {
  const store = createStore({ ...DEFAULTS, source: "a", block: "cross" });
  const says = (/** @type {number[]} */ weights) => ({ ...trace(), tensors: { "decoder.0.cross.weights": tensor(["head", "query", "key"], [1, 2, 3], weights) } });
  store.set({ model: MODEL, trace: says([0, 1, 0, 0.5, 0.2, 0.3]), status: "ready" });
  const { query } = highlightOf(store.get(), null);
  store.go({ interventions: OFF });
  store.set({ trace: says([0, 0, 0, 0, 1, 0]), status: "ready" });
  assert.equal(highlightOf(store.get(), null).query, query);
  assert.equal(highlightOf(/** @type {any} */ (otherRunPage(store.get())), null).query, query);
});

test("a head is off where it is switched off by itself or with its layer, in the run that is shown", () => {
  const page = (/** @type {any} */ interventions, /** @type {any} */ options = {}) =>
    ({ model: MODEL, link: { ...DEFAULTS, block: "encoder", head: 1, interventions, options } });
  const off = (/** @type {any} */ change, /** @type {any} */ options = {}) => isOff(page([change], options));
  const at = "encoder.0.self";
  assert.equal(off({ at, head: 1, do: "zero" }), true);
  assert.equal(off({ at, do: "zero" }), true);
  assert.equal(off({ at, head: 0, do: "zero" }), false);
  assert.equal(off({ at, head: 1, do: "uniform" }), false);
  assert.equal(off({ at: "encoder.1.self", head: 1, do: "zero" }), false);
  assert.equal(off({ at, head: 1, do: "zero" }, { as: "trained" }), false);
  assert.equal(isOff(page([{ at, head: 0, do: "zero" }]), { layer: 0, head: 0 }), true);
  assert.equal(isOff(page(null)), false);
  assert.equal(withOtherRun(withOtherRun(/** @type {any} */ (page([{ at }])))).link.options.as, "changed");
});

test("a session that ends asks for neither run any more", async () => {
  const { session, traces } = await ready({ interventions: OFF });
  session.stop();
  assert.equal(traces[1].signal.aborted, true);
});

test("who listens to a store of one run hears both pages as that run shows them, and where the change comes from", () => {
  const { store, trained } = both();
  const of = storeOf(store, () => "trained");
  /** @type {any[]} */
  const heard = [];
  const part = (/** @type {any} */ page) => [page.link.query, page.trace];
  of.subscribe(part, (page, previous, origin) => heard.push([...part(page), ...part(previous), runKind(page.link), runKind(previous.link), origin]));
  store.go({ query: 0 }, "pinned");
  assert.deepEqual(heard, [[0, trained, null, trained, "trained", "trained", "pinned"]]);
  assert.equal(heard[0][1], trained);
  assert.equal(heard[0][3], trained);
});

test("a store of one run chooses, and changes all else, as the page's own does", () => {
  const { store } = both();
  store.choose({ scale: "log" });
  const of = storeOf(store, () => "trained");
  /** @type {string[]} */
  const origins = [];
  store.subscribe(({ link }) => link, (_page, _previous, origin) => origins.push(origin));
  of.go({ query: 0 }, "pinned");
  of.choose({ least: 3 }, "chosen");
  of.set({ unoffered: "lines" });
  const { link, unoffered } = store.get();
  assert.deepEqual([link.options, unoffered], [{ scale: "log", as: "trained", least: 3 }, "lines"]);
  assert.deepEqual(origins, ["pinned", "chosen"]);
});

test("the other run's page has its own link, pins and status, and no problem of the first", () => {
  const { store } = both();
  store.set({ problem: new Problem("offline") });
  store.go({ query: 0, key: 1, view: "lines" });
  const other = otherRunPage(store.get());
  assert.deepEqual([other?.link.query, other?.link.key, other?.link.view, other?.problem], [null, null, "lines", null], "its key is another token");
  store.go({ key: 0 });
  const seen = otherRunPage(store.get());
  assert.equal(otherRunPage(store.get())?.link, seen?.link);
  store.set({ trace: { ...trace(), tokens: { source: [], target: [] } } });
  assert.equal(otherRunPage(store.get())?.link.query, null, "of another run beside it the pin is another");
  store.hover({ query: { side: "target", index: 0 }, key: { side: "target", index: 1 } });
  assert.equal(storeOf(store, () => "trained").hovered(), null);
  store.hover({ query: null, key: { side: "nothing", index: 0 } });
  assert.equal(storeOf(store, () => "trained").hovered(), null);
  store.hover(null);
  assert.equal(storeOf(store, () => "trained").hovered(), null);
  assert.equal(otherRunPage({ ...store.get(), link: { ...store.get().link, interventions: null } }), null);
  assert.equal(seen ? "there" : null, "there");
});

test("a run that is only waited for is not remembered as the one that is asked for", () => {
  const { store } = both();
  const before = store.get().runs;
  store.go({ source: "b" });
  assert.equal(store.get().status, "waiting");
  store.set({ trace: trace() });
  assert.equal(store.get().runs, before);
  const ready = both().store.get();
  assert.equal(withRemembered(ready), ready, "it is remembered already");
  assert.equal(seenOf(ready, /** @type {any} */ ({ parameters: { model: "", select: [] } })), null);
});
