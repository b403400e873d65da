import assert from "node:assert/strict";
import { test } from "node:test";

import { findingOf, mostFollowableRow, mostSalientRow, informativeness } from "../../static/js/core/compute/attention-row.js";
import { four, two } from "../../static/js/lib/numbers.js";

const row = (/** @type {number[]} */ ...values) => Float32Array.from(values);

test("a finding claims no more than the printed numbers do", () => {
  const { kind, weight } = /** @type {any} */ (findingOf(row(0.1, 0.61, 0.29)));
  assert.deepEqual([kind, weight.toFixed(2)], ["most", "0.61"]);
  assert.equal(findingOf(row(0.498, 0.502)).kind, "both");
  assert.equal(findingOf(row(0.25, 0.25, 0.25, 0.25)).kind, "spread");
  assert.equal(findingOf(row(1, NaN, NaN)).kind, "only");
  assert.equal(findingOf(row(NaN, NaN)).kind, "nothing");
  assert.equal(findingOf(row(0, 0)).kind, "nothing");
});

test("masked cells neither win nor tie", () => {
  assert.deepEqual(/** @type {any} */ (findingOf(row(NaN, 0.3, 0.7))).keys, [2]);
});

test("the first row shown is a word's that looks at another word, not at itself", () => {
  const values = row(0, 0, 1, 0.1, 0.9, 0, 0.2, 0.6, 0.2);
  const tokens = [false, true, true];
  assert.equal(mostSalientRow({ rows: 3, cols: 3, values }, tokens, tokens, true), 2);
  assert.equal(mostSalientRow({ rows: 3, cols: 3, values }, tokens, tokens, false), 1);
});

test("the first row to follow has a weight that can be worked out by hand, as far as there is such a row", () => {
  const first = (/** @type {number[]} */ ...most) => {
    const values = row(...most.flatMap((weight) => [weight, ...Array(9).fill((1 - weight) / 9)]));
    return mostFollowableRow({ rows: most.length, cols: 10, values }, most.map(() => true), Array(10).fill(true), false);
  };
  assert.equal(first(0.99, 0.4, 0.79, 0.9), 2, "the clearest of those between 0.2 and 0.8");
  assert.equal(first(0.999, 0.21, 0.95), 1);
  assert.equal(first(0.8, 0.81), 0);
  assert.equal(first(0.99, 0.85, 0.95), 1, "else the one that leaves most to others");
  assert.equal(first(0.17, 0.19, 0.18), 1, "else the largest");
  assert.equal(first(0.17, 0.99), 1);
  assert.equal(first(0.2, 0.99), 0);
  const both = row(0.99, 0, 0.01, 0.5, 0.5, 0);
  assert.equal(mostFollowableRow({ rows: 2, cols: 3, values: both }, [true, true], [true, true, true], false), 1, "equally at two words");
  assert.equal(mostFollowableRow({ rows: 2, cols: 3, values: both }, [true, true], [true, false, true], false), 0, "one of them is none");
});

test("a head tells more the harder its words look at different words", () => {
  const tokens = [{ special: false }, { special: false }, { special: true }];
  const score = (/** @type {number[]} */ ...values) =>
    informativeness({ rows: 3, cols: 3, values: row(...values) }, tokens, tokens);
  const aligned = score(0, 0.9, 0.1, 0.9, 0, 0.1, 0, 0, 1);
  assert.ok(aligned > score(0, 0.6, 0.4, 0.6, 0, 0.4, 0, 0, 1), "harder");
  assert.ok(aligned > score(0.9, 0, 0.1, 0.9, 0, 0.1, 0, 0, 1), "at different words");
  assert.equal(score(0, 0, 1, 0, 0, 1, 1, 0, 0), 0, "special tokens say nothing");
});

test("numbers have a minus sign, and no zero is negative", () => {
  assert.deepEqual(
    [two(0.614), two(-0.5), four(-8.76214)],
    ["0.61", "−0.50", "−8.7621"],
  );
});
