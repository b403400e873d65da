import assert from "node:assert/strict";
import { test } from "node:test";
import { inGeneral, rowPatterns } from "../../static/js/core/compute/head-pattern-names.js";

const t = (/** @type {string} */ message) => message;

test("a head is described by its patterns in order, with two decimals", () => {
  assert.equal(inGeneral([["nearby", 0.7149], ["sink", 0.18]], t), "nearby 0.71, then sink 0.18");
  assert.equal(inGeneral([["of a newer server", 1]], t), "of a newer server 1.00");
});

test("a head without a pattern is not one that was not measured", () => {
  assert.equal(inGeneral([], t), "no pattern in a tenth of its rows");
  assert.equal(inGeneral(undefined, t), "");
});

test("every pattern has a name of its own", () => {
  const names = Object.values(rowPatterns(t));
  assert.equal(new Set(names).size, names.length);
});
