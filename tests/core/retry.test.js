import assert from "node:assert/strict";
import { test } from "node:test";

import { createApi } from "../../static/js/core/wire/api.js";
import { createAsker } from "../../static/js/core/wire/connection.js";
import { Problem, failure } from "../../static/js/core/wire/reply.js";

/** A question that is answered by hand. @template T */
function deferred() {
  /** @type {{resolve: (value: T) => void, reject: (error: unknown) => void}[]} */
  const open = [];
  /** @type {AbortSignal[]} */
  const signals = [];
  const question = (/** @type {AbortSignal} */ signal) => {
    signals.push(signal);
    return /** @type {Promise<T>} */ (new Promise((resolve, reject) => open.push({ resolve, reject })));
  };
  return { question, open, signals };
}

const busy = (retryAfter = 2) => new Problem("busy", { retryAfter, detail: "full", field: "x" });
const spent = () => new Problem("too-many-requests", { retryAfter: 2, detail: "full", field: "x" });
const flush = async () => {
  for (let i = 0; i < 10; i++) await null;
};

test("a newer question ends the older one, whose late answer is dropped", async () => {
  const asker = createAsker();
  const [one, two] = [deferred(), deferred()];
  const first = asker.ask(one.question);
  const second = asker.ask(two.question);
  assert.deepEqual([one.signals[0].aborted, two.signals[0].aborted], [true, false]);
  two.open[0].resolve("new");
  one.open[0].resolve("old");
  assert.deepEqual([await first, await second], [null, "new"]);
});

test("what is stopped, or fails after that, is nobody's answer", async (t) => {
  const reported = t.mock.method(console, "error", () => {});
  const asker = createAsker();
  const late = deferred();
  const answer = asker.ask(late.question);
  asker.stop();
  late.open[0].reject(new DOMException("stopped", "AbortError"));
  assert.equal(await answer, null);
  assert.equal(reported.mock.callCount(), 0, "nor a mistake of ours");
  const again = deferred();
  const next = asker.ask(again.question);
  again.open[0].resolve(3);
  assert.equal(await next, 3, "it can be asked again");
});

test("a server that has had enough of a client is asked again after as long as it says, three times", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asker = createAsker();
  const { question, open } = deferred();
  /** @type {unknown[]} */
  const meanwhile = [];
  const answer = asker.ask(question, (problem) => meanwhile.push(problem.retryAfter));
  for (let asked = 1; asked <= 3; asked++) {
    open[asked - 1].reject(spent());
    await flush();
    assert.equal(meanwhile.length, asked);
    t.mock.timers.tick(1999);
    await flush();
    assert.equal(open.length, asked, "not before");
    t.mock.timers.tick(1);
    await flush();
    assert.equal(open.length, asked + 1);
  }
  open[3].reject(spent());
  const last = await answer;
  assert.ok(last instanceof Problem);
  assert.deepEqual([last.kind, last.retryAfter, last.detail, last.field], ["too-many-requests", null, "full", "x"]);
  assert.deepEqual(meanwhile, [2, 2, 2]);
});

test("a busy server is asked until it answers", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { question, open } = deferred();
  const answer = createAsker().ask(question);
  for (let asked = 0; asked < 10; asked++) {
    open[asked].reject(busy(1));
    await flush();
    t.mock.timers.tick(1000);
    await flush();
  }
  open[10].resolve("here");
  assert.equal(await answer, "here");
});

test("nobody waits for half a minute", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const patient = createAsker().ask(async () => Promise.reject(busy(31)));
  const found = await patient;
  assert.ok(found instanceof Problem && found.retryAfter === null);
  let meanwhile = 0;
  const asker = createAsker();
  const waits = asker.ask(async () => Promise.reject(busy(30)), () => meanwhile++);
  await flush();
  assert.equal(meanwhile, 1);
  asker.stop();
  assert.equal(await waits, null, "while it waits it can be ended");
});

test("stopped while it waits it does not ask again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asker = createAsker();
  const { question, open } = deferred();
  const answer = asker.ask(question);
  open[0].reject(busy(1));
  await flush();
  asker.stop();
  t.mock.timers.tick(1000);
  assert.equal(await answer, null);
  assert.equal(open.length, 1);
});

test("any other problem is the answer at once, and a mistake of ours is told as one", async (t) => {
  const problem = new Problem("too-long");
  assert.equal(await createAsker().ask(async () => Promise.reject(problem)), problem);
  const reported = t.mock.method(console, "error", () => {});
  const mistake = new TypeError("x is undefined");
  const found = await createAsker().ask(() => {
    throw mistake;
  });
  assert.ok(found instanceof Problem);
  assert.deepEqual([found.kind, found.detail, found.passing], ["unexpected", "x is undefined", true]);
  assert.equal(reported.mock.calls[0].arguments[0], mistake);
  assert.equal(failure("words").detail, "words");
});

test("what may pass is told from what stays", () => {
  for (const kind of ["offline", "busy", "internal", "garbled", "unexpected"])
    assert.ok(new Problem(kind).passing, kind);
  for (const kind of ["too-long", "frozen", "empty-text"]) assert.ok(!new Problem(kind).passing, kind);
  assert.equal(new Problem("too-long").message, "too-long");
  assert.equal(new Problem("too-long", { detail: "by 3" }).message, "by 3");
});

/** @param {BodyInit} body @param {ResponseInit} [init] */
const serving = (body, init) => createApi(/** @type {any} */ (async () => new Response(body, init)));
/** @param {Promise<unknown>} asked */
const kindOf = (asked) => asked.then(() => "none", (error) => error.kind);

test("a reply that is not what it claims to be is a problem, whatever was asked", async () => {
  const header = JSON.stringify({
    __metadata__: { trace: JSON.stringify({ tensors: { x: { dtype: "float32" } } }) },
    x: { dtype: "F32", shape: [2], data_offsets: [0, 8] },
  });
  const whole = new Uint8Array(8 + header.length + 8);
  new DataView(whole.buffer).setBigUint64(0, BigInt(header.length), true);
  whole.set(new TextEncoder().encode(header), 8);
  assert.equal(await kindOf(serving(whole).trace({})), "none");
  for (const length of [0, 7, 40, whole.length - 8, whole.length - 4, whole.length - 1]) {
    const api = serving(whole.slice(0, length));
    assert.equal(await kindOf(api.trace({})), "garbled", `${length} bytes`);
    assert.equal(await kindOf(api.parameters({ model: "a", select: [] })), "garbled");
    assert.equal(await kindOf(api.learning({ model: "a", example: 0 })), "garbled");
  }
  assert.equal(await kindOf(serving(whole).readShare("1")), "garbled", "a trace without its share");
  const page = serving("<!doctype html>", { headers: { "Content-Type": "text/html" } });
  assert.equal(await kindOf(page.trace({})), "garbled");
  assert.equal(await kindOf(page.models()), "garbled");
  assert.equal(await kindOf(page.positions({ variant: "a", length: 1, d_model: 2 })), "garbled");
  assert.equal(await kindOf(serving("{}").positions({ variant: "a", length: 1, d_model: 2 })), "garbled");
  assert.equal(await kindOf(page.share(/** @type {any} */ ({}))), "garbled");
  assert.equal(await kindOf(page.lines("/api/decode", {}).next()), "offline", "a line that does not end");
  assert.equal(await kindOf(serving("<html>\n").lines("/api/decode", {}).next()), "garbled");
});

test("a connection that breaks off in the middle is one that is not there", async () => {
  const broken = () => new ReadableStream({ pull: (controller) => controller.error(new TypeError("network error")) });
  const api = createApi(/** @type {any} */ (async () => new Response(broken())));
  assert.equal(await kindOf(api.trace({})), "offline");
  assert.equal(await kindOf(api.models()), "offline");
  assert.equal(await kindOf(api.file("/x")), "offline");
  assert.equal(await kindOf(api.readShare("1")), "offline");
  assert.equal(await kindOf(api.lines("/api/decode", {}).next()), "offline");
  const away = createApi(/** @type {any} */ (async () => Promise.reject(new TypeError("Failed to fetch"))));
  assert.equal(await kindOf(away.trace({})), "offline");
  const stopped = createApi(/** @type {any} */ (async () => Promise.reject(new DOMException("", "AbortError"))));
  await assert.rejects(stopped.trace({}), { name: "AbortError" });
});
