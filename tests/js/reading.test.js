import assert from "node:assert/strict";
import { test } from "node:test";

import { initials } from "../../static/js/state/options.js";
import { litIn, litTokens, pairIn, reading, tokenAt } from "../../static/js/state/reading.js";
import { COVER } from "../../static/js/compute/reshape.js";
import { createStore } from "../../static/js/state/store.js";
import { texts } from "../../static/js/data/blocks.js";
import { DEFAULTS } from "../../static/js/state/link.js";
import { attention } from "../../static/js/views/attention/view.js";
import { MODEL, trace } from "./trace.js";

/**
 * @param {Record<string, unknown>} choices
 * @param {Partial<import("../../static/js/state/link.js").State>} [link]
 */
function page(choices, link = {}) {
  const options = { ...initials(attention.options ?? {}), ...choices };
  const state = { ...DEFAULTS, block: "encoder", ...link, options };
  return { ...createStore(state).get(), model: MODEL, trace: trace() };
}
/** @param {import("../../static/js/state/store.js").Page} page */
function read(page) {
  const found = reading(page);
  assert.ok(found);
  return found;
}
/** @param {ArrayLike<number>} values */
const four = (values) => Array.from(values, (value) => Number(value.toFixed(4)));

test("as it is: one head, every token, nothing covered", () => {
  const found = read(page({}));
  assert.deepEqual(four(found.matrix.values), [0.2, 0.3, 0.5, 0.1, 0.2, 0.7, 0.6, 0.3, 0.1]);
  assert.deepEqual(texts(found.cols.steps), ["<2zh>", "the₁", "·the₂"]);
  assert.deepEqual([found.shown, found.open, found.specials], [9, 9, 1]);
  assert.deepEqual(four(found.sinks), [0.2, 0.1, 0.6], "what each row gives to <2zh>");
});

test("hidden special tokens leave rows that sum to less, and what they got is said", () => {
  const found = read(page({ special: "hide" }));
  assert.deepEqual(four(found.matrix.values), [0.2, 0.7, 0.3, 0.1]);
  assert.deepEqual(texts(found.rows.steps), ["the₁", "·the₂"]);
  assert.deepEqual(four(found.sinks), [0.1, 0.6]);
  assert.deepEqual([tokenAt(found.rows, 0), tokenAt(found.cols, 1)], [1, 2]);
});

test("the mean and the maximum are over all heads of the layer", () => {
  const mean = read(page({ pool: "mean" }));
  assert.deepEqual(four(mean.matrix.values.slice(0, 3)), [0.6, 0.15, 0.25]);
  assert.equal(mean.planes.length, 2);
  const max = read(page({ pool: "max" }));
  assert.deepEqual(four(max.matrix.values.slice(0, 3)), [1, 0.3, 0.5]);
  assert.deepEqual(four(max.sinks), [1, 1, 1], "the most that any one head gives");
});

test("a decoder row goes with what it writes", () => {
  const found = read(page({ special: "hide" }, { block: "cross" }));
  assert.deepEqual(texts(found.rows.steps), ["<bos> → 这"], "the row that writes <eos> is hidden");
  assert.deepEqual(four(found.matrix.values), [0.2, 0.7]);
});

test("only the strongest are shown, the masked are not counted", () => {
  const found = read(page({ top: 50 }, { block: "decoder" }));
  const { open, masked, weak } = COVER;
  assert.deepEqual([...found.cover], [open, masked, weak, open]);
  assert.deepEqual([found.shown, found.open], [2, 3]);
});

test("what a link pins is found where it is shown, and nowhere when it is hidden", () => {
  const pinned = page({ special: "hide" }, { query: 2, key: 1 });
  assert.deepEqual(litIn(pinned, null, read(pinned)), { row: 1, col: 0, by: "pin" });
  const hidden = page({ special: "hide" }, { query: 0, key: 1 });
  assert.deepEqual(litIn(hidden, null, read(hidden)), { row: null, col: 0, by: "pin" });
  assert.deepEqual(pairIn(hidden, null, read(hidden)), { row: 0, col: 0 });
  assert.deepEqual(litTokens(hidden, null), { queries: [0], keys: [1] });
});

test("words are one row and one column, lit by any of their pieces", () => {
  const words = page({ words: true }, { query: 2 });
  const [tag, un, able] = words.trace.tokens.source;
  words.trace.tokens.source = [
    tag,
    { ...un, text: "un", start: 0, end: 2 },
    { ...able, text: "able", start: 2, end: 6 },
  ];
  const found = read(words);
  assert.deepEqual(texts(found.rows.steps), ["<2zh>", "unable"]);
  assert.deepEqual(four(found.matrix.values), [0.2, 0.8, 0.35, 0.65]);
  assert.equal(litIn(words, null, found).row, 1);
  assert.deepEqual(litTokens(words, null).queries, [1, 2]);
});

test("other views read the trace as it is, whatever the heatmap chooses", () => {
  const found = read(page({ pool: "mean", special: "hide" }, { view: "qkv" }));
  assert.equal(found.matrix.values.length, 9);
  assert.equal(found.choice.pool, "one");
});
