/**
 * Residual connections and layer norms: after a sublayer (post-norm), or before and after it
 * (pre-norm).
 */

import { four } from "../../lib/numbers.js";
import { fraction, plain, root } from "../../compute/formula.js";
import { size } from "../../lib/vectors.js";
import { EPSILON } from "../../compute/sublayer.js";
import { ledger } from "./sheet-model.js";

/** @typedef {import("./sheet-model.js").Scene} Scene */
/** @typedef {import("./sheet-model.js").Stage} Stage */
/** @typedef {NonNullable<Scene["sheet"]["ffn"]>} FeedForward */
/** @typedef {ReturnType<typeof import("../../compute/sublayer.js").normed>} Normed */
/** @typedef {ReturnType<typeof import("../../compute/sublayer.js").added>} Added */
/** @typedef {ReturnType<typeof import("../../compute/sublayer.js").addNorm>} AddNormed */
/** @typedef {Omit<Stage, "id" | "title">} Rest */

/** The norm after the attention, or before it (pre-norm). @param {Scene} scene @returns {Stage} */
export function norm(scene) {
  const { t, sheet, query, named } = scene;
  if (sheet.before) {
    const { query: own, check } = sheet.before;
    const both = named.query === named.key;
    const rest = normStage(scene, own, "x_i");
    const says = both
      ? t("This model applies the layer norm before attention (pre-norm): the vector of {query}, and that of every " +
        "key, is normalised to mean 0 and variance 1, then scaled and shifted by learned factors (γ, β). The " +
        "incoming vector itself bypasses the attention unchanged.")
      : t("This model applies the layer norm before attention (pre-norm): the vector of {query} is normalised to mean " +
        "0 and variance 1, then scaled and shifted by learned factors (γ, β). The incoming vector itself " +
        "bypasses the attention unchanged.");
    return { ...rest, id: "norm", title: t("Layer norm"), prose: [{ says, values: { query } }, ...rest.prose], check };
  }
  const stage = addNorm(scene, /** @type {AddNormed} */ (sheet.norm), t("attention's output"));
  return {
    ...stage,
    id: "norm",
    title: t("Add and norm"),
    prose: [
      { says: t("The output is added to the incoming vector of {query}, so that nothing is lost. The layer norm then " +
        "normalises the sum to mean 0 and variance 1, and scales and shifts it by learned factors (γ, β)."), values: { query } },
      ...stage.prose,
    ],
  };
}

/** The sum after the attention of a pre-norm layer. @param {Scene} scene @returns {Stage} */
export function add(scene) {
  const { t, sheet, query } = scene;
  const stage = addStage(scene, /** @type {Added} */ (sheet.added), t("attention's output"));
  return {
    ...stage,
    id: "add",
    title: t("Add"),
    prose: [{ says: t("The output is added to the incoming vector of {query}. No norm follows: the sum is the residual " +
      "stream, the input of the next sublayer."), values: { query } }, ...stage.prose],
  };
}

/**
 * The norm before the feed-forward network of a pre-norm layer.
 * @param {Scene} scene
 * @returns {Stage}
 */
export function normAgain(scene) {
  const { t, sheet } = scene;
  const rest = normStage(scene, /** @type {Normed} */ (/** @type {FeedForward} */ (sheet.ffn).first), "residual");
  return { ...rest, id: "norm2", title: t("Layer norm again"), prose: [{ says: t("The feed-forward network reads the " +
    "residual stream through its own layer norm.") }, ...rest.prose] };
}

/** @param {Scene} scene @returns {Stage} */
export function close(scene) {
  const { t, sheet, cell } = scene;
  const { norm, added } = /** @type {FeedForward} */ (sheet.ffn);
  const by = t("the feed-forward output");
  const stage = norm ? addNorm(scene, norm, by) : addStage(scene, /** @type {Added} */ (added), by);
  return {
    ...stage,
    id: "close",
    title: norm ? t("Add and norm again") : t("Add again"),
    prose: [
      { says: t("This is the output of layer {layer} for this token."), values: { layer: cell.layer + 1 } },
      ...stage.prose,
    ],
  };
}

/**
 * @param {Scene} scene
 * @param {Normed} values
 * @param {import("../../compute/formula.js").Formula} name  of its input
 * @returns {Rest}
 */
function normStage({ t }, { x, mean, variance, deviation, gain, bias, computed, model, check }, name) {
  return {
    result: "",
    prose: [{ says: t("The mean of the vector is μ = {mean}, its variance σ² = {variance}."), values: { mean: four(mean), variance: four(variance) } }],
    formulas: normFormulas(name, variance, deviation),
    bands: [
      { name, values: x, tone: "q" },
      { name: "norm", values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The vector and its norm"),
        unit: t("feature"),
        head: [{ math: name }, { math: "γ" }, { math: "β" }],
        entries: (f) => [x[f], gain[f], bias[f]],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/** @param {Scene} scene @param {Added} values @param {string} added  what the output is called @returns {Rest} */
function addStage({ t }, { x, output, computed, model, check }, added) {
  return {
    result: "",
    prose: [
      {
        says: t("The incoming vector has length {before}, {added} has length {after}, and their sum {sum}."),
        values: { before: four(size(x)), after: four(size(output)), sum: four(size(computed)), added },
      },
    ],
    formulas: [["residual", "=", "x", "+", "output"]],
    bands: [
      { name: "x", values: x, tone: "q" },
      { name: "output", values: output, tone: "plain" },
      { name: "residual", values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The sum"),
        unit: t("feature"),
        head: [{ math: "x" }, { math: "output" }],
        entries: (f) => [x[f], output[f]],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/**
 * @param {Scene} scene
 * @param {AddNormed} values
 * @param {string} added  what the output is called
 * @returns {Rest}
 */
function addNorm({ t }, { x, output, residual, mean, variance, deviation, gain, bias, computed, model, check }, added) {
  return {
    result: "",
    prose: [
      {
        says: t("The incoming vector has length {before}, {added} has length {after}. The mean of the sum is μ = {mean}, its variance σ² = {variance}."),
        values: { before: four(size(x)), after: four(size(output)), added, mean: four(mean), variance: four(variance) },
      },
    ],
    formulas: [["residual", "=", "x", "+", "output"], ...normFormulas("residual", variance, deviation)],
    bands: [
      { name: "x", values: x, tone: "q" },
      { name: "output", values: output, tone: "plain" },
      { name: "norm", values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The sum and its norm"),
        unit: t("feature"),
        head: [{ math: "x" }, { math: "output" }, { math: "residual" }, { math: "γ" }, { math: "β" }],
        entries: (f) => [x[f], output[f], residual.model[f], gain[f], bias[f]],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/**
 * @param {import("../../compute/formula.js").Formula} of
 * @param {number} variance
 * @param {number} deviation
 * @returns {import("../../compute/formula.js").Formula[]}
 */
const normFormulas = (of, variance, deviation) => [
  ["norm", "=", fraction([of, "−", "μ"], root(["σ²", "+", "ε"])), "γ", "+", "β"],
  [root(["σ²", "+", "ε"]), "=", root([variance, "+", plain(String(EPSILON))]), "=", deviation],
];
