import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { initialChoices } from "../../static/js/core/store/link-options.js";
import { withRemembered, traceOfQuestion } from "../../static/js/core/store/runs-with-and-without-changes.js";
import { keyOf, runQuestion } from "../../static/js/core/store/view-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { OPTIONS } from "../../static/js/views/index.js";
import { attentions, forcedRun, sharedQuestions, pieces, questions, rowsOf, runs, unchanged, writing } from "../../static/js/views/whatif/before-after.js";
import { MODEL, token, trace } from "../js/trace.js";

const OFF = [{ at: "decoder.0.cross", head: 0, do: "zero" }];

/** @param {Partial<import("../../static/js/core/store/link.js").State>} [link] */
function page(link = {}) {
  const state = { ...DEFAULTS, block: "encoder", source: "the the", view: "whatif", interventions: OFF, ...link, options: initialChoices(OPTIONS) };
  return { ...createStore(/** @type {any} */ (state)).get(), model: MODEL, trace: trace() };
}

/** @param {ReturnType<typeof page>} of @param {any} before @param {any} after */
const answered = (of, before, after) => ({
  ...of,
  answers: { [keyOf(unchanged(of))]: before, [keyOf(forcedRun(of, trace()))]: after },
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
  assert.equal(second.trace.target, undefined, "a text could be cut into other tokens");
  assert.deepEqual(second.trace.decode, { method: "greedy", prefix: [0, 0], max_tokens: 2 });
  assert.deepEqual(second.trace.interventions, OFF);
  assert.equal(questions(answered(page({ interventions: null }), trace(), undefined)).length, 1, "nothing is changed");
});

test("what was sampled is held to its own tokens, a text that was given to the text", () => {
  const before = trace();
  before.output.tokens = [7, 9, 2].map((id) => ({ ...token("这"), id }));
  const sampled = page({ decode: { method: "sample", seed: 38 } });
  const forced = { method: "greedy", prefix: [7, 9, 2], max_tokens: 3 };
  assert.deepEqual(/** @type {any} */ (forcedRun(sampled, before)).trace.decode, forced);
  assert.deepEqual(writing(sampled.link, before), { target: null, decode: forced });
  const given = /** @type {any} */ (forcedRun(page({ target: "这只" }), before));
  assert.equal(given.trace.target, "这只");
  assert.equal(given.trace.decode, undefined);
});

test("a text is held to its continuation, and only that is shown", () => {
  const before = trace();
  before.output.tokens = [3, 4, 8, 9].map((id) => ({ ...token(`w${id}`), id }));
  before.output.continues = 2;
  assert.deepEqual(writing(page().link, before), { target: null, decode: { method: "greedy", prefix: [8, 9], max_tokens: 2 } });
  const other = { ...before, output: { ...before.output, tokens: [3, 4, 8, 7].map((id) => ({ ...token(`w${id}`), id })) } };
  assert.deepEqual(pieces(before, other), [{ text: "w8", differs: false }, { text: "w9", differs: true }]);
});

test("an older share held the text: it counts where it was cut into the same tokens", () => {
  const of = { ...page(), share: /** @type {any} */ ({}), live: false };
  const other = trace();
  other.output.tokens = [{ ...token("这"), id: 5 }, ...other.output.tokens];
  const byText = runQuestion(of, { target: "这", decode: null, select: ["encoder.0.self.weights", "encoder.0.self.mask"] });
  const gone = new Problem("frozen");
  const older = (/** @type {any} */ after) => ({ ...answered(of, trace(), gone), answers: { ...answered(of, trace(), gone).answers, [keyOf(byText)]: after } });
  const after = trace();
  assert.equal(/** @type {any} */ (runs(older(after))).after, after);
  assert.equal(runs(older(other)), gone, "another translation");
  assert.equal(runs({ ...older(after), live: true }), gone, "the model is there to be asked");
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
  assert.deepEqual(rows.map(({ shownIndex: own }) => own), [1, 2]);
  assert.deepEqual(rows.map(({ ranks }) => ranks), [[1, 7], [2, 1]]);
  assert.deepEqual(rows.map((row) => Number(row.before.toFixed(6))), [0.5, 0.25]);
  assert.deepEqual(rows.map((row) => Number(row.after.toFixed(6))), [0.1, 0.75]);
  assert.equal(rowsOf({ before: trace(), after: trace() }, own)[0].ranks, null, "nobody counted");
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

test("a changed run that writes the same by itself is not made to write it once more", () => {
  const of = { ...answered(page(), trace(), undefined), status: /** @type {const} */ ("ready") };
  assert.equal(questions(of).length, 1);
  assert.equal(/** @type {any} */ (runs(of)).after, of.trace);
  assert.equal(runs({ ...of, status: "waiting" }), null, "the trace is still that of the link before");
  const other = { ...of, trace: wrote([-1, -1, -1], ["一", "这", "<eos>"]) };
  other.trace.output.tokens[0].id = 9;
  assert.equal(questions(other).length, 2, "another translation");
  assert.equal(runs(other), null);
});

test("what the page has seen of the run without changes answers for it", () => {
  const plain = { ...page({ interventions: null }), status: /** @type {const} */ ("ready") };
  const { runs } = withRemembered(plain);
  assert.equal(runs.trained?.trace, plain.trace);
  const changed = { ...page(), status: plain.status, runs };
  assert.equal(withRemembered(changed).runs.trained, runs.trained, "a changed run does not take its place");
  assert.equal(traceOfQuestion(changed, unchanged(changed)), plain.trace);
  assert.equal(traceOfQuestion(changed, forcedRun(changed, trace())), null, "another run");
  assert.equal(traceOfQuestion({ ...changed, runs: { trained: null, changed: null } }, unchanged(changed)), null);
  const elsewhere = { ...page({ source: "a cat" }), runs };
  assert.equal(traceOfQuestion(elsewhere, unchanged(elsewhere)), null, "another sentence");
  const there = { ...page({ layer: 1, options: { ...initialChoices(OPTIONS), effect: "attention" } }), runs };
  there.link.options.effect = "attention";
  assert.equal(traceOfQuestion(there, unchanged(there)), null, "its weights are not here yet");
});

test("tensors are asked of the two runs where their attention is shown, and for a share always", () => {
  const select = (/** @type {any} */ question) => question.trace.select.length;
  const of = answered(page(), trace(), undefined);
  assert.deepEqual(questions(of).map(select), [0, 0]);
  assert.deepEqual(sharedQuestions(of).map(select), [2, 2]);
  const shown = page();
  shown.link.options.effect = "attention";
  assert.equal(select(unchanged(shown)), 2);
  assert.equal(select(unchanged({ ...page(), share: /** @type {any} */ ({}) })), 2);
});
