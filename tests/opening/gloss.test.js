import assert from "node:assert/strict";
import { test } from "node:test";

import { glosses } from "../../static/js/opening/word-pairing.js";
import { token } from "../js/trace.js";

/** @param {string[]} source @param {string[]} target @param {number[]} weights */
const of = (source, target, weights) =>
  glosses({
    source: { tokens: source.map((text) => token(text)), groups: [] },
    target: { tokens: target.map((text) => token(text)), groups: [] },
    soft: { rows: target.length, cols: source.length, values: Float32Array.from(weights) },
  });

test("a gloss is the word that gets 0.7 of the weight or more", () => {
  assert.deepEqual(of(["My", " mother"], ["我", "妈"], [0.9, 0.1, 0.4, 0.6]), ["My", null]);
  assert.deepEqual(of(["My", " mother"], ["妈"], [0.29, 0.71]), ["mother"]);
});

test("Chinese characters beside the strongest belong to the word that have half of its weight", () => {
  assert.deepEqual(of(["我", "妈", "妈", "昨"], [" mother"], [0.05, 0.5, 0.45, 0]), ["妈妈"]);
  assert.deepEqual(of(["昨", "天", "买"], [" yesterday"], [0.8, 0.15, 0.05]), ["昨"]);
  assert.deepEqual(of(["at", "the"], ["在"], [0.5, 0.5]), [null], "English words are whole already");
});

test("marks have no gloss and are none", () => {
  assert.deepEqual(of(["cat", "."], ["。", "猫"], [0, 1, 0, 1]), [null, null]);
});
