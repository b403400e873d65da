import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST, option, tokenRows } from "../../static/js/views/whatif/kept-runs.js";

const OFF = [{ at: "encoder.0.self", head: 1, do: "zero" }];
const FULL = { source: "Hi.", direction: null, target: null, decode: null, interventions: OFF, chat: null };

test("kept runs survive a link, and hold only what differs from the model's choice", () => {
  const words = option.write([FULL]);
  assert.deepEqual(JSON.parse(words), [{ source: "Hi.", interventions: OFF }]);
  assert.deepEqual(option.read(words), [FULL]);
});

test("what is no list of runs is not read", () => {
  const most = JSON.stringify(Array(MOST).fill({ source: "Hi." }));
  assert.equal(option.read(most)?.length, MOST);
  for (const text of ["", "{}", "[]", "[1]", "[null]", '[{"target":"x"}]', most.replace("]", ',{"source":"Hi."}]')]) {
    assert.equal(option.read(text), null, text);
  }
});

test("a run of which nothing is known yet has no numbers", () => {
  const trace = (/** @type {number[]} */ logprobs) => ({ output: { tokens: logprobs.map((_, i) => ({ template: i === 0 })), logprobs } });
  const run = (/** @type {any} */ forcedTrace) => /** @type {any} */ ({ forcedTrace });
  assert.equal(tokenRows([run(undefined), run(trace([-1, -2]))]), null);
  assert.deepEqual(tokenRows([run(trace([-9, -1, -2])), run(undefined), run(trace([-9, -3, -4]))]), [
    { index: 1, logprobs: [-1, null, -3] },
    { index: 2, logprobs: [-2, null, -4] },
  ]);
});
