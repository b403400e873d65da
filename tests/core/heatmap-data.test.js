import assert from "node:assert/strict";
import { test } from "node:test";

import { initialChoices } from "../../static/js/core/store/link-options.js";
import { heatmapOptions, highlightIn, highlightedTokens, pairIn, heatmapOf, tokenAt } from "../../static/js/core/store/heatmap-data.js";
import { COVER } from "../../static/js/core/compute/aggregate-attention.js";
import { createStore } from "../../static/js/core/store/store.js";
import { texts } from "../../static/js/core/wire/model-description.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { attention } from "../../static/js/views/attention/view.js";
import { MODEL, sized, trace } from "../js/trace.js";

/**
 * @param {Record<string, unknown>} choices
 * @param {Partial<import("../../static/js/core/store/link.js").State>} [link]
 */
function page(choices, link = {}) {
  const options = { ...initialChoices(attention.options ?? {}), ...choices };
  const state = { ...DEFAULTS, block: "encoder", ...link, options };
  return { ...createStore(state).get(), model: MODEL, trace: trace() };
}
/** @param {import("../../static/js/core/store/store.js").Page} page */
function read(page) {
  const found = heatmapOf(page);
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

test("tokens of a chat's template are hidden with special ones", () => {
  const chat = page({ special: "hide" });
  chat.trace.tokens.source = chat.trace.tokens.source.map((one, i) => (i === 1 ? { ...one, template: true } : one));
  const found = read(chat);
  assert.deepEqual(texts(found.cols.steps), ["·the₂"]);
  assert.deepEqual([found.specials, found.templated], [2, true]);
  assert.deepEqual(four(found.sinks), [0.9], "what the row gives to <2zh> and the template");
  assert.equal(read(page({ special: "hide" })).templated, false);
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
  assert.deepEqual(highlightIn(pinned, null, read(pinned)), { row: 1, col: 0, by: "pin" });
  const hidden = page({ special: "hide" }, { query: 0, key: 1 });
  assert.deepEqual(highlightIn(hidden, null, read(hidden)), { row: null, col: 0, by: "pin" });
  assert.deepEqual(pairIn(hidden, null, read(hidden)), { row: 0, col: 0 });
  assert.deepEqual(highlightedTokens(hidden, null), { queries: [0], keys: [1] });
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
  assert.equal(highlightIn(words, null, found).row, 1);
  assert.deepEqual(highlightedTokens(words, null).queries, [1, 2]);
});

test("other views read the trace as it is, whatever the heatmap chooses", () => {
  const found = read(page({ pool: "mean", special: "hide" }, { view: "qkv" }));
  assert.equal(found.matrix.values.length, 9);
  assert.equal(found.choice.pool, "one");
});

test("only the heatmap chooses; without a word of it everything is shown", () => {
  const all = { pool: "one", words: false, hides: false, top: 100, texts: null };
  const chosen = { pool: "mean", words: true, special: "hide", top: 30 };
  assert.deepEqual(heatmapOptions(page(chosen)), { pool: "mean", words: true, hides: true, top: 30, texts: null });
  assert.deepEqual(heatmapOptions(page(chosen, { view: "lines" })), all);
  const bare = page({});
  assert.deepEqual(heatmapOptions({ ...bare, link: { ...bare.link, options: {} } }), all);
});

test("the same place, read in the same way, is the same reading, and another is another", () => {
  const seen = trace();
  /** @type {typeof page} */
  const at = (choices, link) => ({ ...page(choices, link), trace: seen });
  const first = read(at({}));
  assert.equal(read(at({})), first);
  assert.equal(read(at({ scale: "log" })), first, "the scale is the chart's");
  const others = [
    at({}, { head: 1 }),
    at({}, { block: "cross" }),
    at({ words: true }),
    at({ special: "hide" }),
    at({ top: 50 }),
    at({ pool: "mean" }),
  ];
  const readings = others.map(read);
  assert.equal(new Set([first, ...readings]).size, 7);
  assert.deepEqual(others.map(read), readings, "going back and forth works nothing out again");
  assert.notEqual(read({ ...at({}), trace: trace() }), first, "another trace");
  assert.equal(heatmapOf(at({}, { layer: 1 })), null, "a layer that is not here");
  assert.equal(heatmapOf({ ...at({}), trace: null }), null);
  const small = sized({ encoder: 1, decoder: 1 }, { encoder: 1, decoder: 1 });
  assert.equal(read({ ...at({ pool: "mean" }), model: small }).planes.length, 1);
  assert.equal(heatmapOf({ ...at({ pool: "max" }), model: null }), null, "no model says where its attentions are");
  assert.deepEqual(four(read({ ...at({ pool: "max" }, { head: 1 }), model: small }).matrix.values.slice(0, 3)), [1, 0, 0]);
});

test("of a trace the last readings are kept, and not all", () => {
  const seen = trace();
  const at = (/** @type {number} */ top) => read({ ...page({ top }), trace: seen });
  const first = at(1);
  for (let top = 2; top <= 16; top++) at(top);
  assert.equal(at(1), first);
  for (let top = 20; top < 36; top++) at(top);
  assert.notEqual(at(1), first);
});

test("without special tokens each row's share is what it gives to the first token", () => {
  const plain = page({});
  plain.trace.tokens.source = plain.trace.tokens.source.map((one) => ({ ...one, special: false }));
  const found = read(plain);
  assert.deepEqual([four(found.sinks), found.specials], [[0.2, 0.1, 0.6], 0]);
  const last = page({});
  last.trace.tokens.source = last.trace.tokens.source.map((one, i) => ({ ...one, special: i === 2 }));
  assert.deepEqual([four(read(last).sinks), read(last).specials], [[0.5, 0.7, 0.1], 1]);
});

test("merged words are in the language of their side", () => {
  const langs = (/** @type {any} */ block) => {
    const { rows, cols } = read(page({ words: true }, { block }));
    return [rows.steps[0].writes.lang, cols.steps[1].writes.lang];
  };
  const [en, zh] = ["en", texts.length ? read(page({}, { block: "cross" })).rows.steps[0].writes.lang : ""];
  assert.notEqual(en, zh);
  assert.deepEqual([langs("encoder"), langs("cross"), langs("decoder")], [[en, en], [zh, en], [zh, zh]]);
});

test("a decoder word of several pieces says what it writes, and not what one of them has read", () => {
  const of = page({ words: true }, { block: "cross" });
  const { trace: seen } = of;
  const [, eos] = seen.output.tokens;
  seen.output.tokens = [{ ...eos, text: "un", special: false, start: 0, end: 2 }, { ...eos, text: "able", special: false, start: 2, end: 6 }];
  seen.direction = "zh-en";
  const [whole] = read(of).rows.steps;
  assert.deepEqual([whole.short, whole.writes.word, whole.reads?.word], [true, "unable", "<bos>"]);
  const alone = read(page({ words: true }, { block: "cross" })).rows.steps;
  assert.deepEqual(alone.map(({ short }) => Boolean(short)), [false, false]);
  const encoder = page({ words: true });
  encoder.trace.tokens.source[1].end = 2;
  encoder.trace.tokens.source[2] = { ...encoder.trace.tokens.source[2], text: "able", start: 2, end: 6 };
  assert.ok(read(encoder).rows.steps.every(({ short }) => !short), "an encoder row has read nothing before");
});

/** @param {"source" | "target"} side @param {number} index */
const ref = (side, index) => ({ side, index });

test("what is hovered is found where it is shown, one side of it or both", () => {
  const of = page({ special: "hide" }, { query: 1, key: 1 });
  const found = read(of);
  assert.deepEqual(highlightIn(of, { query: ref("source", 2), key: null }, found), { row: 1, col: null, by: "hover" });
  assert.deepEqual(highlightIn(of, { query: null, key: ref("source", 2) }, found), { row: null, col: 1, by: "hover" });
  assert.deepEqual(highlightIn(of, { query: ref("source", 0), key: ref("source", 0) }, found), { row: null, col: null, by: "hover" });
  assert.deepEqual(highlightedTokens(of, { query: ref("source", 2), key: null }), { queries: [2], keys: [] });
  assert.deepEqual(highlightedTokens(of, { query: null, key: ref("source", 0) }), { queries: [], keys: [0] });
});

test("with nothing lit it is the row that looks hardest at another word", () => {
  const of = page({});
  const found = read(of);
  assert.deepEqual(highlightIn(of, null, found), { row: 1, col: null, by: "default" });
  assert.deepEqual(highlightedTokens(of, null), { queries: [1], keys: [] });
  assert.deepEqual(pairIn(of, null, found), { row: 1, col: 2 });
  assert.deepEqual(pairIn(of, { query: null, key: ref("source", 0) }, found), { row: 1, col: 0 });
  assert.deepEqual(pairIn(of, { query: ref("source", 2), key: null }, found), { row: 2, col: 0 });
  const pinned = page({}, { query: 0, key: 1 });
  assert.deepEqual(pairIn(pinned, null, read(pinned)), { row: 0, col: 1 });
});

test("what is lit by itself goes by the rows and columns that are shown", () => {
  const self = page({ special: "hide" });
  // Of what is left, the second word looks hardest at the first: the first looks at the second more.
  assert.equal(highlightIn(self, null, read(self)).row, 0);
  assert.deepEqual(highlightedTokens(self, null).queries, [1]);
  const own = page({});
  own.trace.tensors["encoder.0.self.weights"].data.set([0, 0.3, 0.7, 0, 1, 0, 0, 0.6, 0.4]);
  assert.equal(highlightIn(own, null, read(own)).row, 2, "neither a special token nor a word that looks at itself");
  const cross = page({}, { block: "cross" });
  cross.trace.tensors["decoder.0.cross.weights"].data.set([0.9, 0.1, 0, 0, 0.6, 0.4]);
  assert.equal(highlightIn(cross, null, read(cross)).row, 0);
  cross.trace.output.tokens[1].special = false;
  cross.trace.output.tokens[1].text = "猫";
  const again = { ...cross, trace: { ...cross.trace, tensors: { ...cross.trace.tensors } } };
  assert.equal(highlightIn(again, null, read(again)).row, 1, "a word that looks at a special token says less");
  const none = page({ special: "hide" });
  none.trace.tokens.source.forEach((one) => (one.special = true));
  const empty = read(none);
  assert.deepEqual([empty.matrix.rows, highlightIn(none, null, empty).row, pairIn(none, null, empty)], [0, null, null]);
});

test("a trace without the weights lights what is pinned, token for token", () => {
  const bare = page({}, { layer: 1, query: 2, key: 1 });
  assert.deepEqual(highlightedTokens(bare, null), { queries: [2], keys: [1] });
  assert.deepEqual(highlightedTokens(page({}, { layer: 1 }), null), { queries: [], keys: [] });
  assert.equal(tokenAt({ axis: /** @type {any} */ ({ groups: [[4, 5]] }) }, 0), 4);
  assert.equal(tokenAt({ axis: /** @type {any} */ ({ groups: [[4, 5]] }) }, null), null);
});
