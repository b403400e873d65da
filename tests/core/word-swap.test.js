import assert from "node:assert/strict";
import { test } from "node:test";

import { EXAMPLES } from "../../static/js/core/store/examples-and-tasks.js";
import { swapped } from "../../static/js/core/compute/token-diff.js";

test("the first word that has a counterpart takes its place, in its case", () => {
  assert.equal(swapped("My mother bought a new book."), "My father bought a new book.");
  assert.equal(swapped("He is tired."), "She is tired.");
  assert.equal(swapped("我妈妈昨天买了一本新书。"), "我爸爸昨天买了一本新书。");
  assert.equal(swapped("The animal was too tired."), "The animal was too wide.");
  assert.equal(swapped("他的房子很大。"), "她的房子很大。");
  assert.equal(swapped("a catalogue"), "a", "a counterpart is a whole word");
});

test("where none has, a word in the middle goes", () => {
  assert.equal(swapped("Nobody knows it now."), "Nobody knows now.");
  assert.equal(swapped("The old river runs far away"), "The new river runs far away");
  assert.equal(swapped("天气真怪！"), "天气怪！");
  assert.equal(swapped("嗨"), "嗨");
  assert.equal(swapped("Hi"), "Hi", "a sentence of one word stays");
  assert.equal(swapped(""), "");
});

test("every example has something to begin a comparison with", () => {
  for (const { text } of EXAMPLES) {
    const other = swapped(text);
    assert.notEqual(other, text);
    assert.ok(Math.abs(other.length - text.length) <= 2, other);
  }
});
