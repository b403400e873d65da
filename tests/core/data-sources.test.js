import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { frozen, given, served } from "../../static/js/core/store/data-sources.js";
import { DEFAULTS, createSettler } from "../../static/js/core/store/link.js";
import { createStore } from "../../static/js/core/store/store.js";
import { encoding } from "../../static/js/core/store/view-requests.js";
import { VIEWS, nearestView, offered, view } from "../../static/js/views/index.js";
import { MODEL, trace } from "../js/trace.js";

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

test("given numbers name their model, open at the link, and have no lines that come", async () => {
  const source = given({ model: MODEL, trace: trace() });
  assert.deepEqual(await source.models(), [MODEL]);
  assert.deepEqual((await source.open?.(LINK))?.link, LINK);
  await assert.rejects(source.lines("sweep", {}).next(), { kind: "not-given" });
});

/** An API that says what it was asked. @param {any[][]} calls @param {string} digest */
function telling(calls, digest = MODEL.digest) {
  const tell = (/** @type {string} */ name) => async (/** @type {any[]} */ ...asked) => (calls.push([name, ...asked]), name);
  return /** @type {any} */ ({
    models: async () => [{ ...MODEL, digest }],
    trace: tell("trace"),
    answer: tell("answer"),
    async *lines(/** @type {any[]} */ ...asked) {
      calls.push(["lines", ...asked]);
      yield "lines";
    },
    readShare: async (/** @type {string} */ id) => ({ id, state: { source: "a" }, model: MODEL, trace: trace(), asks: [] }),
  });
}
const { signal } = new AbortController();
/** Asks everything that can be asked. @param {import("../../static/js/core/store/data-sources.js").Source} source */
const everything = async (source) => [
  await source.trace({ source: "b" }, signal),
  await source.answer(/** @type {any} */ ({ trace: {} }), signal),
  (await source.lines("sweep", { heads: 1 }, signal).next()).value,
];
const ASKED = [
  ["trace", { source: "b" }, signal],
  ["answer", { trace: {} }, signal],
  ["lines", "sweep", { heads: 1 }, signal],
];

test("a server is asked what is asked, until nobody waits for it, and answers itself", async () => {
  /** @type {any[][]} */
  const calls = [];
  assert.deepEqual(await everything(served(telling(calls))), ["trace", "answer", "lines"]);
  assert.deepEqual(calls, ASKED);
});

const SHARE = { id: "7", initial: { ...LINK, head: 1, lang: "zh" }, options: {} };

test("a share is read by its id and says what it says over what stands for nothing said", async () => {
  const source = frozen(telling([]), SHARE);
  const { share, link, live } = (await source.open?.(LINK)) ?? {};
  assert.deepEqual([share?.id, link?.source, link?.head, link?.lang, live], ["7", "a", 1, "zh", true]);
  assert.deepEqual((await source.models()).map(({ id }) => id), ["en-zh"]);
});

test("a share asks its model where that is served, and else and before it is read nobody", async () => {
  /** @type {any[][]} */
  const calls = [];
  const source = frozen(telling(calls), SHARE);
  const refuses = async (/** @type {import("../../static/js/core/store/data-sources.js").Source} */ one) => {
    await assert.rejects(one.trace({}), { kind: "frozen" });
    await assert.rejects(one.answer(/** @type {any} */ ({ trace: {} })), { kind: "frozen" });
    await assert.rejects(one.lines("sweep", {}).next(), { kind: "frozen" });
  };
  await refuses(source);
  assert.deepEqual(calls, []);
  await source.open?.(LINK);
  assert.deepEqual(await everything(source), ["trace", "answer", "lines"]);
  assert.deepEqual(calls, ASKED);

  const gone = frozen(telling([], "of another"), SHARE);
  await gone.open?.(LINK);
  await refuses(gone);
  assert.equal(await gone.answer(encoding({ length: 2, d_model: 4 })), "answer", "the table of positions asks no model");
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
  assert.ok(!offered(able(["parameters"])).includes(view("worksheet")), "one that it does not name");
  assert.ok(offered(able(["worksheet"])).includes(view("worksheet")));
});

test("a view is offered where the model has an attention for it", () => {
  const model = { ...MODEL, attentions: MODEL.attentions.filter(({ kind }) => kind === "self") };
  assert.deepEqual(VIEWS.filter((one) => !offered({ model }).includes(one)).map(({ id }) => id), ["decoding", "alignment"]);
});

test("a link to a view that is not offered opens the nearest one, and the page knows which was meant", () => {
  const store = createStore({ ...LINK, view: "worksheet" }, createSettler(view, nearestView()));
  assert.equal(store.get().link.view, "worksheet", "nothing is known of the model yet");
  store.set({ model: able([]).model });
  assert.deepEqual([store.get().link.view, store.get().unoffered], ["attention", "worksheet"]);
  store.go({ head: 1 });
  assert.equal(store.get().unoffered, "worksheet");
  store.go({ view: "heads" });
  assert.deepEqual([store.get().link.view, store.get().unoffered], ["heads", null]);
});

test("a share with replies of another model describes it, and asks it only while it is served with the same weights", async () => {
  const other = { ...MODEL, id: "gpt", digest: "7" };
  const question = { trace: { source: "a", model: "gpt", select: ["x"] } };
  /** @param {any[]} models  served now @param {any[][]} [calls] */
  const opened = async (models, calls = []) => {
    const api = {
      ...telling(calls),
      models: async () => models,
      readShare: async (/** @type {string} */ id) => ({ id, state: { source: "a" }, model: MODEL, trace: trace(), asks: [question] }),
      readAnswer: async () => ({ ...trace(), described: other }),
    };
    const source = frozen(api, { id: "s", initial: DEFAULTS, options: {} });
    return { source, page: await source.open?.(DEFAULTS) };
  };
  const more = /** @type {any} */ ({ trace: { source: "a", model: "gpt", select: ["y"] } });

  /** @type {any[][]} */
  const calls = [];
  const there = await opened([MODEL, other], calls);
  assert.deepEqual(there.page?.models?.map(({ id }) => id), ["gpt", "en-zh"]);
  await there.source.answer(more, signal);
  assert.deepEqual(calls, [["answer", more, signal]], "not sent to the share's own model");

  for (const models of [[MODEL], [MODEL, { ...other, digest: "8" }]]) {
    const gone = await opened(models);
    assert.deepEqual(gone.page?.models?.map(({ id, digest }) => [id, digest]), [["gpt", "7"], ["en-zh", "0"]], "as it was");
    await assert.rejects(gone.source.answer(more, signal), { kind: "frozen" });
  }
  const alone = await opened([{ ...MODEL, digest: "9" }, other]);
  assert.deepEqual(alone.page?.models?.map(({ id, digest }) => [id, digest]), [["gpt", "7"], ["en-zh", "0"]], "those of the share");
});
