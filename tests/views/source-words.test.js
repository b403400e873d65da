import assert from "node:assert/strict";
import { test } from "node:test";

import { agreement, attributed, completeness, kendall, largest, tensors } from "../../static/js/views/alignment/alignment-data.js";

/** @param {string} text @param {number} start @param {boolean} [special] */
const token = (text, start, special = false) => ({ text, id: 0, start, end: start + (special ? 0 : text.length), special });

/** "unhappy cat" -> "sad cat", with two pieces on both sides. */
const TOKENS = {
  read: [token("<2zh>", 0, true), token("un", 0), token("happy", 2), token(" cat", 7), token("<eos>", 0, true)],
  written: [token("sa", 0), token("d", 2), token(" cat", 3), token("<eos>", 0, true)],
};
const NATS = { rows: 4, cols: 5, values: Float32Array.of(1, 2, 3, -1, 0, 0, 4, 0, 0.5, 1, 0, -1, -2, -0.5, 0, 9, 9, 9, 9, 9) };

test("values are summed over the pieces of both words", () => {
  const found = attributed(TOKENS, NATS);
  assert.deepEqual([...found.soft.values], [9, -0.5, -3, -0.5]);
  assert.deepEqual(found.special, [2, 0]);
  assert.deepEqual(found.hard, [0, -1]);
  assert.equal(largest(found.soft), 9);
});

/** Count pairs one by one, by comparing rather than by signs. @param {number[]} a @param {number[]} b */
function counted(a, b) {
  let [concordant, discordant, tiedOnlyA, tiedOnlyB] = [0, 0, 0, 0];
  for (let i = 0; i < a.length; i++)
    for (let j = i + 1; j < a.length; j++) {
      const [up, down, ua, ub] = [a[i] < a[j], a[i] > a[j], b[i] < b[j], b[i] > b[j]];
      if ((up && ua) || (down && ub)) concordant++;
      else if ((up && ub) || (down && ua)) discordant++;
      else if (!up && !down && (ua || ub)) tiedOnlyA++;
      else if (up || down) tiedOnlyB++;
    }
  const decided = concordant + discordant;
  return (concordant - discordant) / Math.sqrt((decided + tiedOnlyA) * (decided + tiedOnlyB));
}

test("τ is that of counting pairs", () => {
  let seed = 7;
  const draw = () => (seed = (seed * 48271) % 2147483647) % 5;
  for (let n = 2; n < 40; n++) {
    const [a, b] = [Array.from({ length: n }, draw), Array.from({ length: n }, draw)];
    const [found, wanted] = [kendall(a, b), counted(a, b)];
    assert.ok(Object.is(found, wanted) || Math.abs(found - wanted) < 1e-12, `${a} ${b}: ${found}, not ${wanted}`);
  }
  assert.equal(kendall([1, 2, 3], [10, 20, 30]), 1);
  assert.equal(kendall([1, 2, 3], [3, 2, 1]), -1);
  assert.ok(Number.isNaN(kendall([1, 1], [1, 2])));
});

test("rows agree one by one", () => {
  const one = { rows: 2, cols: 3, values: Float32Array.of(1, 2, 3, 1, 2, 3) };
  const other = { rows: 2, cols: 3, values: Float32Array.of(0, 0.5, 0.6, 1, 3, 2) };
  const [first, second] = agreement(one, other);
  assert.equal(first, 1);
  assert.ok(Math.abs(second - 1 / 3) < 1e-12);
});

test("completeness is the farthest row; padding counts for nothing", () => {
  const [values, change] = tensors("integrated-gradients");
  const over = { query: "target", key: "source" };
  const trace = (/** @type {number} */ first, /** @type {number} */ second) =>
    /** @type {any} */ ({
      tensors: {
        [values]: { dims: ["query", "key"], over, shape: [3, 2], dtype: "float32", data: Float32Array.of(1, 2, 4, 5, NaN, NaN) },
        [change]: { dims: ["query"], over, shape: [3], dtype: "float32", data: Float32Array.of(first, second, NaN) },
      },
    });
  assert.deepEqual(completeness(trace(3.25, 8.5)), { sum: 3, change: 3.25, complete: false }, "8 % count more than 6 %");
  assert.deepEqual(completeness(trace(3.03125, 9)), { sum: 3, change: 3.03125, complete: true });
  assert.equal(completeness(/** @type {any} */ ({ tensors: {} })), null);
  assert.deepEqual(tensors("occlusion"), ["inside.occlusion"]);
});
