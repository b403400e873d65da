import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { answer, encoding, keyOf } from "../../static/js/core/store/view-requests.js";
import { bound, CROSS, flush, ready, SELF, served, TABLE } from "../js/bound-session.js";
import { trace } from "../js/trace.js";

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

test("a server that says when to ask again is asked again for a tensor; at last its problem is told, and goes with a retry", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { store, session, traces } = await ready();
  store.go({ block: "cross" });
  await flush();
  for (let n = 1; n <= 3; n++) {
    await traces[n].fail(new Problem("too-many-requests", { retryAfter: 1 }));
    assert.deepEqual([store.get().problem?.kind, store.get().problem?.retryAfter], ["too-many-requests", 1]);
    t.mock.timers.tick(1000);
    await flush();
    assert.equal(store.get().problem, null);
  }
  await traces[4].fail(new Problem("too-many-requests", { retryAfter: 1 }));
  const { status, problem } = store.get();
  assert.deepEqual([status, problem?.kind, problem?.retryAfter], ["ready", "too-many-requests", null]);
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
