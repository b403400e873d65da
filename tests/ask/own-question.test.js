import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyDraft, questionOf, shuffled } from "../../static/js/ask/own-question-form.js";

const option = (/** @type {string} */ text, /** @type {object} */ more = {}) => ({ text, second: "", note: "", right: false, ...more });
const reversed = (/** @type {any[]} */ items) => [...items].reverse();
const taken = (/** @type {object} */ part) => questionOf(/** @type {any} */ ({ ...emptyDraft(), words: " Why? ", ...part }), "en", reversed);

test("a choice has its options, which are right and what the others stand for", () => {
  const options = [option(" yes "), option("no", { right: true, note: "not kept of a right one?" }), option(" "), option("maybe", { note: " a guess " })];
  assert.deepEqual(taken({ options }), {
    entry: "choice",
    ask: { kind: "choice", link: "", words: "Why?", options: [{ text: "yes" }, { text: "no", note: "not kept of a right one?" }, { text: "maybe", note: "a guess" }], right: [1] },
  });
});

test("a choice of which none is right asks for opinions", () => {
  const { ask } = /** @type {any} */ (taken({ options: [option("a"), option("b")] }));
  assert.equal("right" in ask, false);
});

test("an order is sent mixed, with the way back", () => {
  const { entry, ask } = /** @type {any} */ (taken({ kind: "order", options: ["one", "two", "three"].map((text) => option(text, { note: "x", right: true })) }));
  assert.equal(entry, "order");
  assert.deepEqual(ask.options, [{ text: "three" }, { text: "two" }, { text: "one" }]);
  assert.deepEqual(ask.right.map((/** @type {number} */ i) => ask.options[i].text), ["one", "two", "three"]);
});

test("a number may have a decimal comma, and a tolerance", () => {
  assert.deepEqual(taken({ kind: "number", value: "0,25", within: "0,05" }), { entry: "numbers", ask: { kind: "number", link: "", words: "Why?", value: 0.25, within: 0.05 } });
  assert.deepEqual(taken({ kind: "number", value: "1/4" }), { entry: "numbers", ask: { kind: "number", link: "", words: "Why?", value: 0.25 } });
});

test("the second language goes along, in the order of the options", () => {
  const options = [option("one", { second: " 一 " }), option("two", { second: "二" })];
  const { ask } = /** @type {any} */ (taken({ kind: "order", twoLanguages: true, secondWords: "为什么？", options }));
  assert.deepEqual(ask.translations, { zh: { words: "为什么？", options: ["二", "一"] } });
  const { ask: open } = /** @type {any} */ (questionOf({ ...emptyDraft(), kind: "open", words: "为什么？", secondWords: "Why?", twoLanguages: true }, "zh", reversed));
  assert.deepEqual(open, { kind: "open", link: "", words: "为什么？", translations: { en: { words: "Why?", options: [] } } });
});

test("what is missing is named", () => {
  const two = [option("a"), option("b")];
  assert.deepEqual(taken({ words: " ", options: two }), { missing: "words" });
  assert.deepEqual(taken({ options: [option("a"), option(" ")] }), { missing: "options" });
  assert.deepEqual(taken({ kind: "number", value: "eight" }), { missing: "value" });
  assert.deepEqual(taken({ kind: "number", value: "8", within: "-1" }), { missing: "within" });
  assert.deepEqual(taken({ options: two, twoLanguages: true }), { missing: "second" });
  assert.deepEqual(taken({ options: two, twoLanguages: true, secondWords: "为什么？" }), { missing: "second" });
});

test("mixing keeps all, and never the order", () => {
  for (let n = 0; n < 200; n++) {
    const mixed = shuffled([0, 1, 2]);
    assert.deepEqual([...mixed].sort(), [0, 1, 2]);
    assert.notDeepEqual(mixed, [0, 1, 2]);
  }
  assert.deepEqual(shuffled([7]), [7]);
});
