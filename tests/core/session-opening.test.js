import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, trace } from "../js/trace.js";

/** @typedef {{body: any, signal: AbortSignal, reply: (found: any) => Promise<void>, fail: (error: any) => Promise<void>}} Asked */

const flush = async () => {
  for (let i = 0; i < 20; i++) await null;
};
const OTHER = { ...MODEL, id: "other" };

/**
 * A session whose questions are answered by hand.
 * @param {Partial<import("../../static/js/core/store/trace-requests.js").DataNeeds>} [wishes]
 * @param {{link?: object, free?: boolean, open?: any}} [more]
 */
function bound(wishes = {}, { link = {}, free = false, open } = {}) {
  /** @type {Asked[]} */
  const asked = [];
  const answered = (/** @type {any} */ body, /** @type {AbortSignal} */ signal) =>
    new Promise((resolve, reject) => {
      const reply = (/** @type {any} */ found) => (resolve(found), flush());
      const fail = (/** @type {any} */ error) => (reject(error), flush());
      asked.push({ body, signal, reply, fail });
    });
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "the the", ...link });
  /** @type {any} */
  const source = { models: async () => [MODEL, OTHER], trace: answered, answer: answered, ...(open && { open }) };
  const session = bindSession(store, source, { needs: () => [], asks: () => [], ...wishes }, { free });
  return { store, session, asked };
}

/** @param {ReturnType<typeof bound>} all  Shows its first trace. */
async function shown(all) {
  void all.session.run();
  await flush();
  await all.asked[0].reply(trace());
  return all;
}

test("a view that is not offered asks for what the one that opens needs, and the link stays as it was meant", async () => {
  /** @type {any[]} */
  const heard = [];
  const all = bound(
    {
      needs: ({ link, model, status }) => (heard.push([link.view, link.block, model?.id, status]), [`${link.block}.seen`]),
      opens: ({ model, link }) => (heard.push(["opens", model?.id, link.view]), "alignment"),
      viewOf: (view) => (view === "alignment" ? { blocks: ({ id }) => id === "cross" } : {}),
    },
    { link: { view: "worksheet" } },
  );
  await shown(all);
  assert.deepEqual(heard[0], ["opens", "en-zh", "worksheet"]);
  assert.deepEqual(heard.find(([first]) => first !== "opens"), ["alignment", "cross", "en-zh", "waiting"]);
  assert.deepEqual(all.asked[0].body.select, ["cross.seen"]);
  const { link } = all.store.get();
  assert.deepEqual([link.view, link.block], ["worksheet", "cross"]);
});

test("a view that has no opinion is the link's own", async () => {
  /** @type {string[]} */
  const seen = [];
  await shown(bound({ viewOf: (view) => (seen.push(view), {}) }, { link: { view: "lines" } }));
  assert.ok(seen.length);
  assert.deepEqual([...new Set(seen)], ["lines"]);
});

test("what goes wrong with the first trace is said in the words of its model", async () => {
  const { store, session, asked } = bound();
  void session.run();
  await flush();
  assert.equal(store.get().model?.id, "en-zh", "known before the trace is");
  await asked[0].fail(new Problem("too-long"));
  assert.deepEqual([store.get().status, store.get().model?.id], ["failed", "en-zh"]);
});

test("another model is the page's once its trace is there, and what is needed is asked of it", async () => {
  /** @type {(string | undefined)[]} */
  const needed = [];
  const all = await shown(bound({ needs: ({ model }) => (needed.push(model?.id), []) }));
  needed.length = 0;
  all.store.go({ model: "other" });
  await flush();
  assert.deepEqual(needed, ["other"]);
  assert.equal(all.store.get().model?.id, "en-zh", "what is shown is still of the first");
  await all.asked[1].reply({ ...trace(), id: "2" });
  assert.equal(all.store.get().model?.id, "other");
});

test("who may choose the head asks for what all of them look at, whatever the view shows", async () => {
  const { asked, session } = bound({}, { free: true });
  void session.run();
  await flush();
  assert.deepEqual(asked[0].body.select, ["encoder.0.self.weights:uint8", "encoder.0.self.mask"]);
});

test("nothing typed leaves no problem behind", async () => {
  const { store, session, asked } = bound();
  void session.run();
  await flush();
  await asked[0].fail(new Problem("too-long"));
  store.go({ source: " " });
  assert.deepEqual([store.get().status, store.get().problem], ["empty", null]);
});

test("what is there is opened once, and asked for where another sentence is typed", async () => {
  let opened = 0;
  const open = async (/** @type {any} */ link) => (opened++, { model: MODEL, trace: trace(), link });
  const { store, session, asked } = bound({}, { open });
  await session.run();
  assert.deepEqual([store.get().status, opened, asked.length], ["ready", 1, 0]);
  store.go({ source: "another" });
  await flush();
  assert.deepEqual([opened, asked.map(({ body }) => body.source)], [1, ["another"]]);
});

test("what is opened after the session has ended is not shown", async () => {
  /** @type {(found: any) => void} */
  let reply = () => {};
  const { store, session } = bound({}, { open: () => new Promise((done) => void (reply = done)) });
  void session.run();
  await flush();
  session.stop();
  reply({ model: MODEL, trace: trace() });
  await flush();
  assert.deepEqual([store.get().status, store.get().trace], ["waiting", null]);
});

test("a session that has ended waits for no tensor and for no answer", async () => {
  const asks = () => [/** @type {any} */ ({ positions: { length: 2 } })];
  const all = await shown(bound({ needs: ({ trace }) => (trace ? ["encoder.0.self.q"] : []), asks }));
  const waiting = all.asked.slice(1).map(({ signal }) => signal);
  assert.deepEqual(waiting.map(({ aborted }) => aborted), [false, false]);
  all.session.stop();
  assert.deepEqual(waiting.map(({ aborted }) => aborted), [true, true]);
});

test("tensors of a trace that has gone meanwhile are dropped", async () => {
  const all = await shown(bound({ needs: ({ trace }) => (trace ? ["encoder.0.self.q"] : []) }));
  assert.equal(all.asked.length, 2);
  all.store.set({ trace: null });
  const named = { ...trace(), tensors: { "encoder.0.self.q": trace().tensors["encoder.0.self.weights"] } };
  await all.asked[1].reply(named);
  assert.equal(all.store.get().trace, null);
});
