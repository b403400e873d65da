/**
 * Residual connection, layer norm and feed-forward network, computed by hand.
 *
 *     post-norm: norm = LayerNorm(x + Sublayer(x))       (Vaswani et al. 2017, section 3.1)
 *     pre-norm:  residual = x + Sublayer(LayerNorm(x))   (Xiong et al. 2020, figure 1b)
 */

import { affine, plus, row, sum, times } from "../lib/vectors.js";
import { reconcile } from "./reconcile.js";

/** @typedef {import("../lib/vectors.js").Vector} Vector */
/** @typedef {import("./worksheet.js").Find} Find */

/** The ε of a layer norm: torch's default, which the model uses. */
export const EPSILON = 1e-5;

/**
 * (x − μ) / √(σ² + ε) · γ + β, over the features of one row (Ba et al. 2016, equation 4).
 * @param {Find} here
 * @param {number} index  the row
 * @param {Vector} x
 */
export function normed(here, index, x) {
  const mean = sum(x) / x.length;
  const centred = Float64Array.from(x, (value) => value - mean);
  const variance = sum(times(centred, centred)) / centred.length;
  const [gain, bias] = [row(here("gain")), row(here("bias"))];
  const deviation = Math.sqrt(variance + EPSILON);
  const computed = centred.map((value, f) => (value / deviation) * gain[f] + bias[f]);
  const model = row(here("norm"), index);
  return { x, mean, variance, deviation, gain, bias, computed, model, check: reconcile({ computed, model }) };
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
 */
export function addNorm(here, query, from) {
  const residual = added(here, query, from);
  const { x: _, ...norm } = normed(here, query, residual.model);
  return { ...from, residual, ...norm, check: reconcile(residual, norm) };
}

/**
 * FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, with its residual connection and norm.
 * @param {Find} here  finds tensors of the feed-forward network
 * @param {Find} before  finds tensors of the attention before it
 * @param {number} query
 * @param {boolean} pre
 */
export function feedForward(here, before, query, pre) {
  const stream = row(before(pre ? "residual" : "norm"), query);
  const first = pre ? normed(here, query, stream) : null;
  const x = first ? first.model : stream;
  const sums = affine(x, here("W_1"), row(here("b_1")));
  const hidden = { computed: sums.map((z) => Math.max(0, z)), model: row(here("hidden"), query) };
  const strongest = Array.from(hidden.model, (_, unit) => unit)
    .filter((unit) => hidden.model[unit] > 0)
    .sort((a, b) => hidden.model[b] - hidden.model[a]);
  const bias = row(here("b_2"));
  const output = { computed: affine(hidden.model, here("W_2"), bias), model: row(here("output"), query) };
  const around = { x: stream, output: output.model };
  return {
    first,
    hidden: { x, b: row(here("b_1")), sums, ...hidden, strongest, check: reconcile(hidden) },
    output: { bias, ...output, check: reconcile(output) },
    norm: pre ? null : addNorm(here, query, around),
    added: pre ? added(here, query, around) : null,
  };
}
