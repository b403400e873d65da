/**
 * Residual connection, layer norm and feed-forward network, computed by hand.
 *
 *     post-norm: norm = LayerNorm(x + Sublayer(x))       (Vaswani et al. 2017, section 3.1)
 *     pre-norm:  residual = x + Sublayer(LayerNorm(x))   (Xiong et al. 2020, figure 1b)
 */

import { fraction, plain, raised } from "../../core/compute/formula.js";
import { affine, plus, row, sum, times } from "../../lib/vectors.js";

/** @import { Find } from "./cell-stages.js" */
/** @import { Formula } from "../../core/compute/formula.js" */
/** @import { Vector } from "../../lib/vectors.js" */

/** The ε of a layer norm: torch's default, which the model uses. */
export const EPSILON = 1e-5;

/** The norm of the project's own models. @type {import("./needed-tensors.js").Norm} */
const OWN = { gain: "gain", bias: "bias", epsilon: null, rms: false };

/**
 * (x − μ) / √(σ² + ε) · γ + β, over the features of one row (Ba et al. 2016, equation 4), or
 * x / √(mean of x² + ε) · γ (RMSNorm: Zhang, Sennrich 2019, equation 4).
 * @param {Find} tensorOf
 * @param {Vector} x
 * @param {Vector | null} model  the recorded result; null: there is none
 * @param {import("./needed-tensors.js").Norm} [norm]
 */
export function normed(tensorOf, x, model, norm = OWN) {
  const mean = norm.rms ? 0 : sum(x) / x.length;
  const centred = Float64Array.from(x, (value) => value - mean);
  const variance = sum(times(centred, centred)) / centred.length;
  const gain = row(tensorOf(norm.gain));
  const bias = norm.bias ? row(tensorOf(norm.bias)) : null;
  const epsilon = norm.epsilon ? row(tensorOf(norm.epsilon))[0] : EPSILON;
  const deviation = Math.sqrt(variance + epsilon);
  const computed = centred.map((value, f) => (value / deviation) * gain[f] + (bias ? bias[f] : 0));
  const { rms } = norm;
  return { x, rms, mean, variance, epsilon, deviation, gain, bias, computed, model: model ?? computed, check: reconcile({ computed, model: model ?? computed }) };
}

/**
 * residual = x + output.
 * @param {Find} tensorOf
 * @param {number} query
 * @param {{x: Vector, output: Vector}} from
 */
export function added(tensorOf, query, { x, output }) {
  const residual = { computed: plus(x, output), model: row(tensorOf("residual"), query) };
  return { x, output, ...residual, check: reconcile(residual) };
}

/**
 * norm = LayerNorm(x + output).
 * @param {Find} tensorOf
 * @param {number} query
 * @param {{x: Vector, output: Vector}} from
 * @param {import("./needed-tensors.js").Norm} [by]
 */
export function addNorm(tensorOf, query, from, by) {
  const residual = added(tensorOf, query, from);
  const { x: _, ...norm } = normed(tensorOf, residual.model, row(tensorOf("norm"), query), by);
  return { ...from, residual, ...norm, check: reconcile(residual, norm) };
}

/**
 * hidden = f(read W_1 + b_1), or f(read W_g + b_g) · (read W_1 + b_1) if it is gated;
 * output = hidden W_2 + b_2; with the residual connection and the norms.
 * @param {Find} tensorOf  finds tensors of the feed-forward network
 * @param {number} query
 * @param {{stream: Vector, entry: Vector}} from  what the output is added to, and what is read
 * @param {import("./needed-tensors.js").Network} network
 */
export function feedForward(tensorOf, query, { stream, entry }, network) {
  const { before, outputNorm, after, activation: by, biases } = network;
  const first = before ? normed(tensorOf, entry, row(tensorOf("norm"), query), before) : null;
  const hidden = hiddenUnits(tensorOf, query, first ? first.model : entry, network);
  const bias = biases.has("2") ? row(tensorOf("b_2")) : null;
  const model = row(tensorOf("output"), query);
  const projected = outputNorm ? row(tensorOf("projected"), query) : model;
  const output = { computed: affine(hidden.model, tensorOf("W_2"), bias), model: projected };
  const around = { x: stream, output: model };
  return {
    by: activation(by),
    first,
    hidden,
    output: { bias, ...output, check: reconcile(output) },
    outputNorm: outputNorm ? normed(tensorOf, projected, model, outputNorm) : null,
    norm: after ? addNorm(tensorOf, query, around, after) : null,
    added: after ? null : added(tensorOf, query, around),
  };
}

/**
 * @param {Find} tensorOf
 * @param {number} query
 * @param {Vector} x
 * @param {import("./needed-tensors.js").Network} network
 */
function hiddenUnits(tensorOf, query, x, { activation: by, gated, biases }) {
  const f = activation(by).of;
  /** @param {string} letter */
  const sumsOf = (letter) => {
    const b = biases.has(letter) ? row(tensorOf(`b_${letter}`)) : null;
    return { b, sums: affine(x, tensorOf(`W_${letter}`), b) };
  };
  const { b, sums } = sumsOf("1");
  const inner = gated ? sumsOf("g") : null;
  const gate = inner ? { ...inner, values: inner.sums.map(f) } : null;
  const hidden = { computed: gate ? times(gate.values, sums) : sums.map(f), model: row(tensorOf("hidden"), query) };
  return { x, b, sums, gate, ...hidden, check: reconcile(hidden) };
}

// The activation functions of feed-forward networks, in float64.
//
// Sources: Hendrycks, Gimpel 2016, "Gaussian Error Linear Units", section 2 and its two
// approximations; Elfwing et al. 2018, "Sigmoid-weighted linear units", equation 6.

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
  const definition = ACTIVATIONS[name];
  if (!definition) throw new RangeError(`unknown activation ${name}`);
  return definition;
}

// Compare numbers computed in the page with the model's own.

/**
 * @typedef {object} Check
 * @property {number} largest  difference between the computed and the model's numbers
 * @property {number} count  how many numbers were compared
 * @property {boolean} agrees
 */

export const TOLERANCE = 1e-5;

/** @param {...{computed: Vector, model: Vector}} pairs @returns {Check} */
export function reconcile(...pairs) {
  let [largest, size, count] = [0, 1, 0];
  for (const { computed, model } of pairs) {
    count += model.length;
    for (let i = 0; i < model.length; i++) {
      const difference = Math.abs(computed[i] - model[i]);
      largest = Math.max(largest, Number.isNaN(difference) ? Infinity : difference);
      size = Math.max(size, Math.abs(model[i]));
    }
  }
  return { largest, count, agrees: largest <= TOLERANCE * size };
}
