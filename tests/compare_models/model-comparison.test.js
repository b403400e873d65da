import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { blockB, counterpart, modelB, modelComparison, otherModels, placeB, placed, runB } from "../../static/js/compare-models/model-comparison.js";
import { initialChoices } from "../../static/js/core/store/link-options.js";
import { keyOf } from "../../static/js/core/store/view-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { compare } from "../../static/js/views/compare/view.js";
import { everywhere } from "../../static/js/compare-models/panels.js";
import { finding } from "../../static/js/compare-models/comparison-view.js";
import { translator } from "../../static/js/lib/i18n.js";
import { MODEL, tensor, trace } from "../js/trace.js";

/** @import { Page } from "../../static/js/core/store/store.js" */

const row = { stack: "decoder", kind: "self", query: "text", key: "text", heads: 2, kv_heads: 1, mask: "causal", scoring: "scaled-dot" };
/** A decoder of two layers. @type {any} */
const GPT = { ...MODEL, id: "gpt", texts: ["text"], directions: [], languages: [], attentions: [0, 1].map((layer) => ({ ...row, layer, place: `decoder.${layer}.self` })) };
const SOURCE = "the the";

/** @param {string} text @param {number} start @param {number} end */
const at = (text, start, end, special = false) => ({ text, id: 0, start, end, special });

/** What the decoder answers: "the" is one token, " the" three. @param {number[]} layers */
function answerOf(layers) {
  /** @type {Record<string, any>} */
  const tensors = {};
  for (const layer of layers) {
    const weights = [1, 0, 0, 0, 0.4, 0.6, 0, 0, 0.1, 0.8, 0.1, 0, 0.1, 0.1, 0.7, 0.1];
    const diagonal = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    tensors[`decoder.${layer}.self.weights`] = tensor(["head", "query", "key"], [2, 4, 4], layer ? [...weights, ...diagonal] : [...diagonal, ...diagonal]);
    tensors[`decoder.${layer}.self.mask`] = tensor(["query", "key"], [4, 4], [1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1]);
  }
  const tokens = { text: [at("the", 0, 3), at(" t", 3, 5), at("h", 5, 6), at("e", 6, 7)] };
  return { ...trace(), id: "2", model: "gpt", direction: "", tokens, output: { text: "", tokens: [], logprobs: [], score: 0, finished: false }, tensors };
}

/**
 * @param {Record<string, unknown>} [choices]
 * @param {Partial<import("../../static/js/core/store/link.js").State>} [link]
 * @returns {Page}
 */
function page(choices = {}, link = {}) {
  const options = { ...initialChoices(compare.options ?? {}), other: "model", ...choices };
  const state = { ...DEFAULTS, block: "encoder", source: SOURCE, view: "compare", ...link, options };
  const own = trace();
  own.tokens.source = [at("<2zh>", 0, 0, true), at("the", 0, 3), at(" the", 3, 7)];
  own.output.tokens = [at("这", 0, 1), at("<eos>", 0, 0, true)];
  return { ...createStore(state).get(), status: "ready", model: MODEL, models: [MODEL, GPT], trace: own };
}
/** @param {Page} page @param {any} reply @returns {Page} */
function answered(page, reply) {
  const question = runB(page);
  assert.ok(question);
  return { ...page, answers: { [keyOf(question)]: reply } };
}
/** @param {Page} page */
function shown(page) {
  const found = modelComparison(page);
  assert.ok(found && !(found instanceof Problem));
  return found;
}
const PLACED = { model_b: "gpt", block_b: "decoder", layer_b: 1, head_b: 0 };

test("B reads the same kind of text as A, unless the link names another model", () => {
  const zoo = (/** @type {string} */ id, /** @type {string} */ task) => ({ ...GPT, id, zoo: { task } });
  const [plain, deep, sort] = [zoo("plain", "addition"), zoo("deep", "addition"), zoo("sort", "sort")];
  const among = (/** @type {any} */ model, choices = {}) => ({ ...page(choices), model, models: [plain, MODEL, deep, sort, GPT] });
  const ids = (/** @type {Page} */ one) => otherModels(one).map(({ id }) => id);
  assert.deepEqual(ids(among(MODEL)), ["gpt"]);
  assert.deepEqual(ids(among(plain)), ["deep"]);
  assert.deepEqual(ids(among(sort)), []);
  assert.equal(modelB(among(MODEL, { model_b: "sort" }))?.id, "sort");
  assert.equal(runB(among(sort)), null);
});

test("B is the model of the link, else the first other one, never A itself", () => {
  const third = { ...GPT, id: "third" };
  const all = { ...page(), models: [MODEL, GPT, third] };
  assert.equal(modelB(all)?.id, "gpt");
  assert.equal(modelB({ ...page({ model_b: "third" }), models: all.models })?.id, "third");
  assert.equal(modelB({ ...page({ model_b: "en-zh" }), models: all.models })?.id, "gpt");
  assert.equal(modelB({ ...page(), models: [MODEL] }), null);
  assert.equal(runB({ ...page(), models: [MODEL] }), null);
  assert.deepEqual(otherModels(all).map(({ id }) => id), ["gpt", "third"]);
});

test("B's attention is that over the same texts", () => {
  assert.equal(blockB(page())?.id, "decoder");
  const same = { ...MODEL, id: "same" };
  for (const block of ["encoder", "decoder", "cross"])
    assert.equal(blockB({ ...page({}, { block }), models: [MODEL, same] })?.id, block);
  assert.equal(blockB({ ...page({ block_b: "cross" }), models: [MODEL, same] })?.id, "cross");
  assert.equal(blockB({ ...page({ block_b: "cross" }) })?.id, "decoder", "GPT has no such attention");
});

test("the text goes to B under its own name; changes to A's model do not", () => {
  const asked = page(PLACED, { interventions: [{ at: "encoder.0.self", head: 0, do: "zero" }], direction: "en-zh", target: "这", pad_to: 9 });
  assert.deepEqual(/** @type {any} */ (runB(asked)).trace, { text: SOURCE, model: "gpt", select: ["decoder.1.self.weights", "decoder.1.self.mask"] });
  const same = { ...MODEL, id: "same" };
  const back = { ...page({ ...PLACED, model_b: "same", block_b: "cross", layer_b: 5 }, { direction: "en-zh", target: "这" }), models: [MODEL, same] };
  assert.deepEqual(/** @type {any} */ (runB(back)).trace, {
    source: SOURCE,
    direction: "en-zh",
    target: "这",
    model: "same",
    select: ["decoder.0.cross.weights", "decoder.0.cross.mask"],
  });
  assert.equal(runB({ ...page(PLACED, { source: " " }) }), null);
});

test("without a place in the link, all of the block is asked, and the most informative head opens", () => {
  const first = page();
  const select = ["decoder.0.self.weights", "decoder.0.self.mask", "decoder.1.self.weights", "decoder.1.self.mask"];
  assert.deepEqual(/** @type {any} */ (runB(first)).trace.select, select);
  assert.equal(placed(first), first.link, "nothing is known yet");
  const known = answered(first, answerOf([0, 1]));
  assert.deepEqual(placeB(known), { block: "decoder", layer: 1, head: 0 }, "the others look at themselves");
  assert.deepEqual(placed(known).options, { ...first.link.options, ...PLACED });
  const settled = { ...known, link: placed(known) };
  assert.equal(placed(settled), settled.link, "it says the same again");
  assert.equal(compare.settle?.(known, known).options.head_b, 0);
  assert.equal(compare.settle?.({ ...known, models: [MODEL] }, known).options.other, "sentence", "with one model there is no second");
});

test("tokens of the same characters are subtracted, others not", () => {
  const { a, b, rows, cols, delta, changes } = shown(answered(page(PLACED), answerOf([1])));
  assert.deepEqual([a.rows.steps.length, b.rows.steps.length], [3, 4]);
  assert.deepEqual([rows, cols], [[{ a: 1, b: 0 }], [{ a: 1, b: 0 }]]);
  assert.deepEqual([...(delta?.matrix.values ?? [])].map((value) => value.toFixed(4)), [(1 - 0.2).toFixed(4)]);
  assert.deepEqual(changes.map(({ row, col, a, b }) => [row, col, a.toFixed(1), b]), [[0, 0, "0.2", 1]]);
});

test("the same characters are lit in both maps", () => {
  const found = shown(answered(page(PLACED), answerOf([1])));
  assert.deepEqual(everywhere(found, "a", { row: 2, col: 1 }), {
    a: { row: 2, col: 1, tall: 1, wide: 1 },
    b: { row: 1, col: 0, tall: 3, wide: 1 },
    delta: { row: null, col: 0, tall: 1, wide: 1 },
  });
  assert.deepEqual(everywhere(found, "b", { row: 2, col: null }).a, { row: 2, col: null, tall: 1, wide: 1 });
  assert.deepEqual(everywhere(found, "a", { row: 0, col: 0 }).b, { row: null, col: null, tall: 1, wide: 1 }, "a special token");
  assert.deepEqual(everywhere(found, "delta", { row: 0, col: 0 }).a, { row: 1, col: 1, tall: 1, wide: 1 });
});

test("the written tokens of one model are not the typed ones of another", () => {
  const found = shown(answered(page(PLACED, { block: "cross" }), answerOf([1])));
  assert.equal(found.delta, null);
  assert.equal(found.a.rows.text, "这");
  assert.equal(counterpart(found.a.rows, 0, found.b.rows), null);
  assert.deepEqual(counterpart(found.a.cols, 2, found.b.cols), { first: 1, last: 3 });
  const same = { ...MODEL, id: "same" };
  const other = { ...page({ ...PLACED, model_b: "same", block_b: "cross", layer_b: 0 }, { block: "cross" }), models: [MODEL, same] };
  const both = shown(answered(other, { .../** @type {any} */ (other.trace), id: "3" }));
  assert.deepEqual(both.rows, [{ a: 0, b: 0 }, { a: 1, b: 1 }], "both wrote the same: rows are the tokens that they write");
  assert.equal(both.delta?.matrix.values.length, 6);
});

test("the sentence names what the row looks at most in both", () => {
  const { t, phrase } = translator({});
  const words = (/** @type {any[]} */ parts) => parts.map((part) => (typeof part === "string" ? part : part.children.flat(9).map((/** @type {any} */ one) => one.children?.flat(9).join("") ?? one).join(""))).join("");
  const found = shown(answered(page(PLACED), answerOf([1])));
  const marked = (/** @type {number} */ row) => everywhere(found, "a", { row, col: null });
  assert.equal(words(finding({ t, phrase }, found, marked(1))), "the₁ looks most at the₂ in A (0.70) and at the in B (1.00).");
  assert.equal(words(finding({ t, phrase }, found, marked(0))), "In A, <2zh> looks most at the₂ (0.50).");
  assert.match(words(finding({ t, phrase }, found, marked(2))), /in B \(0\.70\)\.$/, "its last piece has read the others");
});

test("what is wrong with B is told", () => {
  const wrong = new Problem("too-long");
  assert.equal(modelComparison(answered(page(PLACED), wrong)), wrong);
  assert.equal(modelComparison(page(PLACED)), null, "on its way");
});
