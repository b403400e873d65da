import assert from "node:assert/strict";
import { test } from "node:test";

import { axesOf, quoted, rowName } from "../../static/js/long/map/axes.js";

const word = (/** @type {string} */ text, /** @type {number} */ start, /** @type {number} */ end, special = false) => ({ text, id: 0, start, end, special });
const READ = [word("<start>", 0, 0, true), word("Go", 0, 2), word(".", 2, 3), word(" Sit", 4, 7), word(".", 7, 8)];
const WRITTEN = [...READ.slice(1), word("</s>", 0, 0, true)];
const SOURCE = [word("A", 0, 1), word("</s>", 0, 0, true)];
const attention = (/** @type {string} */ kind, /** @type {string} */ key) => ({ place: `decoder.0.${kind}`, stack: "decoder", layer: 0, kind, query: "target", key, heads: 1, mask: kind === "self" ? "causal" : "all" });

/** @param {string} block @param {string} [level] @param {object[]} [tokens]  written */
const page = (block, level, tokens = WRITTEN) =>
  /** @type {any} */ ({
    model: { texts: ["source", "target"], attentions: [attention("self", "target"), attention("cross", "source")] },
    trace: { tokens: { source: SOURCE, target: READ }, output: { text: "Go. Sit.", tokens }, direction: "", long: { texts: { source: "A" } } },
    link: { block, options: { level } },
  });

const names = (/** @type {import("../../static/js/long/map/axes.js").Axis} */ axis) => Array.from({ length: axis.count }, (_, unit) => quoted(axis, unit));

test("rows that write are named by what they write", () => {
  const { rows, cols } = axesOf(page("cross"));
  assert.deepEqual(names(rows), ["Go", ".", "Sit", ".", "</s>"]);
  assert.equal(rowName(rows)(2), "→ Sit");
  assert.deepEqual(names(cols), ["A", "</s>"]);
  assert.equal(rowName(cols), cols.label);
});

test("what they look at is named by what was read", () => {
  const { rows, cols } = axesOf(page("decoder"));
  assert.deepEqual(names(rows), ["Go", ".", "Sit", ".", "</s>"]);
  assert.deepEqual(names(cols), ["<start>", "Go", ".", "Sit", "."]);
  assert.notEqual(rows.tokens, cols.tokens);
});

test("sentences that are written are those of their tokens", () => {
  const { rows, cols } = axesOf(page("decoder", "sentences"));
  assert.deepEqual([names(rows), rows.edges], [["Go.", "Sit.", "</s>"], [0, 2, 4, 5]]);
  assert.deepEqual([names(cols), cols.edges], [["<start>", "Go.", "Sit."], [0, 1, 3, 5]]);
});

test("a row that has written nothing yet is named by what it read", () => {
  assert.deepEqual(names(axesOf(page("cross", undefined, WRITTEN.slice(0, 4))).rows), ["Go", ".", "Sit", ".", "."]);
});
