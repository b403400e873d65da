import assert from "node:assert/strict";
import { test } from "node:test";

import { alikeHeads, changeEffect, isUnaffected } from "../../static/js/workspace/what-changes-did.js";
import { token } from "../js/trace.js";

/**
 * @param {string[]} texts
 * @param {number[]} [probabilities]
 * @param {object} [more]
 * @returns {any}
 */
const wrote = (texts, probabilities = texts.map(() => 0.5), more = {}) => ({
  text: texts.join(""), tokens: texts.map((text) => token(text, text.startsWith("<"))), logprobs: probabilities.map(Math.log), score: 0, finished: true, ...more,
});
/** @param {any} before @param {any} after @param {any} [source] */
const words = (before, after, source) =>
  changeEffect(before, after, source)?.replaced.map((part) => [part.before.map((i) => before.tokens[i].text).join(""), part.after.map((i) => after.tokens[i].text).join("")]);

test("the same tokens: how the likelihood changed, and at which step most", () => {
  const effect = changeEffect(wrote(["我", "天", "<eos>"], [0.5, 0.4, 0.9]), wrote(["我", "天", "<eos>"], [0.5, 0.8, 0.9]));
  assert.ok(effect?.nats && Math.abs(effect.nats - Math.log(2)) < 1e-9);
  assert.deepEqual([effect.replaced, effect.step?.index, effect.unfinished], [[], 1, false]);
  assert.equal(isUnaffected(effect), false);
});

test("numbers that print alike are no change; a token of a template never is", () => {
  const [before, after] = [wrote(["我", "天"], [0.5, 0.4]), wrote(["我", "天"], [0.501, 0.4])];
  assert.ok(isUnaffected(/** @type {any} */ (changeEffect(before, after))));
  const [chat, other] = [0.1, 0.9].map((p) => { const output = wrote(["#", "天"], [p, 0.4]); output.tokens[0].template = true; return output; });
  assert.ok(isUnaffected(/** @type {any} */ (changeEffect(chat, other))));
});

test("two steps that cancel out are a change", () => {
  const effect = changeEffect(wrote(["我", "天"], [0.5, 0.4]), wrote(["我", "天"], [0.4, 0.5]));
  assert.equal(isUnaffected(/** @type {any} */ (effect)), false);
  assert.ok(effect?.step);
});

test("one token is replaced, several, at the beginning and at the end", () => {
  assert.deepEqual(words(wrote(["昨", "天", "买"]), wrote(["今", "天", "买"])), [["昨", "今"]]);
  assert.deepEqual(words(wrote(["a", "b", "c", "d"]), wrote(["x", "b", "c", "y", "z"])), [["a", "x"], ["d", "yz"]]);
  assert.deepEqual(words(wrote(["a"]), wrote(["b"])), [["a", "b"]]);
});

test("a word of several tokens is replaced as a whole where its source word is known", () => {
  const source = (/** @type {number} */ i) => [0, 1, 1, 2][i] ?? null;
  assert.deepEqual(words(wrote(["我", "昨", "天", "买"]), wrote(["我", "今", "天", "买"]), source), [["昨天", "今天"]]);
  assert.deepEqual(words(wrote(["我", "昨", "天", "买"]), wrote(["我", "昨", "日", "买"]), source), [["昨天", "昨日"]]);
  assert.deepEqual(words(wrote(["妈", "妈"]), wrote(["妈"]), () => 0), [["妈妈", "妈"]]);
  assert.deepEqual(words(wrote(["a", "b"]), wrote(["x", "b"]), () => null), [["a", "x"]], "none is known");
});

test("what is lost has nothing in its place, what is added replaces nothing", () => {
  assert.deepEqual(words(wrote(["a", "b", "c"]), wrote(["a", "c"])), [["b", ""]]);
  assert.deepEqual(words(wrote(["a", "c"]), wrote(["a", "b", "c"])), [["", "b"]]);
  assert.deepEqual(words(wrote(["a", "b"]), wrote([])), [["ab", ""]]);
});

test("an end that does not come is said, and is no word", () => {
  const effect = changeEffect(wrote(["a", "<eos>"]), wrote(["a", "a"], [0.5, 0.5], { finished: false }));
  assert.deepEqual([effect?.unfinished, effect?.replaced, effect?.nats], [true, [{ before: [], after: [1] }], null]);
  const cut = changeEffect(wrote(["a", "<eos>"]), wrote(["a"], [0.5], { finished: false }));
  assert.deepEqual([cut?.unfinished, cut?.replaced], [true, []]);
  assert.equal(changeEffect(wrote(["a"], [0.5], { finished: false }), wrote(["a"], [0.5], { finished: false }))?.unfinished, false);
});

test("nothing is said of models that write nothing", () => {
  assert.equal(changeEffect(wrote([]), wrote([])), null);
});

test("heads are alike where most of their weight is on the same keys, whatever is masked", () => {
  const matrix = (/** @type {number[][]} */ rows) => ({ rows: rows.length, cols: rows[0].length, values: Float32Array.from(rows.flat()) });
  const off = matrix([[1, NaN], [0.5, 0.5]]);
  const matrices = [null, matrix([[1, NaN], [0.4, 0.6]]), matrix([[1, NaN], [0.5, 0.5]]), matrix([[0, NaN], [0.5, 0.5]])];
  assert.deepEqual(alikeHeads(off, matrices), [2, 1]);
});
