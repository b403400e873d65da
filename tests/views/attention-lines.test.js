import assert from "node:assert/strict";
import { test } from "node:test";

import { attention } from "../../static/js/core/wire/model-description.js";
import { contrast, hues, rgb } from "../../static/js/core/draw/colour-scales.js";
import { average, chosen, dash, strands, toggled, isOnHighlight } from "../../static/js/views/lines/attention-lines.js";
import { MODEL, trace } from "../js/trace.js";

/** @param {"encoder" | "decoder" | "cross"} block @param {number[]} list */
const heads = (block, list) =>
  list.map((head) => {
    const matrix = attention(MODEL, trace(), { block, layer: 0, head });
    assert.ok(matrix);
    return { head, matrix };
  });
const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e-6, `${a}, not ${b}`);

test("a pair has a line from the threshold on, and the strongest lies on top", () => {
  const found = strands(heads("encoder", [0]), { least: 0.3, most: 100 });
  assert.deepEqual(
    found.strands.map(({ query, key }) => [query, key]),
    [[0, 1], [2, 1], [0, 2], [2, 0], [1, 2]],
  );
  assert.equal(found.hidden, 4);
  near(found.mass, (0.2 + 0.1 + 0.2 + 0.1) / 3);
  assert.equal(found.cut, false);
});

test("with more lines than there may be the strongest stay", () => {
  const found = strands(heads("encoder", [0, 1]), { least: 0, most: 4 });
  assert.deepEqual(found.strands.map(({ head }) => head), [0, 1, 1, 1]);
  assert.equal(found.cut, true);
  assert.equal(found.hidden, 14);
});

test("masked pairs have no line and are not counted as hidden", () => {
  const found = strands(heads("decoder", [0]), { least: 0.5, most: 100 });
  assert.deepEqual(found.strands.map(({ query, key }) => [query, key]), [[1, 1], [0, 0]]);
  assert.equal(found.hidden, 1);
  assert.equal(strands(heads("decoder", [1]), { least: 0, most: 100 }).strands.length, 3);
});

test("a threshold of nothing leaves no line of nothing", () => {
  assert.equal(strands(heads("cross", [1]), { least: 0, most: 100 }).strands.length, 2);
});

test("numbers are the mean of the heads that are on", () => {
  const mean = average(heads("cross", [0, 1]));
  assert.deepEqual(Array.from(mean?.values ?? [], (n) => Number(n.toFixed(3))), [0.55, 0.1, 0.35, 0.65, 0.15, 0.2]);
  const masked = average(heads("decoder", [0, 1]));
  assert.ok(Number.isNaN(masked?.values[1]));
  assert.equal(average([]), null);
});

test("a lit query has its lines, a lit key those that come to it", () => {
  const all = strands(heads("encoder", [0]), { least: 0, most: 100 }).strands;
  assert.ok(all.filter(isOnHighlight({ query: 1, key: 0 })).every(({ query }) => query === 1));
  assert.equal(all.filter(isOnHighlight({ query: null, key: 2 })).length, 3);
});

test("heads are switched one by one; the present one needs no list", () => {
  assert.deepEqual(chosen(null, 1, 3), [1]);
  assert.deepEqual(chosen([2, 7, 0], 0, 3), [0, 2]);
  assert.deepEqual(chosen([], 0, 3), []);
  assert.deepEqual(toggled([0, 1, 2], 1), [0, 2]);
  assert.deepEqual(toggled([0, 2], 1), [0, 1, 2]);
  assert.deepEqual(toggled([2], 0), [0, 2]);
});

test("heads have colours that can be seen on either paper, and neighbours differ in their stroke", () => {
  const papers = { light: "#fbfaf7", dark: "#0f1218" };
  for (const paper of Object.values(papers)) {
    for (const count of [1, 8, 12, 16]) {
      const found = hues(count, { paper, ink: "#000000", attention: "#000000", q: "#000000", k: "#000000" });
      assert.equal(new Set(found.map(String)).size, count);
      for (const colour of found) assert.ok(contrast(colour, rgb(paper)) >= 4.5, `${colour} on ${paper}`);
    }
  }
  assert.equal(new Set([0, 1, 2, 3].map(dash)).size, 4);
});
