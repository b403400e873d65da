import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/data/problem.js";
import { frozen } from "../../static/js/state/data-sources.js";
import { bindSession } from "../../static/js/state/session.js";
import { answer, encoding, keyOf } from "../../static/js/state/view-requests.js";
import { createStore } from "../../static/js/state/store.js";
import { DEFAULTS } from "../../static/js/state/link.js";
import { MODEL, tensor, trace } from "./trace.js";

/** @typedef {import("../../static/js/state/store.js").Page} Page */
/** @typedef {import("../../static/js/state/link.js").State} State */
/** @typedef {{body: any, signal: AbortSignal, reply: (found: any) => Promise<void>, fail: (error: any) => Promise<void>}} Asked */

const flush = async () => {
  for (let i = 0; i < 20; i++) await null;
};
const TABLE = encoding({ length: 2, d_model: 4 });

/**
 * A store and a session over an API that is answered by hand.
 * @param {Partial<State>} [link]
 * @param {{asks?: (page: Page) => any[], free?: boolean, models?: () => Promise<any[]>}} [wanted]
 */
function bound(link = {}, { asks = () => [], free = false, models = async () => [MODEL] } = {}) {
  /** @type {Asked[]} */
  const traces = [];
  /** @type {Asked[]} */
  const answers = [];
  /** @param {Asked[]} list */
  const by = (list) => (/** @type {any} */ body, /** @type {AbortSignal} */ signal) =>
    new Promise((resolve, reject) => {
      const reply = (/** @type {any} */ found) => (resolve(found), flush());
      const fail = (/** @type {any} */ error) => (reject(error), flush());
      list.push({ body, signal, reply, fail });
    });
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "the the", ...link });
  /** @type {any} */
  const api = { models, trace: by(traces), answer: by(answers) };
  const needs = (/** @type {Page} */ { link }) => [`${link.block === "cross" ? "decoder.0.cross" : "encoder.0.self"}.weights`];
  const session = bindSession(store, api, { needs, asks }, { free });
  return { store, session, traces, answers };
}

/** What the server answers. @param {string[]} names @param {object} [more] */
function served(names, more = {}) {
  const all = trace();
  return { ...all, tensors: Object.fromEntries(names.map((name) => [name, all.tensors[name]])), ...more };
}
const SELF = served(["encoder.0.self.weights"]);
const CROSS = served(["decoder.0.cross.weights"], { pieces: { 7: { text: "a", special: false } } });

/** A session that shows its first trace. @param {Parameters<typeof bound>} wanted */
async function ready(...wanted) {
  const all = bound(...wanted);
  all.session.run();
  await flush();
  await all.traces[0].reply(SELF);
  return all;
}

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
  assert.deepEqual([store.get().status, store.get().problem?.retryAfter], ["failed", 1]);
  t.mock.timers.tick(1000);
  await flush();
  assert.deepEqual([store.get().status, store.get().problem, traces.length], ["waiting", null, 2]);
  await traces[1].reply(SELF);
  assert.equal(store.get().status, "ready");
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

test("a tensor that is missing is fetched and joins the trace", async () => {
  const { store, traces } = await ready({ target: "这" });
  store.set({ trace: { .../** @type {any} */ (store.get().trace), pieces: { 3: { text: "b", special: false } } } });
  store.go({ block: "cross" });
  await flush();
  assert.deepEqual(traces[1].body, { source: "the the", target: "这", select: ["decoder.0.cross.weights"] });
  store.go({ head: 1 });
  await flush();
  assert.equal(traces.length, 2, "asked once");
  await traces[1].reply(CROSS);
  const { trace: whole } = store.get();
  assert.deepEqual(Object.keys(whole?.tensors ?? {}), ["encoder.0.self.weights", "decoder.0.cross.weights"]);
  assert.deepEqual(Object.keys(whole?.pieces ?? {}), ["3", "7"]);
  store.go({ block: "encoder" });
  store.go({ block: "cross" });
  await flush();
  assert.equal(traces.length, 2, "it is there now");
});

test("a tensor that is left for a while joins the trace all the same", async () => {
  const { store, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  store.go({ block: "encoder" });
  assert.equal(traces[1].signal.aborted, false);
  await traces[1].reply(CROSS);
  assert.ok(store.get().trace?.tensors["decoder.0.cross.weights"]);
});

test("a tensor never joins another sentence's trace", async () => {
  const { store, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  store.set({ trace: { ...SELF, id: "2", tensors: trace().tensors } });
  await traces[1].reply(CROSS);
  assert.deepEqual(Object.keys(store.get().trace?.tensors ?? {}), Object.keys(trace().tensors));
  assert.equal(store.get().trace?.pieces, undefined);
});

test("another sentence ends the wait for a tensor of the one before", async () => {
  const { store, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  store.go({ source: "b" });
  await flush();
  assert.equal(traces[1].signal.aborted, true);
  store.go({ block: "encoder" });
  store.go({ block: "cross" });
  await flush();
  assert.equal(traces.length, 3, "nothing more is asked of a trace that goes");
  await traces[2].reply(SELF);
  await flush();
  assert.deepEqual(traces[3].body.select, ["decoder.0.cross.weights"], "the same again, of the new trace");
});

test("a busy server is asked again for a tensor; at last its problem is told, and goes with a retry", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, session, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  for (let n = 1; n <= 3; n++) {
    await traces[n].fail(new Problem("busy", { retryAfter: 1 }));
    assert.deepEqual([store.get().problem?.kind, store.get().problem?.retryAfter], ["busy", 1]);
    t.mock.timers.tick(1000);
    await flush();
    assert.equal(store.get().problem, null);
  }
  await traces[4].fail(new Problem("busy", { retryAfter: 1 }));
  const { status, problem } = store.get();
  assert.deepEqual([status, problem?.kind, problem?.retryAfter], ["ready", "busy", null]);
  store.go({ head: 1 });
  await flush();
  assert.equal(traces.length, 5, "not by itself");
  void session.retry();
  await flush();
  assert.deepEqual([store.get().problem, traces.length], [null, 6]);
  await traces[5].reply(CROSS);
  assert.ok(store.get().trace?.tensors["decoder.0.cross.weights"]);
});

test("a problem with a tensor goes where it is not needed", async () => {
  const { store, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  await traces[1].fail(new Problem("offline"));
  assert.equal(store.get().problem?.kind, "offline");
  store.go({ block: "encoder" });
  assert.equal(store.get().problem, null);
  store.go({ block: "cross" });
  await flush();
  assert.equal(traces.length, 3, "and is asked anew where it is");
});

test("an answer without the tensor that was asked for is not asked for again and again", async () => {
  const { store, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  await traces[1].reply(served([]));
  assert.equal(store.get().problem?.kind, "garbled");
  assert.equal(traces.length, 2);
});

test("a trace that is on its way is not completed", async () => {
  const { store, traces } = await ready();
  store.go({ source: "b", block: "cross" });
  await flush();
  assert.deepEqual(traces.slice(1).map(({ body }) => body.source), ["b"]);
});

test("a question of a view is asked once, ended when nobody asks it, and its answer kept", async () => {
  const other = encoding({ length: 3, d_model: 4 });
  const { store, answers } = await ready({}, { asks: ({ link }) => (link.head ? [other] : [TABLE, TABLE]) });
  await flush();
  assert.deepEqual(answers.map(({ body }) => body), [TABLE]);
  store.go({ query: 1 });
  assert.equal(answers.length, 1);
  store.go({ head: 1 });
  assert.equal(answers[0].signal.aborted, true);
  await answers[0].reply("late");
  assert.equal(answer(store.get(), TABLE), undefined);
  await answers[1].reply("three");
  store.go({ head: 0 });
  assert.equal(answers.length, 3, "what was ended is asked again");
  await answers[2].reply("two");
  store.go({ head: 1 });
  assert.deepEqual([answer(store.get(), other), answer(store.get(), TABLE), answers.length], ["three", "two", 3]);
});

test("nothing is asked beside a trace that is not here", async () => {
  const { session, store, traces, answers } = bound({}, { asks: () => [TABLE] });
  session.run();
  await flush();
  store.go({ head: 1 });
  assert.equal(answers.length, 0);
  await traces[0].reply(SELF);
  assert.equal(answers.length, 1);
  store.go({ source: "b" });
  await answers[0].reply("two");
  store.go({ head: 0 });
  assert.equal(answers.length, 1);
});

test("a busy server is asked again for an answer; a problem is the answer, until it is asked again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, session, answers, traces } = await ready({}, { asks: ({ link }) => (link.head ? [] : [TABLE]) });
  await answers[0].fail(new Problem("busy", { retryAfter: 1 }));
  assert.equal(answer(store.get(), TABLE), undefined);
  t.mock.timers.tick(1000);
  await flush();
  await answers[1].fail(new Problem("offline"));
  assert.equal(/** @type {any} */ (answer(store.get(), TABLE)).kind, "offline");
  store.go({ query: 1 });
  assert.equal(answers.length, 2);
  void session.retry();
  await flush();
  assert.deepEqual([answers.length, traces.length], [3, 1], "what went wrong, and nothing else");
  await answers[2].fail(new Problem("offline"));
  store.go({ head: 1 });
  assert.deepEqual(store.get().answers, {}, "nobody asks any more");
  store.go({ head: 0 });
  assert.equal(answers.length, 4);
});

test("a problem with the question itself stays with it", async () => {
  const { store, session, answers } = await ready({}, { asks: ({ link }) => (link.head ? [] : [TABLE]) });
  await answers[0].fail(new Problem("too-long"));
  store.go({ head: 1 });
  store.go({ head: 0 });
  void session.retry();
  await flush();
  assert.equal(answers.length, 1);
});

test("of answers that nobody asks for any more the last are kept", async () => {
  const { store, answers } = await ready({}, { asks: () => [TABLE] });
  const others = Array.from({ length: 40 }, (_, n) => [keyOf(encoding({ length: 100 + n, d_model: 4 })), n]);
  store.set({ answers: Object.fromEntries(others) });
  await answers[0].reply("zero");
  const kept = Object.values(store.get().answers);
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [32, 9, "zero"]);
});

/** @param {object} [more] */
const frozenApi = (more = {}) => ({
  models: async () => [{ ...MODEL, digest: "0" }],
  readShare: async (/** @type {string} */ id = "1") => ({ id, state: { source: "frozen", block: "cross", scale: "log", kept: "yes", lang: "de", strange: 1 }, model: MODEL, asks: [TABLE], trace: SELF }),
  readAnswer: async () => "kept",
  ...more,
});
const OPTION = { initial: "", read: String, write: String };
const OPTIONS = /** @type {any} */ ({ scale: OPTION, kept: OPTION });

/** @param {any} api @param {Partial<State>} [asked] */
function share(api, asked = {}) {
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "mine" });
  const initial = { ...DEFAULTS, block: "encoder", lang: "zh", layer: 0 };
  const source = frozen(api, { id: "1", initial, asked, options: OPTIONS });
  return { store, session: bindSession(store, source, { needs: () => [], asks: () => [] }) };
}

test("a share opens as it was frozen; the address may look at another place of it", async () => {
  const { store, session } = share(frozenApi(), { layer: 0, head: 1, source: "another", options: { scale: "linear" } });
  /** @type {string[]} */
  const heard = [];
  store.subscribe((page) => [page.status, page.share], ({ status }, _, origin) => heard.push(`${status} ${origin}`));
  await session.run();
  assert.deepEqual(heard, ["ready link"]);
  assert.equal(store.get().model, MODEL);
  const { link, share: open, live, status, trace: seen } = store.get();
  assert.deepEqual([link.source, link.block, link.head, link.lang, link.options], ["frozen", "cross", 1, "zh", { scale: "linear", kept: "yes" }]);
  assert.ok(!("strange" in link));
  assert.deepEqual([open?.id, live, status, seen], ["1", true, "ready", SELF]);
  assert.equal(answer(store.get(), TABLE), "kept");
});

test("of a share whose model is served what it does not hold is asked for", async () => {
  /** @type {any[]} */
  const asked = [];
  const api = frozenApi({ trace: async (/** @type {any} */ body) => (asked.push(body.select), CROSS) });
  const store = createStore({ ...DEFAULTS, source: "mine" });
  const source = frozen(/** @type {any} */ (api), { id: "1", initial: DEFAULTS, asked: {}, options: OPTIONS });
  const needs = () => ["decoder.0.cross.weights"];
  await bindSession(store, source, { needs, asks: () => [] }).run();
  await flush();
  assert.deepEqual([asked, store.get().problem], [[["decoder.0.cross.weights"]], null]);
  assert.ok(store.get().trace?.tensors["decoder.0.cross.weights"]);
});

test("a share whose model has gone, or whose server lists none, is not live", async () => {
  const other = share(frozenApi({ models: async () => [{ ...MODEL, digest: "1" }] }));
  await other.session.run();
  assert.equal(other.store.get().live, false);
  const none = share(frozenApi({ models: async () => Promise.reject(new Problem("offline")) }));
  await none.session.run();
  assert.deepEqual([none.store.get().live, none.store.get().status], [false, "ready"]);
});

test("a share that cannot be read is a problem, and a retry opens the share and nothing else", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const problems = [new Problem("offline"), new Problem("busy", { retryAfter: 1 })];
  const readShare = async () => {
    const problem = problems.shift();
    if (problem) throw problem;
    return frozenApi().readShare();
  };
  const { store, session } = share(frozenApi({ readShare, readAnswer: async () => Promise.reject(new Problem("garbled")) }));
  await session.run();
  assert.deepEqual([store.get().status, store.get().problem?.kind], ["failed", "offline"]);
  /** @type {string[]} */
  const heard = [];
  store.subscribe(({ status, problem }) => [status, problem], ({ status, problem }) => heard.push(`${status} ${problem?.kind ?? ""}`));
  const opened = session.retry();
  await flush();
  assert.deepEqual([store.get().status, store.get().problem?.kind], ["failed", "busy"]);
  t.mock.timers.tick(1000);
  await opened;
  assert.deepEqual([store.get().status, store.get().problem, store.get().link.source], ["ready", null, "frozen"]);
  assert.deepEqual(heard, ["waiting ", "failed busy", "waiting ", "ready "]);
});

test("a share that nobody waits for any more is not opened", async () => {
  /** @type {any} */
  let late;
  const { store, session } = share(frozenApi({ readShare: () => new Promise((resolve) => (late = resolve)) }));
  const first = session.run();
  await flush();
  const old = late;
  const second = session.run();
  await flush();
  old(await frozenApi().readShare("old"));
  await first;
  assert.equal(store.get().share, null);
  late(await frozenApi().readShare("new"));
  await second;
  assert.equal(store.get().share?.id, "new");
});
