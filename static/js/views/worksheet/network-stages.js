/** The stages of the feed-forward network: its hidden units, and its output. */

import { four } from "../../lib/numbers.js";
import { plain } from "../../core/compute/formula.js";
import { FEW, bySize, ledger } from "./sheet-model.js";

/** @import { Scene, Stage, Table, Prose } from "./sheet-model.js" */
/** @import { Formula } from "../../core/compute/formula.js" */
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
    prose: told(scene, firing),
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
function told(scene, firing) {
  const { t } = scene;
  const { by, hidden: { model, gate } } = networkOf(scene);
  const [strongest] = bySize(model);
  const values = { firing, all: model.length, unit: strongest + 1, value: four(model[strongest]), f: by.name };
  if (gate)
    return [{
      says: t("Each hidden unit is a product: a gate, which is {f} of one sum, times another sum. A unit whose gate is " +
        "near 0 passes on almost nothing. The strongest of the {all} units is unit {unit} ({value})."),
      values,
    }];
  if (by.name === RELU)
    return [{
      says: t("{firing} of {all} hidden units are active; the others are below zero, and ReLU sets them to 0. The " +
        "strongest is unit {unit} ({value})."),
      values,
    }];
  return [
    { says: t("Each hidden unit is a sum to which the activation function {f} is applied. The strongest of the {all} units is unit {unit} ({value})."), values },
    ...(SMOOTH.includes(by.name) ? [{ says: t("{f} leaves large positive sums almost unchanged, and takes large negative ones close to 0."), values }] : []),
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
  const name = named.network?.own ? "projected" : "output";
  const values = { W: { math: "W_2" } };
  const says = by.name === RELU && !hidden.gate
    ? t("Each active unit adds its row of {W} times its activation.")
    : t("Each hidden unit adds its row of {W} times its value.");
  return {
    id: "ffn",
    title: t("Feed-forward: output"),
    result: "",
    prose: [{ says, values }],
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
