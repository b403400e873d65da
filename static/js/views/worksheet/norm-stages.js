/**
 * Residual connections and layer norms: after a sublayer (post-norm), or before and after it
 * (pre-norm).
 */

import { four, significant } from "../../lib/numbers.js";
import { fraction, plain, root } from "../../core/compute/formula.js";
import { size } from "../../lib/vectors.js";
import { ledger } from "./stage-contents.js";

/** @import { Scene, Stage } from "./stage-contents.js" */
/** @typedef {NonNullable<Scene["sheet"]["ffn"]>} FeedForward */
/** @typedef {ReturnType<typeof import("./sublayer.js").normed>} Normed */
/** @typedef {ReturnType<typeof import("./sublayer.js").added>} Added */
/** @typedef {ReturnType<typeof import("./sublayer.js").addNorm>} AddNormed */
/** @typedef {Omit<Stage, "id" | "title">} Rest */

/** The norm after the attention, or before it (pre-norm). @param {Scene} scene @returns {Stage} */
export function norm(scene) {
  const { t, sheet, query, named } = scene;
  if (sheet.before) {
    const { query: queryNorm, check } = sheet.before;
    const isSelfAttention = named.query === named.key;
    const stage = normStage(scene, queryNorm, "x_i");
    const message = queryNorm.rms
      ? isSelfAttention
        ? t("This model applies a norm before attention (pre-norm): the vector of {query}, and that of every key, is " +
          "divided by its root mean square (RMSNorm) and scaled by learned factors (γ). The incoming vector " +
          "itself bypasses the attention unchanged.")
        : t("This model applies a norm before attention (pre-norm): the vector of {query} is divided by its root mean " +
          "square (RMSNorm) and scaled by learned factors (γ). The incoming vector itself bypasses the " +
          "attention unchanged.")
      : isSelfAttention
      ? t("This model applies the layer norm before attention (pre-norm): the vector of {query}, and that of every " +
        "key, is normalised to mean 0 and variance 1, then scaled and shifted by learned factors (γ, β). The " +
        "incoming vector itself bypasses the attention unchanged.")
      : t("This model applies the layer norm before attention (pre-norm): the vector of {query} is normalised to mean " +
        "0 and variance 1, then scaled and shifted by learned factors (γ, β). The incoming vector itself " +
        "bypasses the attention unchanged.");
    return { ...stage, id: "norm", title: queryNorm.rms ? "RMSNorm" : t("Layer norm"), prose: [{ message, values: { query } }, ...stage.prose], check };
  }
  const stage = addNorm(scene, /** @type {AddNormed} */ (sheet.norm), t("attention's output"));
  return {
    ...stage,
    id: "norm",
    title: t("Add and norm"),
    prose: [
      { message: t("The output is added to the incoming vector of {query}, so that nothing is lost. The layer norm then " +
        "normalises the sum to mean 0 and variance 1, and scales and shifts it by learned factors (γ, β)."), values: { query } },
      ...stage.prose,
      ...ending(scene),
    ],
  };
}

/** The norms of the channels of q and k, head by head (Qwen3, Gemma 3). @param {Scene} scene @returns {Stage} */
export function headNorm(scene) {
  const { t, sheet, named, query, key } = scene;
  const { q, k, check } = /** @type {NonNullable<Scene["sheet"]["perHead"]>} */ (sheet.perHead);
  return {
    id: "headnorm",
    title: t("Norms of q and k"),
    result: "",
    prose: [
      {
        message: t("This model divides the channels of q and of k, in each head, by their root mean square (RMSNorm) and " +
          "scales them by learned factors (γ): {a} for q of {query}, {b} for k of {key}. Scores then depend " +
          "less on the lengths of the vectors."),
        values: { query, key, a: four(q.deviation), b: four(k.deviation) },
      },
      ...(named.turns ? [{ message: t("For the comparison, the model's recorded q and k are rotated back.") }] : []),
    ],
    formulas: normFormulas("q_i", q),
    bands: [
      { name: ["x_i", "W_q"], values: q.x, tone: "q" },
      { name: "q_i", values: q.computed, tone: "q" },
      { name: ["x_j", "W_k"], values: k.x, tone: "k" },
      { name: "k_j", values: k.computed, tone: "k" },
    ],
    unit: t("channel"),
    tables: [perHead(t, "q", q), perHead(t, "k", k)],
    check,
  };
}

/** @param {Scene["t"]} t @param {string} letter @param {Normed} values */
const perHead = (t, letter, { x, gain, computed, model }) =>
  ledger(t, {
    title: t("The channels of {name}", { name: letter }),
    unit: t("channel"),
    head: [t("before the norm"), { math: "γ" }],
    entries: (c) => [x[c], gain[c]],
    result: { computed, model },
  });

/** The norm of the output alone, before it is added (Gemma 2 and 3). @param {Scene} scene @returns {Stage} */
export function ownNorm(scene) {
  const { t, sheet } = scene;
  const stage = normStage(scene, /** @type {Normed} */ (sheet.outputNorm), "projected");
  return { ...stage, id: "ownnorm", title: t("Norm of the output"), prose: [{ message: t("This model applies a norm to the " +
    "attention's output before it is added to the incoming vector.") }, ...stage.prose] };
}

/** The same of the feed-forward network's output. @param {Scene} scene @returns {Stage} */
export function ownNormAgain(scene) {
  const { t, sheet } = scene;
  const stage = normStage(scene, /** @type {Normed} */ (/** @type {FeedForward} */ (sheet.ffn).outputNorm), "projected");
  return { ...stage, id: "ownnorm2", title: t("Norm of the output"), prose: [{ message: t("The output of the feed-forward " +
    "network, too, is normed before it is added.") }, ...stage.prose] };
}

/** Why the sheet ends before the feed-forward network. @param {Scene} scene @returns {Stage["prose"]} */
function ending({ t, named: { omitted } }) {
  if (omitted === null) return [];
  if (omitted === "unknown")
    return [{ message: t("How the feed-forward network of this layer is computed could not be found from its modules, so this worksheet ends here.") }];
  const values = { millions: Math.round(omitted / 1e6) };
  return [{ message: t("The matrices of this layer's feed-forward network have {millions} million numbers, which are too many for this page, so this worksheet ends here."), values }];
}

/** The sum after the attention of a pre-norm layer. @param {Scene} scene @returns {Stage} */
export function add(scene) {
  const { t, sheet, named, query } = scene;
  const stage = addStage(scene, /** @type {Added} */ (sheet.added), t("attention's output"));
  const message = named.network?.parallel
    ? t("The output is added to the incoming vector of {query}. The feed-forward network, which works beside the " +
      "attention, adds its output to the same sum.")
    : t("The output is added to the incoming vector of {query}. No norm follows: the sum is the residual " +
      "stream, the input of the next sublayer.");
  return {
    ...stage,
    id: "add",
    title: t("Residual connection"),
    prose: [{ message, values: { query } }, ...stage.prose, ...ending(scene)],
  };
}

/**
 * The norm before the feed-forward network of a pre-norm layer.
 * @param {Scene} scene
 * @returns {Stage}
 */
export function normAgain(scene) {
  const { t, sheet, named } = scene;
  const first = /** @type {Normed} */ (/** @type {FeedForward} */ (sheet.ffn).first);
  const parallel = named.network?.parallel;
  const stage = normStage(scene, first, parallel ? "x" : "residual");
  const message = parallel
    ? t("In this model the feed-forward network works beside the attention: it reads, through a norm, the vector " +
      "that came into the layer.")
    : first.rms
    ? t("The feed-forward network reads the residual stream through its own RMSNorm.")
    : t("The feed-forward network reads the residual stream through its own layer norm.");
  return { ...stage, id: "norm2", title: first.rms ? t("RMSNorm again") : t("Layer norm again"), prose: [{ message }, ...stage.prose] };
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
      { message: t("This is the output of layer {layer} for this token."), values: { layer: cell.layer + 1 } },
      ...stage.prose,
    ],
  };
}

/**
 * @param {Scene} scene
 * @param {Normed} values
 * @param {import("../../core/compute/formula.js").Formula} name  of its input
 * @returns {Rest}
 */
function normStage({ t }, values, name) {
  const { x, rms, mean, variance, deviation, gain, bias, computed, model, check } = values;
  return {
    result: "",
    prose: [rms
      ? { message: t("The root mean square of the vector is {rms}."), values: { rms: four(deviation) } }
      : { message: t("The mean of the vector is μ = {mean}, its variance σ² = {variance}."), values: { mean: four(mean), variance: four(variance) } }],
    formulas: normFormulas(name, values),
    bands: [
      { name, values: x, tone: "q" },
      { name: "norm", values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The vector and its norm"),
        unit: t("feature"),
        head: [{ math: name }, ...learnedHead(bias)],
        entries: (f) => [x[f], gain[f], ...(bias ? [bias[f]] : [])],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/** The columns of a norm's parameters. @param {Normed["bias"]} bias @returns {{math: string}[]} */
const learnedHead = (bias) => [{ math: "γ" }, ...(bias ? [{ math: "β" }] : [])];

/** @param {Scene} scene @param {Added} values @param {string} added  what the output is called @returns {Rest} */
function addStage({ t }, { x, output, computed, model, check }, added) {
  return {
    result: "",
    prose: [
      {
        message: t("The incoming vector has length {before}, {added} has length {after}, and their sum {sum}."),
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
function addNorm({ t }, values, added) {
  const { x, output, residual, mean, variance, gain, bias, computed, model, check } = values;
  return {
    result: "",
    prose: [
      {
        message: t("The incoming vector has length {before}, {added} has length {after}. The mean of the sum is μ = {mean}, its variance σ² = {variance}."),
        values: { before: four(size(x)), after: four(size(output)), added, mean: four(mean), variance: four(variance) },
      },
    ],
    formulas: [["residual", "=", "x", "+", "output"], ...normFormulas("residual", values)],
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
        head: [{ math: "x" }, { math: "output" }, { math: "residual" }, ...learnedHead(bias)],
        entries: (f) => [x[f], output[f], residual.model[f], gain[f], ...(bias ? [bias[f]] : [])],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/**
 * @param {import("../../core/compute/formula.js").Formula} of
 * @param {Pick<Normed, "rms" | "variance" | "epsilon" | "deviation" | "bias">} values
 * @returns {import("../../core/compute/formula.js").Formula[]}
 */
function normFormulas(of, { rms, variance, epsilon, deviation, bias }) {
  /** @type {import("../../core/compute/formula.js").Formula} */
  const under = rms ? ["ms", "+", "ε"] : ["σ²", "+", "ε"];
  const small = epsilon < 5e-7 ? epsilon : plain(significant(epsilon, 6));
  return [
    ["norm", "=", fraction(rms ? of : [of, "−", "μ"], root(under)), "γ", ...(bias ? ["+", "β"] : [])],
    [root(under), "=", root([variance, "+", small]), "=", deviation],
  ];
}
