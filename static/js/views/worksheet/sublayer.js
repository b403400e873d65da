/**
 * Residual connection, layer norm and feed-forward network, computed by hand.
 *
 *     post-norm: norm = LayerNorm(x + Sublayer(x))       (Vaswani et al. 2017, section 3.1)
 *     pre-norm:  residual = x + Sublayer(LayerNorm(x))   (Xiong et al. 2020, figure 1b)
 */

import { activation } from "./activations.js";
import { affine, plus, row, sum, times } from "../../lib/vectors.js";
import { reconcile } from "./reconcile.js";

/** @import { Vector } from "../../lib/vectors.js" */
/** @import { Find } from "./worksheet.js" */

/** The ε of a layer norm: torch's default, which the model uses. */
export const EPSILON = 1e-5;

/** The norm of the project's own models. @type {import("./worksheet-parts.js").Norm} */
const OWN = { gain: "gain", bias: "bias", epsilon: null, rms: false };

/**
 * (x − μ) / √(σ² + ε) · γ + β, over the features of one row (Ba et al. 2016, equation 4), or
 * x / √(mean of x² + ε) · γ (RMSNorm: Zhang, Sennrich 2019, equation 4).
 * @param {Find} here
 * @param {Vector} x
 * @param {Vector | null} model  the recorded result; null: there is none
 * @param {import("./worksheet-parts.js").Norm} [norm]
 */
export function normed(here, x, model, norm = OWN) {
  const mean = norm.rms ? 0 : sum(x) / x.length;
  const centred = Float64Array.from(x, (value) => value - mean);
  const variance = sum(times(centred, centred)) / centred.length;
  const gain = row(here(norm.gain));
  const bias = norm.bias ? row(here(norm.bias)) : null;
  const epsilon = norm.epsilon ? row(here(norm.epsilon))[0] : EPSILON;
  const deviation = Math.sqrt(variance + epsilon);
  const computed = centred.map((value, f) => (value / deviation) * gain[f] + (bias ? bias[f] : 0));
  const { rms } = norm;
  return { x, rms, mean, variance, epsilon, deviation, gain, bias, computed, model: model ?? computed, check: reconcile({ computed, model: model ?? computed }) };
}

/**
 * residual = x + output.
 * @param {Find} here
 * @param {number} query
 * @param {{x: Vector, output: Vector}} from
 */
export function added(here, query, { x, output }) {
  const residual = { computed: plus(x, output), model: row(here("residual"), query) };
  return { x, output, ...residual, check: reconcile(residual) };
}

/**
 * norm = LayerNorm(x + output).
 * @param {Find} here
 * @param {number} query
 * @param {{x: Vector, output: Vector}} from
 * @param {import("./worksheet-parts.js").Norm} [by]
 */
export function addNorm(here, query, from, by) {
  const residual = added(here, query, from);
  const { x: _, ...norm } = normed(here, residual.model, row(here("norm"), query), by);
  return { ...from, residual, ...norm, check: reconcile(residual, norm) };
}

/**
 * hidden = f(read W_1 + b_1), or f(read W_g + b_g) · (read W_1 + b_1) if it is gated;
 * output = hidden W_2 + b_2; with the residual connection and the norms.
 * @param {Find} here  finds tensors of the feed-forward network
 * @param {number} query
 * @param {{stream: Vector, entry: Vector}} from  what the output is added to, and what is read
 * @param {import("./worksheet-parts.js").Network} network
 */
export function feedForward(here, query, { stream, entry }, network) {
  const { before, own, after, activation: by, biases } = network;
  const first = before ? normed(here, entry, row(here("norm"), query), before) : null;
  const hidden = hiddenUnits(here, query, first ? first.model : entry, network);
  const bias = biases.has("2") ? row(here("b_2")) : null;
  const model = row(here("output"), query);
  const projected = own ? row(here("projected"), query) : model;
  const output = { computed: affine(hidden.model, here("W_2"), bias), model: projected };
  const around = { x: stream, output: model };
  return {
    by: activation(by),
    first,
    hidden,
    output: { bias, ...output, check: reconcile(output) },
    own: own ? normed(here, projected, model, own) : null,
    norm: after ? addNorm(here, query, around, after) : null,
    added: after ? null : added(here, query, around),
  };
}

/**
 * @param {Find} here
 * @param {number} query
 * @param {Vector} x
 * @param {import("./worksheet-parts.js").Network} network
 */
function hiddenUnits(here, query, x, { activation: by, gated, biases }) {
  const f = activation(by).of;
  /** @param {string} letter */
  const sumsOf = (letter) => {
    const b = biases.has(letter) ? row(here(`b_${letter}`)) : null;
    return { b, sums: affine(x, here(`W_${letter}`), b) };
  };
  const { b, sums } = sumsOf("1");
  const inner = gated ? sumsOf("g") : null;
  const gate = inner ? { ...inner, values: inner.sums.map(f) } : null;
  const hidden = { computed: gate ? times(gate.values, sums) : sums.map(f), model: row(here("hidden"), query) };
  return { x, b, sums, gate, ...hidden, check: reconcile(hidden) };
}
