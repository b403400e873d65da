import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { frozen } from "../../static/js/core/store/data-sources.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { answer } from "../../static/js/core/store/view-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { CROSS, flush, SELF, TABLE } from "../js/bound-session.js";
import { MODEL } from "../js/trace.js";

/** @import { State } from "../../static/js/core/store/link.js" */

/** @param {object} [more] */
const frozenApi = (more = {}) => ({
  models: async () => [{ ...MODEL, digest: "0" }],
  readShare: async (id = "1") => ({ id, state: { source: "frozen", block: "cross", scale: "log", kept: "yes", lang: "de", strange: 1 }, model: MODEL, asks: [TABLE], trace: SELF }),
  readAnswer: async () => "kept",
  ...more,
});
const OPTION = { initial: "", read: String, write: String };
const OPTIONS = /** @type {any} */ ({ scale: OPTION, kept: OPTION });

/** @param {any} api @param {Partial<State>} [asked] */
function share(api, asked = {}) {
  const store = createStore({ ...DEFAULTS, block: "encoder", source: "mine" });
  const initial = { ...DEFAULTS, block: "encoder", lang: "zh", layer: 0 };
  const source = frozen(api, { id: "1", initial, requested: asked, options: OPTIONS });
  return { store, session: bindSession(store, source, { needs: () => [], asks: () => [] }) };
}

test("a share opens as it was frozen; the address may look at another place of it", async () => {
  const { store, session } = share(frozenApi(), { layer: 0, head: 1, options: { scale: "linear" } });
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

test("an address that asks something else of a share's model is run where it is served, and only there", async () => {
  /** @type {any[]} */
  const asked = [];
  const trace = async (/** @type {any} */ body) => (asked.push(body.source), { ...CROSS, id: "its own" });
  const gone = share(frozenApi({ trace, models: async () => [{ ...MODEL, digest: "1" }] }), { source: "another" });
  await gone.session.run();
  assert.deepEqual([gone.store.get().link.source, gone.store.get().trace, asked], ["frozen", SELF, []]);

  const { store, session } = share(frozenApi({ trace }), { source: "another" });
  await session.run();
  assert.deepEqual([store.get().status, store.get().trace], ["waiting", SELF], "what was saved stands there until it is here");
  await flush();
  assert.deepEqual([store.get().link.source, store.get().trace?.id, asked], ["another", "its own", ["another"]]);
  assert.equal(store.get().share?.id, "1");
  store.go({ source: "frozen" });
  await flush();
  assert.deepEqual([store.get().trace, store.get().status, asked], [SELF, "ready", ["another"]], "back to the very numbers that were saved");
});

test("of a share whose model is served what it does not hold is asked for", async () => {
  /** @type {any[]} */
  const asked = [];
  const api = frozenApi({ trace: async (/** @type {any} */ body) => (asked.push(body.select), CROSS) });
  const store = createStore({ ...DEFAULTS, source: "mine" });
  const source = frozen(/** @type {any} */ (api), { id: "1", initial: DEFAULTS, requested: {}, options: OPTIONS });
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
