import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULTS } from "../../static/js/core/store/link.js";
import { createStore } from "../../static/js/core/store/store.js";
import { bindAnswers, bounded } from "../../static/js/core/store/trace-requests.js";
import { keyOf } from "../../static/js/core/store/view-requests.js";
import { tensor, trace } from "../js/trace.js";

const MIB = 2 ** 20;

/** @param {number} size  in MiB */
const answer = (size) => /** @type {any} */ ({ tensors: { a: { data: { byteLength: size * MIB } } } });

test("the newest answers stay while they are small, and what is asked for stays anyway", () => {
  const answers = { a: answer(30), b: answer(30), c: answer(20), d: answer(10) };
  assert.deepEqual(Object.keys(bounded(answers, new Set(), 0)), ["b", "c", "d"]);
  assert.deepEqual(Object.keys(bounded(answers, new Set(), 30 * MIB)), ["c", "d"]);
  assert.deepEqual(Object.keys(bounded(answers, new Set(["a"]), 30 * MIB)), ["a"]);
});

test("no more than 32 with the one that comes", () => {
  const answers = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}`, answer(0)]));
  assert.equal(Object.keys(bounded(answers, new Set(["0"]), 0)).length, 31);
  assert.ok("0" in bounded(answers, new Set(["0"]), 0));
});

test("64 MiB are kept and not a byte more", () => {
  assert.deepEqual(Object.keys(bounded({ a: answer(32), b: answer(32) }, new Set(), 0)), ["a", "b"]);
  assert.deepEqual(Object.keys(bounded({ a: answer(33), b: answer(32) }, new Set(), 0)), ["b"]);
  const little = /** @type {any} */ ({ tensors: { a: { data: { byteLength: 1 } } } });
  assert.deepEqual(Object.keys(bounded({ a: answer(32), b: answer(32), c: little }, new Set(), 0)), ["b", "c"]);
});

test("where what is asked for is more than 32, nothing else is kept", () => {
  const answers = Object.fromEntries(Array.from({ length: 38 }, (_, i) => [`${i}`, answer(0)]));
  const wanted = new Set(Object.keys(answers).slice(0, 33));
  assert.deepEqual(Object.keys(bounded(answers, wanted, 0)), [...wanted]);
});

/** Answers of a page by hand. @param {object} page  what it is besides */
function asking(page) {
  /** @type {any[]} */
  let asks = [];
  /** @type {{question: any, signal: AbortSignal, reply: (found: any) => void}[]} */
  const asked = [];
  const store = createStore({ ...DEFAULTS, source: "a" });
  store.set(page);
  /** @type {any} */
  const source = {
    answer: (/** @type {any} */ question, /** @type {AbortSignal} */ signal) =>
      new Promise((reply) => void asked.push({ question, signal, reply })),
  };
  const answers = bindAnswers(store, source, () => asks);
  const ask = async (/** @type {any[]} */ ...questions) => ((asks = questions), answers.follow(), await null);
  return { store, asked, answers, ask };
}
const READY = { trace: trace(), status: /** @type {const} */ ("ready") };
const question = (/** @type {number} */ n) => ({ positions: { length: n } });

test("nothing is asked while the page waits, or has no trace", async () => {
  for (const page of [{ ...READY, status: "waiting" }, { ...READY, trace: null }]) {
    const { asked, ask } = asking(page);
    await ask(question(1));
    assert.equal(asked.length, 0);
  }
});

test("a large answer lets an older one go that nobody asks for any more", async () => {
  const { store, asked, ask } = asking(READY);
  const keys = [question(1), question(2)].map((one) => keyOf(/** @type {any} */ (one)));
  await ask(question(1));
  asked[0].reply(answer(40));
  await new Promise(setImmediate);
  await ask(question(2));
  assert.deepEqual(Object.keys(store.get().answers), keys.slice(0, 1));
  asked[1].reply(answer(30));
  await new Promise(setImmediate);
  assert.deepEqual(Object.keys(store.get().answers), keys.slice(1));
});

test("when it stops, nobody waits for any answer", async () => {
  const { store, asked, answers, ask } = asking(READY);
  await ask(question(1), question(2));
  answers.stop();
  assert.deepEqual(asked.map(({ signal }) => signal.aborted), [true, true]);
  asked[0].reply(answer(1));
  await new Promise(setImmediate);
  assert.deepEqual(store.get().answers, {});
});

test("what an answer about the same run already has is not asked for again", async () => {
  const { store, asked, ask } = asking(READY);
  const of = (/** @type {string[]} */ select, more = {}) => ({ trace: { text: "a", model: "b", select, ...more } });
  await ask(of(["x", "y"]));
  const found = { ...trace(), tensors: { x: tensor(["query"], [1], [1]), y: tensor(["query"], [1], [2]) } };
  asked[0].reply(found);
  await new Promise(setImmediate);
  await ask(of(["y"]));
  assert.equal(asked.length, 1);
  assert.equal(store.get().answers[keyOf(of(["y"]))], found);
  await ask(of(["y", "z"]));
  await ask(of(["y"], { text: "c" }));
  await ask(of(["y"], { dtype: "uint8" }));
  await ask(of(["y"], { summarise: ["p"] }));
  assert.equal(asked.length, 5, "another tensor, another text, another precision, a summary");
});
