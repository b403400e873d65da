import assert from "node:assert/strict";
import { test } from "node:test";

import { activation, erf } from "../../static/js/views/worksheet/sublayer.js";

/** @param {number} found @param {number} expected */
const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-14, `${found} ≠ ${expected}`);

// Values of Python's math.erf and math.erfc.
test("erf", () => {
  near(erf(0), 0);
  near(erf(0.5), 0.5204998778130465);
  near(erf(-1), -0.8427007929497149);
  near(erf(3), 0.9999779095030014);
  near(erf(5.9), 1);
  near(erf(-40), -1);
});

test("activation functions", () => {
  const at = (/** @type {string} */ name, /** @type {number} */ z) => activation(name).of(z);
  near(at("relu", -2), 0);
  near(at("relu", 2), 2);
  near(at("relu-squared", 3), 9);
  near(at("gelu", 1), 0.8413447460685429);
  near(at("gelu", -8), -4.97676846e-15);
  near(at("gelu-tanh", 1), 0.8411919906082768);
  near(at("gelu-sigmoid", 1), 0.8457957659328212);
  near(at("silu", -1), -0.2689414213699951);
  assert.throws(() => activation("mish"), /unknown activation mish/);
});
