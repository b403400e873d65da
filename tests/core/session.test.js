import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { createPace } from "../../static/js/core/wire/connection.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { createStore } from "../../static/js/core/store/store.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { bound, CROSS, flush, ready, SELF } from "../js/bound-session.js";
import { MODEL, tensor } from "../js/trace.js";

/** @import { Page } from "../../static/js/core/store/store.js" */

test("the trace that the link asks for is asked with what the view needs", async () => {
  const { store, traces } = await ready({ model: null, target: "这" });
  assert.deepEqual(traces[0].body, { source: "the the", target: "这", select: ["encoder.0.self.weights"] });
  const page = store.get();
  assert.deepEqual([page.status, page.trace?.id, page.model?.id], ["ready", "1", "en-zh"]);
  assert.equal(traces.length, 1);
});

test("a model of that name is asked, and the first where there is none", async () => {
  const models = async () => [MODEL, { ...MODEL, id: "other", name: "Second" }];
  const second = await ready({ model: "other" }, { models });
  assert.equal(second.store.get().model?.name, "Second");
  const none = await ready({ model: "gone" }, { models });
  assert.equal(none.store.get().model?.id, "en-zh");
});

test("a place that the model does not have is not asked for", async () => {
  const { store, traces } = bound({ layer: 7, head: 9, block: "cross" });
  /** @type {number[]} */
  const layers = [];
  store.subscribe(({ link }) => link.layer, ({ link }) => layers.push(link.layer));
  await flush();
  const needs = (/** @type {Page} */ { link }) => [`decoder.${link.layer}.cross.weights`];
  /** @type {any} */
  const api = { models: async () => [MODEL], trace: async (/** @type {any} */ body) => (traces.push(body), CROSS) };
  await bindSession(store, api, { needs, asks: () => [] }).run();
  assert.deepEqual(/** @type {any} */ (traces[0]).select, ["decoder.0.cross.weights"]);
  assert.deepEqual([store.get().link.layer, store.get().link.head], [0, 1]);
});

test("nothing typed is nothing asked, and ends what was", async () => {
  const { store, traces } = await ready();
  store.go({ source: "a" });
  await flush();
  store.go({ source: " " });
  assert.equal(store.get().status, "empty");
  assert.equal(traces[1].signal.aborted, true);
  await traces[1].reply(SELF);
  assert.deepEqual([store.get().status, traces.length], ["empty", 2]);
  const { session, store: blank, traces: none } = bound({ source: "" });
  await session.run();
  assert.deepEqual([blank.get().status, none.length], ["empty", 0]);
});

test("another sentence is asked for in the same change that waits for it; the older answer is dropped", async () => {
  const { store, traces } = await ready();
  /** @type {string[]} */
  const heard = [];
  store.subscribe((page) => page, ({ status, link }) => heard.push(`${status} ${link.source}`));
  store.go({ source: "a" });
  await flush();
  store.go({ source: "b" });
  await flush();
  assert.deepEqual(traces.slice(1).map(({ body, signal }) => [body.source, signal.aborted]), [["a", true], ["b", false]]);
  await traces[2].reply({ ...SELF, id: "b" });
  await traces[1].reply({ ...SELF, id: "a" });
  assert.equal(store.get().trace?.id, "b");
  assert.deepEqual(heard, ["waiting a", "waiting b", "ready b"], "one change a key, one an answer");
});

test("what the link does not ask for is no new question", async () => {
  const { store, traces } = await ready();
  store.go({ head: 1, query: 1, lang: "zh" });
  store.choose({ scale: "log" });
  await flush();
  assert.equal(traces.length, 1);
});

test("a busy model is said to be, asked again, and then shown", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, session, traces } = bound();
  session.run();
  await flush();
  await traces[0].fail(new Problem("busy", { retryAfter: 1 }));
  assert.deepEqual([store.get().status, store.get().problem?.kind, store.get().problem?.retryAfter], ["waiting", "queued", 1]);
  t.mock.timers.tick(1000);
  await flush();
  assert.deepEqual([store.get().status, store.get().problem, traces.length], ["waiting", null, 2]);
  await traces[1].reply(SELF);
  assert.equal(store.get().status, "ready");
});

test("a busy server is left to others for as long as it asks; what is typed meanwhile is sent once, the newest", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const pace = createPace(() => now);
  const { store, traces } = await ready({}, { pace });
  pace.hear(new Response("", { headers: { "Headlight-Pace": "3.0" } }));
  for (const source of ["a", "a b", "a b c"]) {
    store.go({ source }, "typed");
    await flush();
    assert.deepEqual([store.get().status, store.get().problem?.kind, traces.length], ["waiting", "queued", 1]);
    t.mock.timers.tick(900);
    now += 900;
  }
  t.mock.timers.tick(299);
  now += 299;
  await flush();
  assert.equal(traces.length, 1, "typing on does not put it off, nor send it sooner");
  t.mock.timers.tick(1);
  await flush();
  assert.deepEqual([traces.length, traces[1].body.source, store.get().problem], [2, "a b c", null]);
  await traces[1].reply({ ...SELF, id: "c" });
  assert.equal(store.get().trace?.id, "c");
  pace.hear(new Response(""));
  store.go({ source: "d" }, "typed");
  await flush();
  assert.equal(traces.length, 3, "not busy any more");
  pace.hear(new Response("", { headers: { "Headlight-Pace": "0.9" } }));
  store.go({ source: "e" }, "typed");
  await flush();
  assert.deepEqual([store.get().status, store.get().problem], ["waiting", null], "not worth a word");
});

test("what cannot be read, or a mistake of ours, is a problem and not an endless wait", async (t) => {
  const reported = t.mock.method(console, "error", () => {});
  const { store, session, traces } = bound();
  session.run();
  await flush();
  await traces[0].fail(new RangeError("Invalid typed array length"));
  assert.deepEqual([store.get().status, store.get().problem?.kind], ["failed", "unexpected"]);
  assert.equal(reported.mock.callCount(), 1);
  void session.retry();
  await flush();
  await traces[1].reply(SELF);
  assert.deepEqual([store.get().status, store.get().problem], ["ready", null]);
});

test("the first trace may choose the head, once", async () => {
  const { store, session, traces } = bound({}, { free: true });
  session.run();
  await flush();
  assert.deepEqual(traces[0].body.select, ["encoder.0.self.weights", "encoder.0.self.mask"]);
  const one = tensor(["head", "query", "key"], [2, 3, 3], [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0]);
  await traces[0].reply({ ...SELF, tensors: { "encoder.0.self.weights": one } });
  assert.equal(store.get().link.head, 1);
  store.go({ head: 0, source: "again" });
  await flush();
  assert.deepEqual(traces[1].body.select, ["encoder.0.self.weights"]);
  await traces[1].reply({ ...SELF, tensors: { "encoder.0.self.weights": one } });
  assert.equal(store.get().link.head, 0);
});

test("a text that may be long is counted first; a long one comes as an overview", async () => {
  const source = "the ".repeat(300);
  /** @type {any[]} */
  const asked = [];
  const model = { ...MODEL, capabilities: [...MODEL.capabilities, "long"], max_tokens: 1000 };
  const tokens = (/** @type {number} */ n) => ({ source: Array.from({ length: n }, () => ({ text: "the", id: 1, start: 0, end: 3, special: false })), target: [] });
  const picture = { dims: ["head", "query_cell", "key_cell"], over: {}, shape: [2, 1, 2], dtype: "uint8", data: Uint8Array.from([254, 255, 127, 255]), span: { query: 200, key: 200 } };
  let length = 300;
  /** @type {any} */
  const api = {
    models: async () => [model],
    overview: async (/** @type {any} */ body) => (asked.push(body), { ...SELF, id: "long", tokens: tokens(length), tensors: body.select.length ? { "encoder.0.self.weights.max": picture } : {} }),
    trace: async (/** @type {any} */ body) => (asked.push(body), SELF),
  };
  const store = createStore({ ...DEFAULTS, block: "encoder", source });
  const pictures = ["encoder.0.self.weights:uint8", "encoder.0.self.mask"];
  const needs = (/** @type {Page} */ { trace }) => (trace?.long ? pictures : ["encoder.0.self.weights"]);
  const session = bindSession(store, api, { needs, asks: () => [] });
  await session.run();
  assert.deepEqual(asked.map(({ select, cells }) => [select, cells]), [[[], undefined], [["encoder.0.self"], 64]]);
  const { trace } = store.get();
  assert.deepEqual(trace?.long?.texts, { source });
  assert.deepEqual([...trace?.tensors["encoder.0.self.weights:uint8"].data ?? []], [255, 0, 128, 0], "as other small pictures: 255 is 1, masked is 0");
  assert.deepEqual([...trace?.tensors["encoder.0.self.mask"].data ?? []], [1, 0]);

  asked.length = 0;
  length = 200;
  await session.run();
  assert.deepEqual(asked.map(({ select }) => select), [[], ["encoder.0.self.weights"]], "its tokens are few: a trace");
  asked.length = 0;
  store.go({ source: "the cat" });
  await flush();
  assert.deepEqual(asked.map(({ select }) => select), [["encoder.0.self.weights"]], "it is surely short: nothing to count");
});

/** A session whose overviews are answered by hand. */
async function watching() {
  const model = { ...MODEL, capabilities: [...MODEL.capabilities, "long"], max_tokens: 1000 };
  const tokens = { source: Array.from({ length: 300 }, () => ({ text: "the", id: 1, start: 0, end: 3, special: false })), target: [] };
  /** @type {{signal: AbortSignal, say: (progress: any) => void, reply: (answer: any) => Promise<void>}[]} */
  const passes = [];
  /** @type {any} */
  const api = {
    models: async () => [model],
    overview: (/** @type {any} */ { select }, /** @type {AbortSignal} */ signal, /** @type {any} */ say) =>
      select.length ? new Promise((resolve) => passes.push({ signal, say, reply: (answer) => (resolve(answer), flush()) })) : Promise.resolve({ ...SELF, tokens, tensors: {} }),
    trace: async () => SELF,
  };
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "the ".repeat(300) });
  const session = bindSession(store, api, { needs: () => [], asks: () => [] });
  void session.run();
  await flush();
  return { store, session, passes, answer: { ...SELF, id: "long", tokens, tensors: {} } };
}

test("the progress of a long text is on the page until its answer is there", async () => {
  const { store, passes, answer } = await watching();
  const progress = { phase: "pass", done: 1, of: 3, seconds: 2 };
  passes[0].say(progress);
  assert.deepEqual([store.get().progress, store.get().status], [progress, "waiting"]);
  await passes[0].reply(answer);
  assert.deepEqual([store.get().progress, store.get().status], [null, "ready"]);
});

test("a long run can be stopped, and tried again", async () => {
  const { store, session, passes, answer } = await watching();
  passes[0].say({ phase: "pass", done: 1, of: 3, seconds: 2 });
  session.halt();
  const { status, problem, progress } = store.get();
  assert.deepEqual([status, problem?.kind, problem?.passing, progress], ["failed", "stopped", true, null]);
  assert.equal(passes[0].signal.aborted, true);
  passes[0].say({ phase: "pass", done: 2, of: 3, seconds: 3 });
  await passes[0].reply(answer);
  assert.deepEqual([store.get().progress, store.get().status], [null, "failed"], "what comes late is dropped");
  void session.retry();
  await flush();
  assert.equal(passes.length, 2);
  await passes[1].reply(answer);
  assert.deepEqual([store.get().status, store.get().problem], ["ready", null]);
});

test("typing on stops a long run", async () => {
  const { store, passes } = await watching();
  passes[0].say({ phase: "pass", done: 1, of: 3, seconds: 2 });
  store.go({ source: "the cat" }, "typed");
  assert.deepEqual([passes[0].signal.aborted, store.get().progress], [true, null]);
});
