import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { comparison, otherPlace, otherRun, otherSentence, axisIndexOf } from "../../static/js/core/store/comparison.js";
import { texts } from "../../static/js/core/wire/model-description.js";
import { initialChoices } from "../../static/js/core/store/link-options.js";
import { keyOf } from "../../static/js/core/store/view-requests.js";
import { highlightedTokens } from "../../static/js/core/store/heatmap-data.js";
import { COVER } from "../../static/js/core/compute/aggregate-attention.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { compare } from "../../static/js/views/compare/view.js";
import { MODEL, tensor, token, trace } from "../js/trace.js";

/** @import { Page } from "../../static/js/core/store/store.js" */

/**
 * @param {Record<string, unknown>} choices
 * @param {Partial<import("../../static/js/core/store/link.js").State>} [link]
 * @returns {Page}
 */
function page(choices, link = {}) {
  const options = { ...initialChoices(compare.options ?? {}), ...choices };
  const state = { ...DEFAULTS, block: "encoder", source: "the the", view: "compare", ...link, options };
  return { ...createStore(state).get(), model: MODEL, trace: trace() };
}
/** @param {Page} page @param {import("../../static/js/core/store/view-requests.js").Answer | Problem} reply */
function answered(page, reply) {
  const question = otherRun(page);
  assert.ok(question);
  return { ...page, answers: { [keyOf(question)]: reply } };
}
/** @param {Page} page */
function shown(page) {
  const found = comparison(page);
  assert.ok(found && !(found instanceof Problem));
  return found;
}
/** @param {ArrayLike<number>} values */
const four = (values) => Array.from(values, (value) => Number(value.toFixed(4)));

test("two heads of one run: every token is its own partner", () => {
  const found = shown(page({ other: "head", head_b: 1 }));
  assert.deepEqual(four(found.delta.matrix.values.slice(0, 3)), [0.8, -0.3, -0.5]);
  assert.ok(found.delta.cover.every((why) => why === COVER.open));
  assert.deepEqual(
    found.changes.slice(0, 2).map(({ row, col, change }) => [row, col, ...four([change])]),
    [
      [1, 0, 0.9],
      [0, 0, 0.8],
    ],
  );
  assert.equal(otherRun(page({ other: "head" })), null, "nothing more is run");
});

test("B is the next head and a layer below where the link says nothing, and one that is there", () => {
  assert.deepEqual(otherPlace(page({ other: "head" })), { layer: 0, head: 1 });
  assert.deepEqual(otherPlace(page({ other: "head" }, { head: 1 })), { layer: 0, head: 0 });
  assert.deepEqual(otherPlace(page({ other: "head", head_b: 99 })), { layer: 0, head: 1 });
  assert.equal(otherPlace(page({ other: "layer", layer_b: 9 })).layer, MODEL.layers.encoder - 1);
});

test("another sentence leaves gaps where a word is only in one", () => {
  const other = trace();
  other.tokens.source = [token("<2zh>", true), token("the"), token(" dog")];
  const asked = page({ b: "the dog" });
  assert.deepEqual(/** @type {any} */ (otherRun(asked)).trace, {
    source: "the dog",
    direction: "en-zh",
    select: ["encoder.0.self.weights", "encoder.0.self.mask"],
  });
  assert.equal(comparison(asked), null, "on its way");
  const found = shown(answered(asked, other));
  assert.deepEqual(texts(found.cols.steps), ["<2zh>", "the₁", "·theᴬ₂", "·dogᴮ"]);
  const { open, onlyA, onlyB } = COVER;
  assert.deepEqual([...found.a.cover.slice(0, 4)], [open, open, open, onlyB]);
  assert.deepEqual([...found.b.cover.slice(0, 4)], [open, open, onlyA, open]);
  assert.deepEqual([...found.delta.cover.slice(0, 4)], [open, open, onlyA, onlyB]);
  assert.equal(axisIndexOf(found.cols, 2), 2);
  assert.equal(axisIndexOf(found.cols, null), null);
});

test("the other direction is turned over, so that the same words meet", () => {
  const back = trace();
  back.direction = "zh-en";
  back.tokens.source = [token("<2en>", true), token("这"), token("<eos>", true)];
  back.tokens.target = [token("<bos>", true), token("the")];
  back.output.tokens = [token("the"), token(" the")];
  back.tensors["decoder.0.cross.weights"] = tensor(
    ["head", "query", "key"],
    [2, 2, 3],
    [0.1, 0.6, 0.3, 0.2, 0.7, 0.1, 1, 0, 0, 1, 0, 0],
  );
  const asked = page({ other: "direction" }, { block: "cross" });
  assert.deepEqual(/** @type {any} */ (otherRun(asked)).trace, {
    source: "这",
    target: "the the",
    direction: "zh-en",
    select: ["decoder.0.cross.weights", "decoder.0.cross.mask"],
  });
  const found = shown(answered(asked, back));
  assert.deepEqual(texts(found.rows.steps), ["<2en>ᴮ", "这", "<eos>"]);
  assert.deepEqual(texts(found.cols.steps), ["<2zh>ᴬ", "the₁", "·the₂"]);
  assert.deepEqual(four(found.b.matrix.values), [NaN, 0.1, 0.2, NaN, 0.6, 0.7, NaN, 0.3, 0.1]);
  assert.deepEqual(four(found.delta.matrix.values), [NaN, NaN, NaN, NaN, 0.4, 0, NaN, 0, -0.3]);
});

test("what is lit by itself is the largest change", () => {
  assert.deepEqual(highlightedTokens(page({ other: "head", head_b: 1 }), null), { queries: [1], keys: [0] });
});

test("a comparison begins with a word changed, until another sentence is typed", () => {
  assert.equal(otherSentence(page({}, { source: "She is here." })), "He is here.");
  assert.equal(otherSentence(page({ b: "typed" })), "typed");
  const problem = new Problem("too-long");
  assert.equal(comparison(answered(page({ b: "long" }), problem)), problem);
});

test("before there is a comparison it lights nothing; a token that only B has is no token of the page", () => {
  assert.deepEqual(highlightedTokens(page({ b: "the dog" }), null), { queries: [], keys: [] });
  assert.deepEqual(highlightedTokens(answered(page({ b: "x" }), new Problem("too-long")), null), { queries: [], keys: [] });
  const same = highlightedTokens(answered(page({ b: "the the" }), trace()), null);
  assert.deepEqual(same, { queries: [], keys: [] }, "nothing has changed");
  const pinned = page({ other: "head", head_b: 1 }, { query: 2, key: 1 });
  assert.deepEqual(highlightedTokens(pinned, null), { queries: [2], keys: [1] });
});
