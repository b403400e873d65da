/** The stages of the whole layer: all heads together, and what comes next. */

import { factor, fraction, plain, raised, total } from "../../core/compute/formula.js";
import { four } from "../../lib/numbers.js";
import { size, sum } from "../../lib/vectors.js";
import { FEW, ONWARD, bySize, ledger, upTo } from "./stage-contents.js";

/** @import { Formula } from "../../core/compute/formula.js" */
/** @import { Prose, Scene, Stage, Table } from "./stage-contents.js" */

/** @param {Scene} scene @returns {Stage} */
export function output({ t, sheet, cell, query, named }) {
  const { parts, bias, computed, model, check } = /** @type {NonNullable<Scene["sheet"]["output"]>} */ (sheet.output);
  const name = named.outputNorm ? "projected" : "output_i";
  const headPart = parts[cell.head];
  return {
    id: "output",
    title: t("All heads together"),
    result: "",
    prose: [
      {
        message: t("The weighted sums of all {heads} heads, concatenated, times {W}: what attention adds for {query}. " +
          "Each head has its own rows in that matrix, so the output is a sum with one part from each head."),
        values: { heads: parts.length, query, W: { math: "W_O" } },
      },
    ],
    formulas: [
      [name, "=", total("h", ["mix_ih", "W_Oh"]), ...(bias ? ["+", "b_O"] : [])],
    ],
    bands: [
      { name: ["mix_ih", "W_Oh"], values: headPart, tone: "signed" },
      { name, values: computed, tone: "plain" },
    ],
    unit: t("feature"),
    tables: [
      heads(t, parts, cell.head),
      ledger(t, {
        title: t("This head's part and that of the others"),
        unit: t("feature"),
        head: [t("this head"), t("other heads"), ...(bias ? [{ math: "b_O" }] : [])],
        entries: (f) => [headPart[f], computed[f] - headPart[f] - (bias ? bias[f] : 0), ...(bias ? [bias[f]] : [])],
        result: { computed, model },
      }),
    ],
    check,
  };
}

/** @param {Scene["t"]} t @param {import("../../lib/vectors.js").Vector[]} parts @param {number} headIndex @returns {Table} */
function heads(t, parts, headIndex) {
  const lengths = parts.map(size);
  const longest = Math.max(...lengths) || 1;
  return {
    title: t("Length of each head's part"),
    head: [t("head"), t("length"), ""],
    rows: upTo(parts.length),
    few: parts.length,
    marked: headIndex,
    entries: (head) => [String(head + 1), lengths[head], { bar: lengths[head] / longest }],
  };
}

/**
 * The stage for layers with cross-attention between self-attention and the feed-forward network.
 * @param {Scene} scene
 * @returns {Stage}
 */
export function onwards({ t, cell, query, named }) {
  return {
    id: ONWARD,
    title: t("Cross-attention comes next"),
    result: "",
    prose: [
      {
        message: named.pre
          ? t("In the decoder, cross-attention comes before the feed-forward network: the residual stream of {query} " +
            "is the x with which layer {layer} now looks at the source sentence.")
          : t("In the decoder, cross-attention comes before the feed-forward network: the normed vector of {query} is " +
            "the x with which layer {layer} now looks at the source sentence."),
        values: { query, layer: cell.layer + 1 },
      },
    ],
    formulas: [],
    bands: [],
    tables: [],
    check: null,
  };
}

// The stages mask and softmax, and weighted sum.

/** The number of keys in a table at first; a button shows all. */
const MANY_KEYS = 24;
/** A score minus the largest of its row. @type {Formula} */
const LESS = ["score_ij", "−", "max_i"];

/** @param {Scene} scene @returns {Stage} */
export function softmax({ t, sheet, cell, query, key, keys }) {
  const { scores, may, highest, highestKey, shifted, powers, total: all, computed, model, sink, check } = sheet.softmax;
  const open = may.filter(Boolean).length;
  const weight = may[cell.key] ? computed[cell.key] : 0;
  /** @type {Formula} */
  const worked = may[cell.key]
    ? ["weight_ij", "=", fraction(raised("e", LESS), total(["m"], raised("e", ["score_im", "−", "max_i"]))), "=", fraction(raised("e", shifted[cell.key]), all), "=", fraction(powers[cell.key], all), "=", weight]
    : ["weight_ij", "=", plain(0)];
  return {
    id: "softmax",
    title: t("Mask and softmax"),
    result: may[cell.key] ? four(weight) : t("masked"),
    prose: [
      open < may.length
        ? { message: t("The mask lets {query} look at {open} of {all} keys; the others are not in the sum."), values: { query, open, all: may.length } }
        : { message: t("The mask lets {query} look at all {all} keys."), values: { query, all: may.length } },
      ...(open ? [{ message: t("The largest score of the row, {max} of {best}, is subtracted from every score. This changes no weight, because it cancels, and keeps every exponential between 0 and 1."), values: { max: four(highest), best: keys[highestKey] ?? t("attention sink") } }] : []),
      ...(sink ? [{ message: t("This head has a learned attention sink: a score of {score} that belongs to no token. It takes " +
        "{weight} of the weight and has no value, so that the weights of the tokens sum to {rest}."), values: { score: four(sink.score), weight: four(sink.computed), rest: four(1 - sink.computed) } }] : []),
      may[cell.key]
        ? { message: t("The softmax turns the scores of the row into weights that add up to 1; {key} gets {weight}."), values: { key, weight: four(weight) } }
        : { message: t("{key} is masked: the query may not look there, and its weight is exactly 0."), values: { key } },
    ],
    formulas: [worked],
    bands: [],
    tables: [
      {
        title: t("The whole row, key by key"),
        head: [t("key"), { math: "score_ij" }, { math: LESS }, { math: raised("e", LESS) }, { math: "weight_ij" }, "", t("the model's"), t("difference")],
        rows: softmaxRows(computed, cell.key, sink !== null),
        few: MANY_KEYS + (sink ? 1 : 0),
        marked: cell.key,
        entries: (j) =>
          sink && j === computed.length
            ? [t("attention sink"), sink.score, shifted[j], powers[j], sink.computed, { bar: sink.computed }, sink.model, { exact: Math.abs(sink.computed - sink.model) }]
            : may[j]
            ? [keys[j], scores[j], shifted[j], powers[j], computed[j], { bar: computed[j] }, model[j], { exact: Math.abs(computed[j] - model[j]) }]
            : [keys[j], scores[j], t("masked"), null, null, null, model[j], { exact: Math.abs(computed[j] - model[j]) }],
        foot: [t("sum"), null, null, all, sum(computed) + (sink?.computed ?? 0), null, sum(model) + (sink?.model ?? 0), null],
      },
    ],
    check,
  };
}

/**
 * In sentence order if all fit, and then the sink; else the cell's key, the sink, and the keys by
 * their weights.
 * @param {Stage["bands"][0]["values"]} weights
 * @param {number} keyIndex
 * @param {boolean} sunk
 */
function softmaxRows(weights, keyIndex, sunk) {
  const sink = sunk ? [weights.length] : [];
  if (weights.length <= MANY_KEYS) return [...upTo(weights.length), ...sink];
  return [keyIndex, ...sink, ...bySize(weights).filter((key) => key !== keyIndex)];
}

/** @param {Scene} scene @returns {Stage} */
export function mix({ t, sheet, cell, key }) {
  const { weights, v, pairPart, remainder, computed, model, check } = sheet.mix;
  return {
    id: "mix",
    title: t("Weighted sum"),
    result: "",
    prose: [
      {
        message: t("The sum of all values, each times its weight. {key} contributes {weight} of its v; the other keys " +
          "contribute the rest."),
        values: { key, weight: four(weights[cell.key]) },
      },
    ],
    formulas: [
      ["mix_i", "=", total("m", ["weight_im", "v_m"])],
    ],
    bands: [
      { name: ["weight_ij", "v_j"], values: pairPart, tone: "v" },
      { name: "mix_i", values: computed, tone: "plain" },
    ],
    unit: t("channel"),
    tables: [
      ledger(t, {
        title: t("This key's part and that of the others"),
        unit: t("channel"),
        head: [{ math: "v_j" }, { math: [factor(weights[cell.key]), "·", "v_j"] }, t("other keys")],
        entries: (c) => [v[c], pairPart[c], remainder[c]],
        result: { computed, model },
      }),
    ],
    check,
  };
}

// The stages of the feed-forward network: its hidden units, and its output.

/** @typedef {NonNullable<Scene["sheet"]["ffn"]>} FeedForward */

const UNITS = 8;
const RELU = "ReLU";
/** Functions that are almost the identity for large numbers. */
const SMOOTH = ["GELU", "SiLU"];

/** @param {Scene} scene */
const networkOf = ({ sheet }) => /** @type {FeedForward} */ (sheet.ffn);

/** @param {Scene} scene @returns {Stage} */
export function hidden(scene) {
  const { t } = scene;
  const { by, hidden } = networkOf(scene);
  const { gate, computed, model, check } = hidden;
  const firing = model.length - Array.from(model).filter((value) => value === 0).length;
  /** @type {Stage["bands"]} */
  const factors = gate ? [{ name: "gate", values: gate.values, tone: "signed" }, { name: ["norm", "W_1"], values: hidden.sums, tone: "signed" }] : [];
  return {
    id: "hidden",
    title: t("Feed-forward: hidden units"),
    result: by.name === RELU && !gate ? `${firing} / ${model.length}` : "",
    prose: networkProse(scene, firing),
    formulas: formulas(networkOf(scene)),
    bands: [...factors, { name: "hidden", values: model, tone: "plain" }],
    unit: t("hidden unit"),
    tables: [
      ledger(t, {
        title: t("The strongest units"),
        unit: t("hidden unit"),
        ...columns(scene),
        result: { computed, model },
        rows: bySize(model),
        few: UNITS,
      }),
    ],
    check,
  };
}

/** @param {Scene} scene @param {number} firing  units that are not 0 @returns {Prose[]} */
function networkProse(scene, firing) {
  const { t } = scene;
  const { by, hidden: { model, gate } } = networkOf(scene);
  const [strongest] = bySize(model);
  const values = { firing, all: model.length, unit: strongest + 1, value: four(model[strongest]), f: by.name };
  if (gate)
    return [{
      message: t("Each hidden unit is a product: a gate, which is {f} of one sum, times another sum. A unit whose gate is " +
        "near 0 passes on almost nothing. The strongest of the {all} units is unit {unit} ({value})."),
      values,
    }];
  if (by.name === RELU)
    return [{
      message: t("{firing} of {all} hidden units are active; the others are below zero, and ReLU sets them to 0. The " +
        "strongest is unit {unit} ({value})."),
      values,
    }];
  return [
    { message: t("Each hidden unit is a sum to which the activation function {f} is applied. The strongest of the {all} units is unit {unit} ({value})."), values },
    ...(SMOOTH.includes(by.name) ? [{ message: t("{f} leaves large positive sums almost unchanged, and takes large negative ones close to 0."), values }] : []),
  ];
}

/** read W + b. @param {string} letter @param {ArrayLike<number> | null} b @returns {Formula[]} */
const affine = (letter, b) => ["norm", `W_${letter}`, ...(b ? ["+", `b_${letter}`] : [])];

/** @param {FeedForward} network @returns {Formula[]} */
function formulas({ by, hidden: { b, gate } }) {
  const { name, is } = by;
  const sum = affine("1", b);
  if (!gate && name === RELU) return [["hidden", "=", "max", "(", plain(0), ",", ...sum, ")"]];
  const definition = [name, "(", "z", ")", "=", ...is];
  if (!gate) return [["hidden", "=", name, "(", ...sum, ")"], definition];
  return [
    ["gate", "=", name, "(", ...affine("g", gate.b), ")"],
    ["hidden", "=", "gate", "·", ...(b ? ["(", ...sum, ")"] : sum)],
    definition,
  ];
}

/**
 * The columns between the unit and the result.
 * @param {Scene} scene
 * @returns {{head: Table["head"], entries: Table["entries"]}}
 */
function columns(scene) {
  const { b, sums, gate } = networkOf(scene).hidden;
  if (gate)
    return {
      head: [{ math: affine("g", gate.b) }, { math: "gate" }, { math: affine("1", b) }],
      entries: (unit) => [gate.sums[unit], gate.values[unit], sums[unit]],
    };
  if (!b) return { head: [{ math: affine("1", b) }], entries: (unit) => [sums[unit]] };
  return { head: [{ math: affine("1", null) }, { math: "b_1" }], entries: (unit) => [sums[unit] - b[unit], b[unit]] };
}

/** @param {Scene} scene @returns {Stage} */
export function ffn(scene) {
  const { t, named } = scene;
  const { by, hidden, output } = networkOf(scene);
  const { bias, computed, model, check } = output;
  const name = named.network?.outputNorm ? "projected" : "output";
  const values = { W: { math: "W_2" } };
  const message = by.name === RELU && !hidden.gate
    ? t("Each active unit adds its row of {W} times its activation.")
    : t("Each hidden unit adds its row of {W} times its value.");
  return {
    id: "ffn",
    title: t("Feed-forward: output"),
    result: "",
    prose: [{ message, values }],
    formulas: [[name, "=", "hidden", "W_2", ...(bias ? ["+", "b_2"] : [])]],
    bands: [{ name, values: computed, tone: "plain" }],
    unit: t("feature"),
    tables: [
      ledger(t, {
        title: t("The numbers"),
        unit: t("feature"),
        head: [{ math: ["hidden", "W_2"] }, ...(bias ? [{ math: "b_2" }] : [])],
        entries: (f) => (bias ? [computed[f] - bias[f], bias[f]] : [computed[f]]),
        result: { computed, model },
        few: FEW,
      }),
    ],
    check,
  };
}
