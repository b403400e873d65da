import assert from "node:assert/strict";
import { test } from "node:test";

import { COVER, groupAxis, combine, fold, weightShares, coverOfStrongest } from "../../static/js/core/compute/aggregate-attention.js";
import { attention } from "../../static/js/core/wire/model-description.js";
import { MODEL, trace } from "../js/trace.js";

/** @param {import("../../static/js/core/wire/safetensors.js").Matrix} matrix */
const nested = ({ rows, cols, values }) =>
  Array.from({ length: rows }, (_, r) => [...values.subarray(r * cols, (r + 1) * cols)]);
/** @param {number[]} a @param {number[]} b */
function near(a, b) {
  assert.equal(a.length, b.length);
  a.forEach((value, i) =>
    assert.ok(Object.is(value, b[i]) || Math.abs(value - b[i]) < 1e-6, `${value} ≠ ${b[i]}`),
  );
}

/** A generator of its own, so that a failure can be repeated (mulberry32). @param {number} seed */
function chance(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A random head: rows sum to 1 over what a random mask leaves.
 * @param {() => number} random
 * @param {boolean[]} may
 * @param {number} rows
 * @param {number} cols
 */
function head(random, may, rows, cols) {
  const values = new Float32Array(rows * cols).fill(NaN);
  for (let r = 0; r < rows; r++) {
    const row = Array.from({ length: cols }, (_, c) => (may[r * cols + c] ? random() : 0));
    const total = row.reduce((a, b) => a + b);
    row.forEach((value, c) => may[r * cols + c] && (values[r * cols + c] = value / total));
  }
  return { rows, cols, values };
}

/** @param {() => number} random @param {number} length  Cuts at random places. */
function cuts(random, length) {
  /** @type {number[][]} */
  const groups = [];
  for (let i = 0; i < length; i++) {
    if (i && random() < 0.4) groups[groups.length - 1].push(i);
    else groups.push([i]);
  }
  return groups;
}

test("keys of a word are summed, its queries averaged", () => {
  const matrix = attention(MODEL, trace(), { block: "encoder", layer: 0, head: 0 });
  assert.ok(matrix);
  const rows = nested(fold(matrix, [[0], [1, 2]], [[0], [1, 2]]));
  near(rows[0], [0.2, 0.8]);
  near(rows[1], [0.35, 0.65]);
});

test("what the mask forbids adds nothing, and alone stays without a number", () => {
  const matrix = attention(MODEL, trace(), { block: "decoder", layer: 0, head: 0 });
  assert.ok(matrix);
  near(nested(fold(matrix, [[0, 1]], [[0], [1]]))[0], [0.625, 0.375]);
  near(nested(fold(matrix, [[0], [1]], [[0], [1]]))[0], [1, NaN]);
});

test("heads are combined cell by cell", () => {
  const planes = [0, 1].map((head) => attention(MODEL, trace(), { block: "cross", layer: 0, head }));
  const [one, two] = /** @type {import("../../static/js/core/wire/safetensors.js").Matrix[]} */ (planes);
  near(nested(combine([one, two], "mean"))[0], [0.55, 0.1, 0.35]);
  near(nested(combine([one, two], "max"))[1], [1, 0.3, 0.4]);
  assert.equal(combine([one], "one"), one);
});

test("hiding rescales nothing: a row and what it gave to the hidden columns are one", () => {
  const random = chance(7);
  for (let round = 0; round < 200; round++) {
    const [rows, cols] = [1 + Math.floor(random() * 7), 1 + Math.floor(random() * 7)];
    const may = Array.from({ length: rows * cols }, (_, i) => i % cols === 0 || random() < 0.8);
    const planes = [0, 1, 2].map(() => head(random, may, rows, cols));
    const groups = { rows: cuts(random, rows), cols: cuts(random, cols) };
    const hides = (/** @type {number} */ key) => key % 3 === 1;
    const kept = groupAxis(groups.cols, hides);
    const gone = groups.cols.filter(([first]) => hides(first)).flat();
    for (const how of /** @type {const} */ (["one", "mean"])) {
      const folded = planes.map((plane) => fold(plane, groups.rows, kept.groups));
      const seen = combine(folded, how);
      const { shares: hidden } = weightShares(planes, groups.rows, gone, how);
      nested(seen).forEach((row, r) => {
        const sum = row.reduce((a, b) => a + (b || 0), 0) + hidden[r];
        assert.ok(Math.abs(sum - 1) < 1e-5, `row ${r} of round ${round}: ${sum}`);
      });
    }
  }
});

test("the whole pipeline is the definition, cell by cell", () => {
  const random = chance(11);
  for (let round = 0; round < 200; round++) {
    const [rows, cols] = [1 + Math.floor(random() * 6), 1 + Math.floor(random() * 6)];
    const may = Array.from({ length: rows * cols }, () => random() < 0.7);
    const planes = [0, 1, 2].map(() => head(random, may, rows, cols));
    const [R, C] = [cuts(random, rows), cuts(random, cols)];
    const how = /** @type {const} */ (["mean", "max"])[round % 2];
    const seen = combine(
      planes.map((plane) => fold(plane, R, C)),
      how,
    );
    R.forEach((queries, r) =>
      C.forEach((keys, c) => {
        const cells = queries.flatMap((i) => keys.map((j) => i * cols + j));
        const perHead = planes.map(
          ({ values }) =>
            cells.filter((i) => may[i]).reduce((sum, i) => sum + values[i], 0) / queries.length,
        );
        const whole =
          how === "max" ? Math.max(...perHead) : perHead.reduce((a, b) => a + b) / planes.length;
        near([seen.values[r * C.length + c]], [cells.some((i) => may[i]) ? whole : NaN]);
      }),
    );
  }
});

test("every token knows where it is shown, a hidden one that it is not", () => {
  const { groups, at } = groupAxis([[0], [1, 2], [3]], (token) => token === 0);
  assert.deepEqual(groups, [[1, 2], [3]]);
  assert.deepEqual(at, [null, 0, 0, 1]);
});

test("only the strongest cells stay open; equals of the last one stay too", () => {
  const matrix = { rows: 2, cols: 3, values: Float32Array.of(0.5, 0.25, 0.25, NaN, 1, 0) };
  const { cover, shown, open } = coverOfStrongest(matrix, 40);
  const { open: yes, masked, weak } = COVER;
  assert.deepEqual([...cover], [yes, weak, weak, masked, yes, weak]);
  assert.deepEqual([shown, open], [2, 5]);
  assert.deepEqual([...coverOfStrongest(matrix, 60).cover], [yes, yes, yes, masked, yes, weak]);
  assert.equal(coverOfStrongest(matrix).shown, 5, "all, where nothing is asked");
});

test("the strongest n % are as many as can be counted, and none weaker is among them", () => {
  const random = chance(3);
  for (let round = 0; round < 100; round++) {
    const values = Float32Array.from({ length: 40 }, () => (random() < 0.2 ? NaN : random()));
    const percent = 1 + Math.floor(random() * 99);
    const { cover, open } = coverOfStrongest({ rows: 5, cols: 8, values }, percent);
    const seen = [...values].filter((_, i) => cover[i] === COVER.open);
    const weak = [...values].filter((_, i) => cover[i] === COVER.weak);
    assert.equal(seen.length, Math.ceil((open * percent) / 100));
    assert.ok(Math.min(...seen) > Math.max(...weak, -1));
  }
});
