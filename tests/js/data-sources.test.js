import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/data/problem.js";
import { bindSession } from "../../static/js/state/session.js";
import { given, served } from "../../static/js/state/data-sources.js";
import { settler } from "../../static/js/state/reconcile-link.js";
import { createStore } from "../../static/js/state/store.js";
import { DEFAULTS } from "../../static/js/state/link.js";
import { encoding } from "../../static/js/state/view-requests.js";
import { VIEWS, nearestView, offered, view } from "../../static/js/views/index.js";
import { MODEL, trace } from "./trace.js";

const flush = async () => {
  for (let i = 0; i < 20; i++) await null;
};
/** @param {string[]} needs */
const showing = (needs) => ({ needs: () => needs, asks: () => [] });
const LINK = { ...DEFAULTS, source: "the the", block: /** @type {const} */ ("cross") };

test("given numbers are shown without asking, and what is not among them is a problem that says so", async () => {
  const store = createStore(LINK);
  const session = bindSession(store, given({ model: MODEL, trace: trace() }), showing(["decoder.0.cross.weights", "decoder.0.cross.v"]));
  await session.run();
  await flush();
  const page = store.get();
  assert.deepEqual([page.status, page.model, page.live, page.link], ["ready", MODEL, false, LINK]);
  assert.deepEqual(Object.keys(page.trace?.tensors ?? {}), Object.keys(trace().tensors));
  assert.equal(page.problem?.kind, "not-given");
  await assert.rejects(given({ model: MODEL, trace: trace() }).answer(encoding({ length: 2, d_model: 4 })), { kind: "not-given" });
});

test("a session that has ended asks nothing, waits for nothing and hears nothing", async () => {
  /** @type {AbortSignal[]} */
  const asked = [];
  /** @type {any} */
  const api = {
    models: async () => [MODEL],
    trace: (/** @type {object} */ _, /** @type {AbortSignal} */ signal) => (asked.push(signal), new Promise(() => {})),
  };
  const store = createStore(LINK);
  const session = bindSession(store, served(api), showing(["decoder.0.cross.weights"]));
  void session.run();
  await flush();
  assert.deepEqual(asked.map(({ aborted }) => aborted), [false]);
  session.stop();
  assert.deepEqual(asked.map(({ aborted }) => aborted), [true]);
  store.go({ source: "another" });
  await flush();
  assert.equal(asked.length, 1);
});

test("a server that is not there is a problem of the source", async () => {
  /** @type {any} */
  const api = { models: async () => Promise.reject(new Problem("offline")) };
  const store = createStore(LINK);
  await bindSession(store, served(api), showing([])).run();
  assert.deepEqual([store.get().status, store.get().problem?.kind], ["failed", "offline"]);
});

/** @param {string[]} capabilities */
const able = (capabilities) => ({ model: { ...MODEL, capabilities } });

test("a view is offered where the model has the capabilities that it names", () => {
  assert.deepEqual(offered({ model: null }), VIEWS);
  assert.deepEqual(offered({ model: MODEL }), VIEWS, "one told of before they were named");
  const plain = offered(able([])).map(({ id }) => id);
  assert.ok(plain.includes("attention") && plain.includes("lines"));
  for (const id of ["decoding", "worksheet", "inside", "training", "whatif"]) assert.ok(!plain.includes(id), id);
  assert.ok(!offered(able(["worksheet"])).includes(view("worksheet")), "it needs another as well");
  assert.ok(offered(able(["worksheet", "parameters"])).includes(view("worksheet")));
});

test("a view is offered where the model has an attention for it", () => {
  const model = { ...MODEL, attentions: MODEL.attentions.filter(({ kind }) => kind === "self") };
  assert.deepEqual(VIEWS.filter((one) => !offered({ model }).includes(one)).map(({ id }) => id), ["decoding", "alignment"]);
});

test("a link to a view that is not offered opens the nearest one, and the page knows which was meant", () => {
  const store = createStore({ ...LINK, view: "worksheet" }, settler(view, nearestView()));
  assert.equal(store.get().link.view, "worksheet", "nothing is known of the model yet");
  store.set({ model: able([]).model });
  assert.deepEqual([store.get().link.view, store.get().unoffered], ["lines", "worksheet"]);
  store.go({ head: 1 });
  assert.equal(store.get().unoffered, "worksheet");
  store.go({ view: "heads" });
  assert.deepEqual([store.get().link.view, store.get().unoffered], ["heads", null]);
});
