/** The score of a cell, by the model's scoring, with relative positions. */

import { factor, fraction, plain, root, total } from "../../core/compute/formula.js";
import { four } from "../../lib/numbers.js";
import { FEW, bySize, ledger, upTo } from "./stage-contents.js";

/** @import { Formula } from "../../core/compute/formula.js" */
/** @import { Prose, Scene, Stage } from "./stage-contents.js" */

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
    prose: [...by.prose, ...[capped, placed].flatMap((part) => part?.prose ?? []), ...(sheet.score.unknown ? [unknown(scene)] : [])],
    formulas: [...by.formulas, ...[capped, placed].flatMap((part) => (part ? [part.formula] : []))],
    unit: t("channel"),
    check,
  };
}

/** @typedef {Pick<Stage, "prose" | "formulas" | "bands" | "tables">} Part */

/** q · k, with or without division by √dₖ. @param {Scene} scene @returns {Part} */
function products({ t, sheet, query, key }) {
  const { q, k, kind, products, dot, raw: value, root: scale, by, pi, cap, unknown } = sheet.score;
  const [first, second] = bySize(products);
  const name = pi === null && cap === null && !unknown ? "score_ij" : "s_ij";
  return {
    prose: [
      {
        message: t(
          "In each channel, q of {query} is multiplied by k of {key}. If both have the same sign, the product raises " +
          "the score, otherwise it lowers it. Channel {first} matters most ({amount}), then channel {second} " +
          "({less}).",
        ),
        values: { query, key, ...largest(products, first, second) },
      },
      kind === "dot"
        ? { message: t("The sum itself is the score: this model does not divide it by {root}."), values: { root: { math: root("d_k") } } }
        : kind === "dot-by"
        ? { message: t("This model multiplies the sum by its own constant, {by}, instead of dividing it by {root}."), values: { by: four(by), root: { math: root("d_k") } } }
        : { message: t("Dividing by {root} keeps the scores of many channels from growing large."), values: { root: { math: root("d_k") } } },
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
        message: b
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
    prose: { message: t("A soft cap keeps every score between −{cap} and {cap}."), values: { cap: String(cap) } },
    formula: [pi === null ? "score_ij" : "c_ij", "=", limit, "tanh", "(", fraction("s_ij", limit), ")", "=", limit, "tanh", "(", fraction(raw, limit), ")", "=", value],
  };
}

/** @param {Scene} scene @returns {Prose} */
const unknown = ({ t, sheet, cell }) => ({
  message: t("The model adds something to its scores that could not be found from its modules; its score is {score}. The " +
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
  const learnedTerm = /** @type {number} */ (pi);
  const signed = offset < 0 ? `−${-offset}` : String(offset);
  const adds = placed === "relative";
  return {
    prose: {
      message: adds
        ? t("Relative positions: {key} is at offset j − i = {offset} from {query}. For this offset, the head learned " +
          "the number π = {pi}, which is added to the score.")
        : t("Relative positions: {key} is at offset j − i = {offset} from {query}. For this offset, the head learned " +
          "the number π = {pi}, by which the score is multiplied."),
      values: { query, key, offset: signed, pi: four(learnedTerm) },
    },
    formula: ["score_ij", "=", "s_ij", adds ? "+" : "·", "π_j−i", "=", value, adds ? "+" : "·", factor(learnedTerm), "=", computed[cell.key]],
  };
}

// Rotary positions: each pair of channels of q and k is rotated by its own angle.

/** @typedef {NonNullable<Scene["sheet"]["rotate"]>} Rotated */

/** Pairs that are drawn. */
const DRAWN = 4;

/** @param {Scene} scene @returns {Stage} */
export function rotate({ t, sheet, named, query, key }) {
  const { q, k, rotation, check } = /** @type {Rotated} */ (sheet.rotate);
  const { pairs, theta, scale } = rotation;
  const unrotated = q.before.length - 2 * pairs.length;
  const strongest = mattering(rotation, sheet.score.products);
  return {
    id: "rotate",
    title: t("Rotary positions"),
    result: "",
    prose: [
      {
        message: t("Channels {a} and {b} are a pair, {c} and {d} the next, and so on. Each pair of q and k is a point in a " +
          "plane that is rotated about the origin by the token's position times the pair's frequency θ: q of " +
          "{query} by {i} · θ, k of {key} by {j} · θ. A rotation changes no length, and positions enter q · k only through " +
          "the distance j − i = {offset}."),
        values: { query, key, i: q.position, j: k.position, offset: minus(k.position - q.position), ...firstTwo(pairs) },
      },
      { message: t("The first pair rotates fastest (θ = {theta}), by {angle} radians between these two tokens."), values: { theta: four(theta[0]), angle: four((k.position - q.position) * theta[0]) } },
      ...(unrotated ? [{ message: t("{rest} of the {all} channels are not rotated (partial rotary positions)."), values: { rest: unrotated, all: q.before.length } }] : []),
      ...(scale !== 1 ? [{ message: t("This model was extended to longer texts (YaRN), which also multiplies q and k by {scale}."), values: { scale: four(scale) } }] : []),
      { message: t("The pictures show the fastest pair and the pairs that matter most for this score: the dashed arrow is the pair " +
        "before the rotation, the solid one after it. All arrows are drawn with the same length.") },
    ],
    formulas: [
      ["q_i", "=", "R", "(", "i", "θ", ")", ...before(named, "q", "i")],
      ["k_j", "=", "R", "(", "j", "θ", ")", ...before(named, "k", "j")],
    ],
    bands: [
      { name: before(named, "q", "i", true), values: q.before, tone: "q" },
      { name: "q_i", values: q.computed, tone: "q" },
      { name: before(named, "k", "j", true), values: k.before, tone: "k" },
      { name: "k_j", values: k.computed, tone: "k" },
    ],
    turns: [drawn("q_i", "q", q, strongest, rotation), drawn("k_j", "k", k, strongest, rotation)].flat(),
    unit: t("channel"),
    tables: [turned(t, "q_i", q, rotation), turned(t, "k_j", k, rotation)],
    check,
  };
}

/** @param {import("../../core/compute/positions.js").Rotation["pairs"]} pairs  in the words of the page, from 1 */
function firstTwo([[a, b], next]) {
  const [c, d] = next ?? [a, b];
  return { a: a + 1, b: b + 1, c: c + 1, d: d + 1 };
}

/**
 * What is rotated: the projection, or its norm.
 * @param {Scene["named"]} named
 * @param {"q" | "k"} letter
 * @param {string} index
 * @param {boolean} [short]
 * @returns {Formula[]}
 */
function before({ before, perHead, biases }, letter, index, short = false) {
  if (perHead) return [`norm_${letter}`];
  /** @type {Formula[]} */
  const product = [before ? `norm_${index}` : `x_${index}`, `W_${letter}`];
  return short ? product : ["(", ...product, ...(biases.has(letter) ? ["+", `b_${letter}`] : []), ")"];
}

/**
 * The first pair, and those with the largest part in q · k, in order.
 * @param {import("../../core/compute/positions.js").Rotation} rotation
 * @param {ArrayLike<number>} products  one per channel
 */
function mattering({ pairs }, products) {
  const parts = pairs.map(([a, b]) => products[a] + products[b]);
  const strongest = bySize(parts).filter((pair) => pair).slice(0, DRAWN - 1);
  return [0, ...strongest.sort((a, b) => a - b)];
}

/**
 * @param {string} name
 * @param {"q" | "k"} tone
 * @param {Rotated["q"]} values
 * @param {number[]} some  pairs
 * @param {import("../../core/compute/positions.js").Rotation} rotation
 * @returns {import("./stage-contents.js").Turn[]}
 */
const drawn = (name, tone, { before, computed, position }, some, { pairs, theta }) =>
  some.map((pair) => {
    const [a, b] = pairs[pair];
    return { name, tone, pair: `${a + 1}, ${b + 1}`, from: [before[a], before[b]], to: [computed[a], computed[b]], angle: position * theta[pair] };
  });

/** @param {Scene["t"]} t @param {string} name @param {Rotated["q"]} values @param {import("../../core/compute/positions.js").Rotation} rotation */
function turned(t, name, { before, position, computed, model }, { pairs, theta }) {
  const [letter] = name.split("_");
  const pairOf = new Map(pairs.flatMap((channels, pair) => channels.map((c) => [c, pair])));
  const angle = (/** @type {number} */ c) => (pairOf.has(c) ? position * theta[/** @type {number} */ (pairOf.get(c))] : null);
  return ledger(t, {
    title: t("The channels of {name}, rotated by position {at}", { name: letter, at: position }),
    unit: t("channel"),
    head: [t("angle (rad)"), t("before rotation")],
    entries: (c) => [angle(c), before[c]],
    result: { computed, model },
    rows: upTo(before.length),
    few: FEW,
  });
}

/** @param {number} value */
const minus = (value) => (value < 0 ? `−${-value}` : String(value));
