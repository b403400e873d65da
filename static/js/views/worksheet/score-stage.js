/** The score of a cell, by the model's scoring, with relative positions. */

import { factor, fraction, plain, root, total } from "../../core/compute/formula.js";
import { four } from "../../lib/numbers.js";
import { FEW, bySize } from "./sheet-model.js";

/** @import { Scene, Stage, Prose } from "./sheet-model.js" */
/** @import { Formula } from "../../core/compute/formula.js" */
/** @typedef {Scene["sheet"]["score"]} Score */

/** @param {Scene} scene @returns {Stage} */
export function score(scene) {
  const { t, sheet, cell } = scene;
  const { kind, computed, check } = sheet.score;
  const by = { "scaled-dot": products, dot: products, "dot-by": products, additive: sums, "additive-bias": sums }[kind](scene);
  const placed = sheet.score.pi === null ? null : placing(scene);
  const capped = sheet.score.cap === null ? null : capping(scene);
  return {
    id: "score",
    title: t("Score"),
    result: four(computed[cell.key]),
    ...by,
    prose: [...by.prose, ...[capped, placed].flatMap((one) => one?.prose ?? []), ...(sheet.score.unknown ? [unknown(scene)] : [])],
    formulas: [...by.formulas, ...[capped, placed].flatMap((one) => (one ? [one.formula] : []))],
    unit: t("channel"),
    check,
  };
}

/** @typedef {Pick<Stage, "prose" | "formulas" | "bands" | "tables">} Part */

/** q · k, with or without division by √d_k. @param {Scene} scene @returns {Part} */
function products({ t, sheet, query, key }) {
  const { q, k, kind, products, dot, raw: value, root: scale, by, pi, cap, unknown } = sheet.score;
  const [first, second] = bySize(products);
  const name = pi === null && cap === null && !unknown ? "score_ij" : "s_ij";
  return {
    prose: [
      {
        says: t(
          "In each channel, q of {query} is multiplied by k of {key}. If both have the same sign, the product raises " +
          "the score, otherwise it lowers it. Channel {first} matters most ({amount}), then channel {second} " +
          "({less}).",
        ),
        values: { query, key, ...largest(products, first, second) },
      },
      kind === "dot"
        ? { says: t("The sum itself is the score: this model does not divide it by {root}."), values: { root: { math: root("d_k") } } }
        : kind === "dot-by"
        ? { says: t("This model multiplies the sum by its own constant, {by}, instead of dividing it by {root}."), values: { by: four(by), root: { math: root("d_k") } } }
        : { says: t("Dividing by {root} keeps the scores of many channels from growing large."), values: { root: { math: root("d_k") } } },
    ],
    formulas:
      kind === "dot"
        ? [[name, "=", "q_i", "·", "k_j", "=", total("c", ["q_ic", "k_jc"]), "=", dot]]
        : kind === "dot-by"
        ? [[name, "=", by, "·", total("c", ["q_ic", "k_jc"]), "=", by, "·", factor(dot), "=", value]]
        : [
            ["q_i", "·", "k_j", "=", total("c", ["q_ic", "k_jc"]), "=", dot],
            [name, "=", fraction(["q_i", "·", "k_j"], root("d_k")), "=", fraction(dot, root(plain(q.length))), "=", fraction(dot, scale), "=", value],
          ],
    bands: [
      { name: "q_i", values: q, tone: "q" },
      { name: "k_j", values: k, tone: "k" },
      { name: ["q_ic", "k_jc"], values: products, tone: "signed" },
    ],
    tables: [
      {
        title: t("Every channel's product, largest first"),
        head: [t("channel"), { math: "q_ic" }, { math: "k_jc" }, { math: ["q_ic", "k_jc"] }],
        rows: bySize(products),
        few: 2 * FEW,
        entries: (c) => [String(c + 1), q[c], k[c], products[c]],
        foot: [t("sum"), null, null, dot],
      },
    ],
  };
}

/** w · tanh(q + k), with or without a bias. @param {Scene} scene @returns {Part} */
function sums({ t, sheet, query, key }) {
  const { q, k, w, b, products, dot, pi } = sheet.score;
  const weights = /** @type {import("../../lib/vectors.js").Vector} */ (w);
  const [first, second] = bySize(products);
  const inner = Float64Array.from(q, (_, c) => q[c] + k[c] + (b ? b[c] : 0));
  const bent = inner.map(Math.tanh);
  /** @type {Formula[]} */
  const within = b ? ["q_ic", "+", "k_jc", "+", "b_c"] : ["q_ic", "+", "k_jc"];
  /** @type {Formula[]} */
  const tanh = ["tanh", "(", ...within, ")"];
  return {
    prose: [
      {
        says: b
          ? t("Additive scoring: in each channel, q of {query}, k of {key} and the bias b are added, tanh maps the sum " +
            "to between −1 and 1, and the result is multiplied by the channel's learned weight w. Channel {first} " +
            "matters most ({amount}), then channel {second} ({less}).")
          : t("Additive scoring: in each channel, q of {query} and k of {key} are added, tanh maps the sum to between " +
            "−1 and 1, and the result is multiplied by the channel's learned weight w. Channel {first} matters " +
            "most ({amount}), then channel {second} ({less})."),
        values: { query, key, ...largest(products, first, second) },
      },
    ],
    formulas: [
      [pi === null ? "score_ij" : "s_ij", "=", total("c", ["w_c", ...tanh]), "=", dot],
      [
        plain(t("channel {n}", { n: first + 1 })),
        ":",
        "w_c",
        ...tanh,
        "=",
        factor(weights[first]),
        "·",
        "tanh",
        "(",
        inner[first],
        ")",
        "=",
        products[first],
      ],
    ],
    bands: [
      { name: "q_i", values: q, tone: "q" },
      { name: "k_j", values: k, tone: "k" },
      { name: ["tanh", "(", "q", "+", "k", ")"], values: bent, tone: "signed" },
      { name: ["w", "tanh"], values: products, tone: "signed" },
    ],
    tables: [
      {
        title: t("The contribution of every channel, largest first"),
        head: [t("channel"), { math: "q_ic" }, { math: "k_jc" }, ...(b ? [{ math: "b_c" }] : []), t("sum"), { math: "tanh" }, { math: "w_c" }, { math: ["w_c", "tanh"] }],
        rows: bySize(products),
        few: 2 * FEW,
        entries: (c) => [String(c + 1), q[c], k[c], ...(b ? [b[c]] : []), inner[c], bent[c], weights[c], products[c]],
        foot: [t("sum"), null, null, ...(b ? [null] : []), null, null, null, dot],
      },
    ],
  };
}

/** @param {ArrayLike<number>} products @param {number} first @param {number | undefined} second */
const largest = (products, first, second = first) => ({
  first: first + 1,
  amount: four(products[first]),
  second: second + 1,
  less: four(products[second]),
});

/**
 * The soft cap of the score.
 * @param {Scene} scene
 * @returns {{prose: Prose, formula: Formula}}
 */
function capping({ t, sheet }) {
  const { cap, raw, plain: value, pi } = sheet.score;
  const limit = plain(String(cap));
  return {
    prose: { says: t("A soft cap keeps every score between −{cap} and {cap}."), values: { cap: String(cap) } },
    formula: [pi === null ? "score_ij" : "c_ij", "=", limit, "tanh", "(", fraction("s_ij", limit), ")", "=", limit, "tanh", "(", fraction(raw, limit), ")", "=", value],
  };
}

/** @param {Scene} scene @returns {Prose} */
const unknown = ({ t, sheet, cell }) => ({
  says: t("The model adds something to its scores that could not be found from its modules; its score is {score}. The " +
    "following stages start from the model's scores."),
  values: { score: four(sheet.score.model[cell.key]) },
});

/**
 * The effect of relative positions on the score.
 * @param {Scene} scene
 * @returns {{prose: Prose, formula: Formula}}
 */
function placing({ t, sheet, cell, query, key }) {
  const { placed, offset, plain: value, pi, computed } = sheet.score;
  const own = /** @type {number} */ (pi);
  const signed = offset < 0 ? `−${-offset}` : String(offset);
  const adds = placed === "relative";
  return {
    prose: {
      says: adds
        ? t("Relative positions: {key} is at offset j − i = {offset} from {query}. For this offset, the head learned " +
          "the number π = {pi}, which is added to the score.")
        : t("Relative positions: {key} is at offset j − i = {offset} from {query}. For this offset, the head learned " +
          "the number π = {pi}, by which the score is multiplied."),
      values: { query, key, offset: signed, pi: four(own) },
    },
    formula: ["score_ij", "=", "s_ij", adds ? "+" : "·", "π_j−i", "=", value, adds ? "+" : "·", factor(own), "=", computed[cell.key]],
  };
}
