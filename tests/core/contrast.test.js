import assert from "node:assert/strict";
import { test } from "node:test";

import {
  RUNNER_UP, ahead, contrastAt, contrastOption, contrastTensors, gradientOf, gradientRow, isAwaited, isItself,
  mostProbable, partOf, recorded, rivals, settledContrast,
} from "../../static/js/core/compute/predictions.js";
import { contributions, lensTensors, relevance } from "../../static/js/core/compute/logit-lens.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, tensor, token, trace } from "../js/trace.js";

const link = (/** @type {string | null} */ contrast, /** @type {number | null} */ query = null) => ({ block: "decoder", layer: 0, head: 0, query, options: { contrast } });

/** Two layers, three rows: the last is padding. Row 0 writes 7, row 1 writes 1. */
function seen() {
  const made = trace();
  made.output.tokens = [{ ...token("这"), id: 7 }, { ...token("<eos>", true), id: 1 }];
  made.pieces = { 7: { text: "这", special: false }, 9: { text: "那", special: false }, 3: { text: "它", special: false }, 1: { text: "<eos>", special: true } };
  const scalar = (/** @type {number} */ value) => tensor(["query"], [3], [value, 2 * value, NaN]);
  const byLayer = (/** @type {number} */ value) => tensor(["layer", "query"], [1, 3], [value, 2 * value, NaN]);
  const heads = (/** @type {number} */ value) => tensor(["layer", "head", "query"], [1, 2, 3], [value, 2 * value, NaN, value, -value, NaN]);
  const sum = (/** @type {string} */ prefix, /** @type {number} */ by) => ({
    [`${prefix}.self`]: heads(by), [`${prefix}.cross`]: heads(-by), [`${prefix}.ffn`]: byLayer(by), [`${prefix}.bias`]: byLayer(0),
    [`${prefix}.norm`]: byLayer(-by), [`${prefix}.embedding`]: scalar(by), [`${prefix}.position`]: scalar(4 * by), [`${prefix}.total`]: scalar(5 * by),
  });
  Object.assign(made.tensors, {
    "inside.lens.candidates": tensor(["layer", "query", "rank"], [2, 3, 3], [9, 9, 9, 9, 9, 9, 0, 0, 0, 7, 9, 3, 7, 1, 9, 0, 0, 0]),
    ...sum("inside.logit", 1),
    ...sum("inside.contrast.runner-up", 0.5),
    "inside.contrast.runner-up.lens": tensor(["layer", "query"], [2, 3], [-1, 0.5, NaN, 2.5, -0.25, NaN]),
    "inside.contrast.runner-up.candidates": tensor(["query"], [3], [9, 7, 0]),
    "inside.contrast.7.candidates": tensor(["query"], [3], [7, 7, 0]),
    "inside.contrast.7.lens": tensor(["layer", "query"], [2, 3], [0, 1, NaN, 0, 2, NaN]),
    "inside.contrast.runner-up.1.decoder.0.self": tensor(["head", "query", "key"], [1, 2, 2], [1, 2, 3, 4]),
    "inside.relevance.decoder.0.self": tensor(["head", "query", "key"], [1, 2, 2], [5, 6, 7, 8]),
    "decoder.0.self.mask": tensor(["query", "key"], [2, 2], [1, 1, 1, 1]),
  });
  return made;
}

test("a link names an id or the runner-up, and nothing else", () => {
  const { initial, read, write } = contrastOption();
  assert.equal(initial, null);
  assert.deepEqual(["runner-up", "0", "312", "9999999"].map(read), ["runner-up", "0", "312", "9999999"]);
  assert.deepEqual(["", "-1", "01", "1.5", "all", "12345678", "runner-up "].map(read), Array(7).fill(null));
  assert.equal(write("312"), "312");
});

test("a row is contrasted with the token that the server names, layer by layer", () => {
  assert.deepEqual(contrastAt(MODEL, seen(), link(RUNNER_UP), 0), { with: "runner-up", other: { id: 9, text: "那", special: false }, lens: [-1, 2.5] });
  assert.deepEqual(contrastAt(MODEL, seen(), link("7"), 1)?.lens, [1, 2]);
  assert.equal(contrastAt(MODEL, seen(), link(null), 0), null);
  assert.equal(contrastAt(MODEL, seen(), link("3"), 0), null, "not in the trace");
  assert.equal(contrastAt(MODEL, seen(), link(RUNNER_UP), 2), null, "padding");
});

test("no token is contrasted with itself", () => {
  assert.equal(isItself(MODEL, seen(), link("7"), 0), true);
  assert.equal(contrastAt(MODEL, seen(), link("7"), 0), null);
  assert.equal(isItself(MODEL, seen(), link("7"), 1), false);
  assert.equal(isItself(MODEL, seen(), link(null), 0), false);
  assert.equal(isItself(MODEL, trace(), link("7"), 0), false);
});

test("a row's rivals are its most probable other tokens, the runner-up first", () => {
  assert.deepEqual(rivals(MODEL, seen(), 0).map(({ text }) => text), ["那", "它"]);
  assert.deepEqual(rivals(MODEL, seen(), 1).map(({ id }) => id), [7, 9]);
  assert.deepEqual(rivals(MODEL, trace(), 0), []);
  assert.equal(mostProbable(seen(), 1), 7);
});

test("the parts of a contrast add up as those of a logit do", () => {
  const sum = contributions(MODEL, seen(), 1, RUNNER_UP);
  assert.ok(sum);
  assert.deepEqual(sum.heads.map(({ values }) => values), [[[1, -0.5]], [[-1, 0.5]]]);
  assert.deepEqual([sum.sum, sum.logit], [5, 5]);
  assert.equal(contributions(MODEL, seen(), 1)?.logit, 10);
  assert.equal(contributions(MODEL, seen(), 1, "3"), null);
  assert.deepEqual([partOf(null, "self"), partOf("3", "self")], ["inside.logit.self", "inside.contrast.3.self"]);
});

test("a contrast is asked for together with all else, its gradient for the pinned row", () => {
  const names = lensTensors(MODEL, link(RUNNER_UP, 1));
  for (const part of ["self", "cross", "ffn", "bias", "norm", "embedding", "position", "total", "lens", "candidates", "1.decoder.0.self"]) assert.ok(names.includes(`inside.contrast.runner-up.${part}`), part);
  assert.ok(names.includes("inside.logit.total"), "which is shown beside it");
  assert.ok(!names.some((name) => name.startsWith("inside.relevance")));
  assert.ok(lensTensors(MODEL, link(RUNNER_UP)).includes("inside.relevance.decoder.0.self"), "without a pin, of the whole output");
  assert.ok(!lensTensors(MODEL, link(null, 1)).some((name) => name.startsWith("inside.contrast")));
  assert.deepEqual(contrastTensors({}, ["self"]), []);
  assert.equal(isAwaited(seen(), link(RUNNER_UP)), false);
  assert.equal(isAwaited(seen(), link("3")), true);
  assert.equal(isAwaited(seen(), link(null)), false);
});

test("the gradient is of the pinned row if that has a contrast", () => {
  assert.equal(gradientRow(MODEL, link(RUNNER_UP, 1), seen()), 1);
  assert.equal(gradientRow(MODEL, link(RUNNER_UP, 2), seen()), null, "padding");
  assert.equal(gradientRow(MODEL, link("7", 0), seen()), null, "its own token");
  assert.equal(gradientRow(MODEL, link(RUNNER_UP, 5), null), 5, "not known yet");
  assert.equal(gradientRow(MODEL, link(null, 1), seen()), null);
  assert.equal(gradientRow(MODEL, link(RUNNER_UP), seen()), null);
  assert.equal(gradientOf(link("12"), 3, "decoder.0.self"), "inside.contrast.12.3.decoder.0.self");
  assert.deepEqual([...(relevance(MODEL, seen(), link(RUNNER_UP, 1))?.values ?? [])], [1, 2, 3, 4]);
  assert.deepEqual([...(relevance(MODEL, seen(), link(RUNNER_UP))?.values ?? [])], [5, 6, 7, 8]);
});

test("a token is ahead from the layer on after which the contrast stays above zero", () => {
  assert.deepEqual([ahead([-1, 2, 3]), ahead([1, -1, 2]), ahead([1, 1]), ahead([1, 0]), ahead([NaN, 1])], [1, 2, 0, null, 1]);
});

test("a trace says which contrasts it has", () => {
  assert.deepEqual(recorded(seen()), ["runner-up", "7"]);
  assert.deepEqual(recorded(trace()), []);
});

test("a token's id means nothing in another model", () => {
  const of = (/** @type {string | null} */ contrast, /** @type {string | null} */ model) => ({ link: { ...DEFAULTS, model, options: { contrast } } });
  const settled = (/** @type {string | null} */ now, /** @type {string | null} */ before = now) => settledContrast(of(now, "b"), of(before, "a")).options.contrast;
  assert.deepEqual([settled("12"), settled("12", "13"), settled(RUNNER_UP), settled(null)], [RUNNER_UP, "12", RUNNER_UP, null]);
  const same = of("12", "a");
  assert.equal(settledContrast(same, of("12", "a")), same.link);
});
