import assert from "node:assert/strict";
import { test } from "node:test";

import { check, decay, dotProducts, mostAlike, pairs, rotationMatrix, shiftedEncoding, wavelength } from "../../static/js/core/compute/positions.js";

/** Section 3.5, written down once more. @param {number} rows @param {number} cols */
function table(rows, cols) {
  const values = Float32Array.from({ length: rows * cols }, (_, i) => {
    const [pos, feature] = [Math.floor(i / cols), i % cols];
    const angle = pos / Math.pow(10000, (feature - (feature % 2)) / cols);
    return feature % 2 ? Math.cos(angle) : Math.sin(angle);
  });
  return { rows, cols, values };
}

/** @param {{rows: number, cols: number, values: Float32Array}} table */
function similarity({ rows, cols, values }) {
  const dot = (/** @type {number} */ a, /** @type {number} */ b) => {
    let sum = 0;
    for (let c = 0; c < cols; c++) sum += values[a * cols + c] * values[b * cols + c];
    return sum;
  };
  const out = Float32Array.from({ length: rows * rows }, (_, i) => {
    const [a, b] = [Math.floor(i / rows), i % rows];
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  });
  return { cosines: { rows, cols: rows, values: out }, dot };
}

test("waves are as long as the paper says", () => {
  assert.equal(wavelength(0, 8), 2 * Math.PI);
  assert.equal(wavelength(1, 8), 2 * Math.PI);
  assert.ok(Math.abs(wavelength(6, 8) - 2 * Math.PI * 1000) < 1e-9);
  assert.deepEqual([pairs(8), pairs(7), pairs(1)], [4, 3, 0]);
});

test("a quarter turn makes the cosine of the sine", () => {
  const [[a, b], [c, d]] = rotationMatrix(Math.PI / 2);
  assert.deepEqual([a, b, c, d].map(Math.round), [0, 1, -1, 0]);
});

for (const [rows, cols, k] of [
  [12, 8, 1],
  [40, 256, 7],
  [9, 7, 8],
  [300, 64, 250],
]) {
  test(`${rows} positions of ${cols} features are each other's rotations by ${k}`, () => {
    const { largest, compared } = check(table(rows, cols), k);
    assert.ok(largest < 1e-6, String(largest));
    assert.equal(compared, (rows - k) * 2 * pairs(cols));
  });
}

test("what is no such encoding is told apart", () => {
  const wrong = table(12, 8);
  wrong.values[5] += 0.1;
  assert.ok(check(wrong, 1).largest > 0.05);
});

test("an odd feature has no partner", () => {
  const moved = shiftedEncoding(table(3, 5), 1);
  assert.ok([4, 9, 14].every((at) => Number.isNaN(moved.values[at])));
});

test("a dot product is the cosine times both lengths", () => {
  const one = table(6, 7);
  const { cosines, dot } = similarity(one);
  dotProducts(one, cosines).values.forEach((value, i) =>
    assert.ok(Math.abs(value - dot(Math.floor(i / 6), i % 6)) < 1e-5),
  );
});

test("how alike two positions are depends on their distance alone, where the width is even", () => {
  const even = table(20, 16);
  const { mean, spread } = decay(dotProducts(even, similarity(even).cosines));
  assert.ok(spread < 1e-5);
  mean.forEach((value, distance) => {
    let sum = 0;
    for (let i = 0; i < 8; i++) sum += Math.cos(distance / 10000 ** ((2 * i) / 16));
    assert.ok(Math.abs(value - sum) < 1e-5);
  });
  const odd = table(20, 3);
  assert.ok(decay(dotProducts(odd, similarity(odd).cosines)).spread > 1e-4);
});

test("the two most alike positions are neighbours, at the cosine of one step", () => {
  const { cosines } = similarity(table(20, 16));
  const alike = mostAlike(cosines);
  let step = 0;
  for (let i = 0; i < 8; i++) step += Math.cos(10000 ** ((-2 * i) / 16)) / 8;
  assert.equal(alike && alike.b - alike.a, 1);
  assert.ok(Math.abs((alike?.value ?? 0) - step) < 1e-5);
  assert.equal(mostAlike({ rows: 1, cols: 1, values: Float32Array.of(1) }), null);
});
