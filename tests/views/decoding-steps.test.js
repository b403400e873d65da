import assert from "node:assert/strict";
import { test } from "node:test";

import { plan, planInLink, withoutPrefix } from "../../static/js/core/store/link-options.js";
import {
  NOTHING,
  chances,
  withLine,
  hypothesis,
  measure,
  onPath,
  divergence,
  path,
  penalty,
  runOfTrace,
  tree,
  writtenTokens,
} from "../../static/js/views/decoding/decoding-steps.js";
import { MODEL, tensor, trace } from "../js/trace.js";

const [A, B, EOS] = [
  { id: 1, text: "a", special: false },
  { id: 2, text: "b", special: false },
  { id: 3, text: "<eos>", special: true },
];
const ln = Math.log;

/** @param {typeof A} token @param {number} probability @param {boolean} [kept] */
const candidate = ({ id, text }, probability, kept = false) => ({ id, text, probability, logprob: ln(probability), kept });

/** Two beams, α = 0: "a" leads at first, "b <eos>" wins in the end. */
const STREAM = [
  { start: { decode: { method: "beam" }, max_tokens: 9 } },
  {
    step: {
      index: 0,
      forced: false,
      hypotheses: [
        { ids: [], text: "", logprob: 0, score: 0, candidates: [candidate(A, 0.6, true), candidate(B, 0.3, true)], rest: 0.1 },
      ],
      beams: [
        { parent: 0, token: A, logprob: ln(0.6), score: ln(0.6), state: "live" },
        { parent: 0, token: B, logprob: ln(0.3), score: ln(0.3), state: "live" },
        { parent: 0, token: EOS, logprob: ln(0.1), score: ln(0.1), state: "pruned" },
      ],
    },
  },
  {
    step: {
      index: 1,
      forced: false,
      hypotheses: [
        { ids: [1], text: "a", logprob: ln(0.6), score: ln(0.6), candidates: [candidate(A, 0.4, true), candidate(B, 0.3)], rest: 0.3 },
        { ids: [2], text: "b", logprob: ln(0.3), score: ln(0.3), candidates: [candidate(EOS, 0.9, true)], rest: 0.1 },
      ],
      beams: [
        { parent: 0, token: A, logprob: ln(0.24), score: ln(0.24), state: "live" },
        { parent: 1, token: EOS, logprob: ln(0.27), score: ln(0.27), state: "finished" },
        { parent: 0, token: B, logprob: ln(0.18), score: ln(0.18), state: "pruned" },
      ],
    },
  },
  { end: { output: { text: "b", tokens: [B, EOS], logprobs: [ln(0.3), ln(0.9)], score: ln(0.27), finished: true } } },
];
/** @param {number} lines */
const after = (lines) => STREAM.slice(0, lines).reduce((run, line) => withLine(run, line), NOTHING);
/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("steps appear as they come, and what has been heard stays as it was", () => {
  assert.deepEqual([1, 2, 3].map((lines) => after(lines).steps.length), [0, 1, 2]);
  const early = after(2);
  withLine(early, STREAM[2]);
  assert.equal(early.steps.length, 1);
  assert.equal(withLine(early, { news: 1 }), early);
});

test("what leads is what is written, until the end says what is", () => {
  const texts = (/** @type {number} */ lines) => writtenTokens(after(lines)).map(({ text }) => text);
  assert.deepEqual(texts(1), []);
  assert.deepEqual(texts(2), ["a"]);
  assert.deepEqual(texts(3), ["b", "<eos>"]);
  assert.deepEqual(texts(4), ["b", "<eos>"]);
});

test("a step finds the hypothesis and the beam of a translation", () => {
  const { steps } = after(4);
  assert.equal(hypothesis(steps[1], [2, 3]), 1);
  assert.equal(hypothesis(steps[1], [9, 3]), -1);
  const beam = onPath(steps[1], [2, 3]);
  assert.equal(beam?.state, "finished");
  assert.deepEqual(beam && path(steps[1], beam), [2, 3]);
  assert.equal(onPath(steps[1], [2, 1]), undefined);
});

test("the tree hangs together, and its best path is what is written", () => {
  const nodes = tree(after(4));
  assert.deepEqual(
    nodes.map(({ key, parent, step, row, state, best }) => [key, parent, step, row, state, best]),
    [
      ["1", "", 0, 0, "live", false],
      ["2", "", 0, 1, "live", true],
      ["3", "", 0, 2, "pruned", false],
      ["1,1", "1", 1, 0, "live", false],
      ["2,3", "2", 1, 1, "finished", true],
      ["1,2", "1", 1, 2, "pruned", false],
    ],
  );
  const keys = new Set(nodes.map(({ key }) => key));
  assert.ok(nodes.every(({ parent }) => parent === "" || keys.has(parent)));
  near(nodes[4].probability, 0.9);
  assert.equal(nodes[4].score, ln(0.27));
});

test("where one hypothesis goes on, the tokens passed by are its branches", () => {
  const [, { step }] = STREAM;
  assert.ok(step);
  const greedy = { ...step, beams: [step.beams[0]] };
  const nodes = tree({ ...NOTHING, steps: [/** @type {any} */ (greedy)] }, 1);
  assert.deepEqual(nodes.map(({ key, state, score, best }) => [key, state, score, best]), [
    ["1", "live", ln(0.6), true],
    ["2", "pruned", null, false],
  ]);
  near(nodes[1].probability, 0.3);
});

test("forward and back come to the same step again", () => {
  const run = after(4);
  const there = [0, 1, 0, 1].map((t) => JSON.stringify(run.steps[t]));
  assert.equal(there[0], there[2]);
  assert.equal(there[1], there[3]);
});

test("perplexity is e to the mean of what each token cost", () => {
  const { logprob, entropy, perplexity } = measure([ln(0.5), ln(0.125)]);
  near(logprob, ln(0.0625));
  near(entropy, 2 * Math.LN2);
  near(perplexity, 4);
  assert.ok(Number.isNaN(measure([]).entropy));
});

test("the chance of a draw is p^(1/T) among those that were left", () => {
  const candidates = [candidate(A, 0.5), candidate(B, 0.25), candidate(EOS, 0.2)];
  const hypothesis = { ids: [9], text: "", logprob: -1, score: -1, candidates, rest: 0.05 };
  const sum = 0.5 ** 2 + 0.25 ** 2;
  /** @type {any} */
  const beam = { parent: 0, token: B, logprob: -1 + ln(0.25), pool: 2, drawn: 0.25 ** 2 / sum };
  const [a, b, left] = chances(hypothesis, beam, 0.5) ?? [];
  near(a, 0.5 ** 2 / sum);
  near(b, 0.25 ** 2 / sum);
  assert.equal(left, 0);
  assert.equal(chances(hypothesis, { ...beam, pool: null, drawn: null }, 1), null);
  assert.equal(chances(hypothesis, undefined, 1), null);
});

test("the length penalty is Wu's", () => {
  near(penalty(7, 1), 2);
  near(penalty(7, 0), 1);
});

test("two translations part where their tokens do", () => {
  assert.equal(divergence([A, B, EOS], [A, A, EOS]), 1);
  assert.equal(divergence([A, B], [A, B]), 2);
  assert.equal(divergence([A], [A, B]), 1);
});

test("a link says of decoding only what is not so at first", () => {
  assert.equal(planInLink(plan(null)), null);
  assert.equal(planInLink(plan({ method: "greedy", beam: 7 })), null);
  assert.deepEqual(planInLink(plan({ method: "beam", beam: 4, length_penalty: 1 })), { method: "beam", length_penalty: 1 });
  assert.deepEqual(planInLink(plan({ method: "sample", top_k: 3, seed: 9, beam: 2 })), { method: "sample", top_k: 3, seed: 9 });
  assert.deepEqual(planInLink(plan({ prefix: [4, 5] })), { method: "greedy", prefix: [4, 5] });
  assert.deepEqual(planInLink(plan({ max_tokens: 5 })), { method: "greedy", max_tokens: 5 });
  assert.equal(plan({ method: "no such" }).method, "greedy");
  assert.deepEqual(plan("nonsense").prefix, []);
});

test("the model's own is the same without what was forced", () => {
  assert.equal(withoutPrefix({ method: "greedy", prefix: [4] }), null);
  assert.deepEqual(withoutPrefix({ method: "beam", beam: 2, prefix: [4] }), { method: "beam", beam: 2 });
  const untouched = { method: "beam" };
  assert.equal(withoutPrefix(untouched), untouched);
});

test("a trace alone has each step's most probable tokens, and the words that are known", () => {
  const seen = trace();
  assert.equal(runOfTrace(MODEL, seen), null);
  seen.output.tokens = [{ ...seen.output.tokens[0], id: 7 }, { ...seen.output.tokens[1], id: 3 }];
  seen.output.logprobs = [ln(0.5), ln(0.25)];
  seen.tensors["decoder.probabilities"] = tensor(["query", "rank"], [2, 2], [0.5, 0.25, 0.5, 0.25]);
  seen.tensors["decoder.candidates"] = tensor(["query", "rank"], [2, 2], [7, 8, 9, 3]);
  const run = runOfTrace(MODEL, seen);
  assert.ok(run);
  const [first, second] = run.steps;
  assert.deepEqual(first.hypotheses[0].candidates.map(({ text, kept }) => [text, kept]), [["这", true], [null, false]]);
  seen.pieces = { 8: { text: "那", special: false } };
  assert.equal(runOfTrace(MODEL, seen)?.steps[0].hypotheses[0].candidates[1].text, "那");
  near(first.hypotheses[0].rest, 0.25);
  near(second.beams[0].logprob, ln(0.125));
  assert.equal(second.beams[0].state, "finished");
  assert.deepEqual(writtenTokens(run).map(({ id }) => id), [7, 3]);
});
