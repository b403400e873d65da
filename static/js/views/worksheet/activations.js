/**
 * The activation functions of feed-forward networks, in float64.
 *
 * Sources: Hendrycks, Gimpel 2016, "Gaussian Error Linear Units", section 2 and its two
 * approximations; Elfwing et al. 2018, "Sigmoid-weighted linear units", equation 6.
 */

import { fraction, plain, raised } from "../../core/compute/formula.js";

/** @import { Formula } from "../../core/compute/formula.js" */
/**
 * @typedef {object} Activation
 * @property {string} name
 * @property {(z: number) => number} of
 * @property {Formula[]} is  its definition, behind "name(z) ="
 */

const logistic = (/** @type {number} */ z) => 1 / (1 + Math.exp(-z));

/**
 * The error function, by the series 2/√π · e^(−x²) Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms have one
 * sign, so that nothing cancels.
 * @param {number} x
 */
export function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** @param {Formula} by */
const sigmoid = (by) => ["z", "σ", "(", by, ")"];

/** By the name that a model's description gives. @type {Record<string, Activation>} */
const ACTIVATIONS = {
  relu: { name: "ReLU", of: (z) => Math.max(0, z), is: ["max", "(", plain(0), ",", "z", ")"] },
  gelu: { name: "GELU", of: (z) => (z / 2) * (1 + erf(z / Math.SQRT2)), is: ["z", "Φ", "(", "z", ")"] },
  "gelu-tanh": {
    name: "GELU",
    of: (z) => (z / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3))),
    is: [
      fraction("z", plain(2)), "(", plain(1), "+", "tanh", "(", { root: fraction(plain(2), "π") },
      "(", "z", "+", plain(0.044715), raised("z", plain(3)), ")", ")", ")",
    ],
  },
  "gelu-sigmoid": { name: "GELU", of: (z) => z * logistic(1.702 * z), is: sigmoid([plain(1.702), "z"]) },
  silu: { name: "SiLU", of: (z) => z * logistic(z), is: fractionOf("z") },
  "relu-squared": { name: "ReLU²", of: (z) => Math.max(0, z) ** 2, is: [raised(["max", "(", plain(0), ",", "z", ")"], plain(2))] },
};

/** @param {Formula} z */
function fractionOf(z) {
  return [fraction(z, [plain(1), "+", raised("e", ["−", "z"])])];
}

/** @param {string} name @returns {Activation} */
export function activation(name) {
  const found = ACTIVATIONS[name];
  if (!found) throw new RangeError(`unknown activation ${name}`);
  return found;
}
