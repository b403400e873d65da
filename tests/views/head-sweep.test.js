import assert from "node:assert/strict";
import { test } from "node:test";

import { alignedColumns, startedSweep, remainingTime, layerLines, withChanges, mostDifferent, nameOf, sumOver, pairName, partTensors, largestEffect, recoveredTensors, substitutingPairs, strongest } from "../../static/js/views/whatif/head-sweep.js";
import { placeOf } from "../../static/js/core/wire/model-description.js";
import { MODEL } from "../js/trace.js";

const start = { changes: 3, tokens: {}, logprobs: [-1, -2], contrast: [1, 2] };
/** @param {string} at @param {number} head @param {number[]} delta */
const effect = (at, head, delta) => ({ at, head, delta, divergence: delta.map(Math.abs), contrast: delta, recovered: null });
const some = withChanges(startedSweep(start), { changes: [effect("encoder.0.self", 0, [-0.5, 0.1])], done: 1 });
const whole = withChanges(some, {
  changes: [effect("encoder.0.self", 1, [0.2, 0.2]), effect("decoder.0.cross", 0, [0, -0.7])],
  done: 3,
});

test("a sweep grows as its lines come, and no earlier one is written into", () => {
  assert.equal(some.done, 1);
  assert.deepEqual(Object.keys(some.effects), [nameOf("encoder.0.self", 0)]);
  assert.equal(whole.done, whole.total);
  assert.equal(Object.keys(whole.effects).length, 3);
});

test("the effect on a row is its own, that on the translation the sum of all rows", () => {
  const { delta } = whole.effects[nameOf("encoder.0.self", 0)];
  assert.equal(sumOver(delta, [1]), 0.1);
  assert.equal(sumOver(delta, [0, 1]), -0.4);
  assert.equal(sumOver(delta, [7]), 0, "a row that is not there");
  assert.equal(largestEffect(whole, ({ delta }) => sumOver(delta, [1])), 0.7);
  assert.equal(largestEffect(startedSweep(start), ({ delta }) => delta[0]), 0);
});

test("what is needed most comes first, whatever is in the way comes last", () => {
  assert.deepEqual(strongest(whole, [0, 1], 1).map(({ place, head }) => [place, head]), [["decoder.0.cross", 0]]);
  assert.deepEqual(strongest(whole, [0], 3).map(({ delta }) => delta), [-0.5, 0, 0.2]);
});

test("a pair is worth what it costs beyond both heads, and is not a head", () => {
  const at = "decoder.0.cross";
  const pairs = withChanges(whole, {
    changes: [
      { ...effect(at, 0, [-1, -2]), also: { at, head: 1 }, interaction: [-0.1, -0.2] },
      { ...effect(at, 0, [-1, 0]), also: { at, head: 2 }, interaction: [0.5, -0.4] },
    ],
    done: 5,
  });
  assert.deepEqual(substitutingPairs(pairs, [1]).map(({ heads, interaction }) => [...heads, interaction]), [[0, 2, -0.4], [0, 1, -0.2]]);
  assert.deepEqual(substitutingPairs(pairs, [0, 1])[0].heads, [0, 1]);
  assert.equal(substitutingPairs(pairs, [0])[0].delta, -1);
  assert.deepEqual(strongest(pairs, [0, 1], 9).length, 3, "single heads");
  assert.deepEqual(substitutingPairs(whole, [0]), []);
  const name = pairName(nameOf(at, 0), nameOf(at, 1));
  assert.deepEqual([...partTensors(pairs)[`${name}.interaction`].data], [-0.1, -0.2].map(Math.fround));
  assert.equal(partTensors(pairs)["encoder.0.self 0.interaction"], undefined);
});

test("a sublayer has no head", () => {
  const swept = withChanges(startedSweep(start), { changes: [{ ...effect("encoder.0.ffn.output", 0, [-1, 0]), head: null }], done: 1 });
  assert.deepEqual(strongest(swept, [0], 1), [{ place: "encoder.0.ffn.output", head: null, delta: -1 }]);
});

test("the map has a line for each layer of each attention", () => {
  assert.deepEqual(layerLines(MODEL).map(({ place, heads }) => [place, heads]), [
    ["encoder.0.self", 2],
    ["decoder.0.self", 2],
    ["decoder.0.cross", 2],
  ]);
  for (const { place, block, layer } of layerLines(MODEL)) assert.deepEqual(placeOf(MODEL, place), { block, layer });
});

test("the time left follows from the time taken", () => {
  assert.equal(remainingTime(some, 500), 1000);
  assert.equal(remainingTime(startedSweep(start), 500), Infinity);
  assert.equal(remainingTime(whole, 500), 0);
});

/** @param {string} at @param {number | null} head @param {number | null} token @param {(number | null)[]} recovered */
const patch = (at, head, token, recovered) => ({ ...effect(at, 0, [0, 0]), head, token, recovered });
const patched = withChanges(startedSweep({ ...start, contrast: [1, 2], other: { tokens: {}, contrast: [0, -4], rows: {} } }), {
  changes: [
    patch("decoder.2.cross.mix", 1, null, [null, 0.25]),
    patch("decoder.2.cross.mix", null, null, [null, 0.5]),
    patch("decoder.2.cross.output", null, null, [null, 0.75]),
    patch("source.input", null, 2, [null, 1]),
  ],
  done: 4,
});

test("patches of a mix have the names of their heads, those of a stream of their tokens", () => {
  assert.deepEqual(Object.keys(patched.effects), ["decoder.2.cross 1", "decoder.2.cross", "decoder.2.cross.output", "source.input 2"]);
  assert.equal(nameOf("decoder.2.cross", 1), "decoder.2.cross 1", "as the map calls them");
  assert.equal(largestEffect(patched, ({ recovered }) => recovered?.[0] ?? 0), 0);
  assert.equal(largestEffect(patched, ({ recovered }) => recovered?.[1] ?? 0), 1);
});

test("the row in which both runs differ most is asked about first", () => {
  assert.equal(mostDifferent(patched, [0, 1]), 1);
  assert.equal(mostDifferent(patched, [0]), 0);
  assert.equal(mostDifferent({ ...patched, contrast: [9, 2] }, [0, 1]), 0);
});

test("a row without a counterpart in the other text differs from nothing", () => {
  const shorter = { ...patched, contrast: [9, 2], source: { tokens: {}, contrast: [null, 1.5], rows: {} } };
  assert.equal(mostDifferent(shorter, [0, 1]), 1);
  assert.deepEqual([...recoveredTensors(shorter)["other.contrast"].data], [NaN, 1.5]);
});

test("shares as tensors: by part, and by part and head or token", () => {
  const found = recoveredTensors(patched);
  assert.deepEqual([...found["decoder.2.cross.recovered"].data], [NaN, 0.5]);
  assert.deepEqual([...found["decoder.2.cross.each.recovered"].data], [NaN, NaN, NaN, 0.25]);
  assert.deepEqual(found["source.input.each.recovered"].shape, [3, 2]);
  assert.deepEqual([...found["other.contrast"].data], [0, -4]);
});

test("aligned texts have a column for each pair, and for each token alone", () => {
  const both = (/** @type {[number, number][]} */ rows, theirs = 4, ours = 3) =>
    alignedColumns(theirs, ours, rows).map(({ theirs: a, ours: b }) => `${a ?? "-"}${b ?? "-"}`).join(" ");
  assert.equal(both([[0, 0], [2, 1], [3, 2]]), "00 1- 21 32");
  assert.equal(both([]), "0- 1- 2- 3- -0 -1 -2");
  assert.equal(both([[1, 2]]), "0- -0 -1 12 2- 3-");
});
