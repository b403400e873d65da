import assert from "node:assert/strict";
import { test } from "node:test";

import { percent } from "../../static/js/zoo/charts.js";

/** @param {number[]} accuracy  by seed */
const model = (...accuracy) => /** @type {any} */ ({ seeds: accuracy.map((one) => ({ accuracy: { 12: one } })) });

test("a mean is printed as the documentation prints it: halves to even", () => {
  for (const [says, ...seeds] of /** @type {[string, ...number[]][]} */ ([
    ["22", 0.225, 0.23, 0.22], // 22.5, as a sum of floats 22.500000000000004
    ["24", 0.235],
    ["23", 0.2251],
    ["0", 0.005],
    ["100", 1, 1],
  ]))
    assert.equal(percent(model(...seeds), 12), says);
  assert.equal(percent(model(0.5), 24), "");
});
