import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/data/problem.js";
import { initials } from "../../static/js/state/options.js";
import { keyOf } from "../../static/js/state/questions.js";
import { createStore } from "../../static/js/state/store.js";
import { DEFAULTS } from "../../static/js/state/link.js";
import { OPTIONS } from "../../static/js/views/index.js";
import { attentions, held, pieces, questions, rowsOf, runs, unchanged } from "../../static/js/state/effects.js";
import { MODEL, token, trace } from "./trace.js";

const OFF = [{ at: "decoder.0.cross", head: 0, do: "zero" }];

/** @param {Partial<import("../../static/js/state/link.js").State>} [link] */
function page(link = {}) {
  const state = { ...DEFAULTS, source: "the the", view: "whatif", interventions: OFF, ...link, options: initials(OPTIONS) };
  return { ...createStore(/** @type {any} */ (state)).get(), model: MODEL, trace: trace() };
}

/** @param {ReturnType<typeof page>} of @param {any} before @param {any} after */
const answered = (of, before, after) => ({
  ...of,
  answers: { [keyOf(unchanged(of))]: before, [keyOf(held(of, "这"))]: after },
});

/** @param {number[]} logprobs @param {string[]} texts @param {number[]} [ranks] */
function wrote(logprobs, texts, ranks) {
  const found = trace();
  const tokens = texts.map((text) => token(text, text.startsWith("<")));
  return { ...found, output: { ...found.output, tokens, logprobs, ...(ranks ? { ranks } : {}) } };
}

test("the run without changes is asked by itself; then the changed one, held to what that wrote", () => {
  const asked = /** @type {any[]} */ (questions(page()));
  assert.equal(asked.length, 1);
  assert.equal(asked[0].trace.interventions, undefined);
  const [, second] = /** @type {any[]} */ (questions(answered(page(), trace(), undefined)));
  assert.equal(second.trace.target, "这");
  assert.deepEqual(second.trace.interventions, OFF);
  assert.equal(questions(answered(page({ interventions: null }), trace(), undefined)).length, 1, "nothing is changed");
});

test("what goes wrong with either is told; until both are here there is nothing", () => {
  const problem = new Problem("busy");
  assert.equal(runs(page()), null);
  assert.equal(runs(answered(page(), trace(), undefined)), null);
  assert.equal(runs(answered(page(), problem, undefined)), problem);
  assert.equal(runs(answered(page(), trace(), problem)), problem);
  const [before, after] = [trace(), trace()];
  assert.deepEqual(runs(answered(page(), before, after)), { before, after });
});

test("each token's probability before and after, and where the page's own translation has it", () => {
  const before = wrote([Math.log(0.5), Math.log(0.25)], ["这", "<eos>"], [1, 2]);
  const after = wrote([Math.log(0.1), Math.log(0.75)], ["这", "<eos>"], [7, 1]);
  const own = wrote([-1, -1, -1], ["一", "这", "<eos>"]);
  const rows = rowsOf({ before, after }, own);
  assert.deepEqual(rows.map(({ own }) => own), [1, 2]);
  assert.deepEqual(rows.map(({ ranks }) => ranks), [[1, 7], [2, 1]]);
  assert.deepEqual(rows.map((row) => Number(row.before.toFixed(6))), [0.5, 0.25]);
  assert.deepEqual(rows.map((row) => Number(row.after?.toFixed(6))), [0.1, 0.75]);
  assert.equal(rowsOf({ before: trace(), after: trace() }, own)[0].ranks, null, "nobody counted");
});

test("a token that the other run cuts in another way has no number after", () => {
  const rows = rowsOf({ before: wrote([-1, -1], ["这只", "<eos>"]), after: wrote([-1, -1, -1], ["这", "只", "<eos>"]) }, trace());
  assert.deepEqual(rows.map(({ after }) => after === null), [true, false]);
});

test("translations are cut where they differ, in both", () => {
  const [a, b] = [wrote([], [" the", " dog", " sat", "<eos>"]), wrote([], [" the", " cat", " sat", "<eos>"])];
  assert.deepEqual(pieces(a, b), [
    { text: "the", differs: false },
    { text: " dog", differs: true },
    { text: " sat", differs: false },
  ]);
  assert.deepEqual(pieces(a, a), [{ text: "the dog sat", differs: false }]);
});

test("attention before, after, and the difference, row by row", () => {
  const after = trace();
  after.tensors["decoder.0.cross.weights"].data = Float32Array.from([0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
  const found = attentions(answered(page({ block: "cross" }), trace(), after));
  assert.ok(found);
  const four = [...found.delta.matrix.values].map((value) => Number(value.toFixed(4)));
  assert.deepEqual(four, [-0.1, -0.2, -0.7, -0.3, -0.3, -0.4]);
  assert.deepEqual(found.rows.pairs.map(({ a }) => a), [0, 1], "the same translation: the same rows");
});

test("a pin is the page's own token, or none where its translation has no such", () => {
  const of = { ...page({ block: "decoder" }), trace: wrote([-1, -1, -1], ["一", "这", "<eos>"]) };
  const found = attentions(answered(of, trace(), trace()));
  assert.deepEqual(found?.rows.pairs.map(({ a }) => a), [1, 2]);
  assert.deepEqual(found?.cols.pairs.map(({ a }) => a), [0, 2], "what was written is read a step later");
});
