import assert from "node:assert/strict";
import { test } from "node:test";

import {
  allSteps, byteText, cacheBytes, cachedStep, layerCosts, learningRate, milestones, uncachedStep, weightBytes,
} from "../../static/js/lab/formulas/costs.js";
import { atWeight, descend } from "../../static/js/lab/formulas/gradients.js";
import { encoding } from "../../static/js/core/compute/positions.js";

test("costs of the paper's table", () => {
  const [attention, recurrence, convolution, window] = layerCosts({ n: 50, d: 512, k: 3, w: 8 });
  assert.deepEqual([attention.count, recurrence.count, convolution.count, window.count], [1_280_000, 13_107_200, 39_321_600, 204_800]);
  assert.deepEqual([attention, recurrence, convolution, window].map(({ steps }) => steps), ["1", "50", "1", "1"]);
  // 3⁴ = 81 is the first power of 3 that reaches 50 tokens; 50 / 8 windows.
  assert.deepEqual([attention, recurrence, convolution, window].map(({ path }) => path), ["1", "50", "4", "7"]);
  // Exactly 3³ tokens take three layers; a window is never wider than the text.
  const exact = layerCosts({ n: 27, d: 4, k: 3, w: 99 });
  assert.deepEqual([exact[2].path, exact[3].path, exact[3].count], ["3", "1", exact[0].count]);
  assert.equal(layerCosts({ n: 5, d: 4, k: 1, w: 1 })[2].path, "5");
});

test("the rate rises to its peak and falls", () => {
  // The paper's base model: 512^−0.5 · 4000^−0.5.
  assert.ok(Math.abs(learningRate(4000, 512, 4000) - 6.98771e-4) < 1e-9);
  assert.ok(Math.abs(learningRate(2000, 512, 4000) - learningRate(4000, 512, 4000) / 2) < 1e-12);
  assert.ok(Math.abs(learningRate(16000, 512, 4000) - learningRate(4000, 512, 4000) / 2) < 1e-12);
  assert.deepEqual(milestones(4000), [1, 2000, 4000, 8000, 16000, 100000]);
  assert.deepEqual(milestones(1), [1, 2, 4, 25]);
});

test("PE(1, 8) of the paper's formula", () => {
  const expected = [0.8414709848, 0.5403023059, 0.0998334166, 0.9950041653, 0.0099998333, 0.9999500004, 0.0009999998, 0.9999995];
  encoding(1, 8).forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-9, String(value)));
  assert.deepEqual(encoding(0, 3), [0, 1, 0]);
});

test("what the next token costs, counted one by one", () => {
  const sizes = { length: 7, layers: 2, features: 4, heads: 2, bytes: 4 };
  const weights = 4 * 4 * 4 + 4 * 16 + 16 * 4; // W_Q, W_K, W_V, W_O and the network, of a layer
  const pair = 4 + 4; // a product with the key, and one with the value
  const total = { cached: 0, uncached: 0 };
  const last = { cached: 0, uncached: 0 };
  for (let read = 1; read <= sizes.length; read++) {
    last.cached = 2 * (weights + read * pair);
    last.uncached = 0;
    for (let row = 1; row <= read; row++) last.uncached += 2 * (weights + row * pair);
    total.cached += last.cached;
    total.uncached += last.uncached;
  }
  assert.equal(cachedStep(sizes).multiplications, last.cached);
  assert.equal(uncachedStep(sizes).multiplications, last.uncached);
  assert.deepEqual(allSteps(sizes), total);
  assert.equal(cacheBytes(sizes), 2 * 7 * 2 * 4 * 4); // a key and a value, tokens, layers, features
  assert.equal(weightBytes(sizes), 2 * 2 * 7 * 7 * 4);
  assert.equal(cachedStep({ ...sizes, length: 6 * 4 }).pairShare, 0.5);
  assert.deepEqual([byteText(999), byteText(79_872), byteText(9.6e9)], ["999 bytes", "79.9 kB", "9.6 GB"]);
});

test("a weight moves against the gradient of its loss", () => {
  const loss = (/** @type {number} */ w, /** @type {number} */ share) => {
    const a = 1 / (1 + Math.exp(-w));
    return -share * Math.log(a) - (1 - share) * Math.log(1 - a);
  };
  for (const share of [0, 0.7, 1])
    for (const w of [-3, 0, 0.7]) {
      const step = 1e-6;
      const slope = (loss(w + step, share) - loss(w - step, share)) / (2 * step);
      assert.ok(Math.abs(atWeight(w, share).gradient - slope) < 1e-8);
      assert.ok(Math.abs(atWeight(w, share).loss - loss(w, share)) < 1e-12);
    }
  const path = descend(0, 1, 2);
  assert.deepEqual(path[0], { w: 0, attention: 0.5, loss: Math.LN2, gradient: -0.5 });
  assert.equal(path[1].w, 0.5);
  assert.equal(path[2].w, 0.5 + 1 - path[1].attention);
  assert.ok(path[2].loss < path[1].loss);
  // At a rate that is too high for it, the weight jumps over the lowest loss and back.
  const sides = descend(0, 10, 6, 0.7).map(({ attention }) => attention > 0.7);
  assert.deepEqual(sides, [false, true, false, true, false, true, false]);
  const weights = descend(0, 1, 60, 0.7).map(({ attention }) => attention);
  assert.ok(weights.every((weight, i) => i === 0 || weight > weights[i - 1]) && Math.abs(weights[60] - 0.7) < 1e-4);
});
