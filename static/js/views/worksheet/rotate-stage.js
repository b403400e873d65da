/** Rotary positions: each pair of channels of q and k is rotated by its own angle. */

import { four } from "../../lib/numbers.js";
import { FEW, bySize, ledger, upTo } from "./sheet-model.js";

/** @import { Scene, Stage } from "./sheet-model.js" */
/** @import { Formula } from "../../core/compute/formula.js" */
/** @typedef {NonNullable<Scene["sheet"]["rotate"]>} Rotated */

/** Pairs that are drawn. */
const DRAWN = 4;

/** @param {Scene} scene @returns {Stage} */
export function rotate({ t, sheet, named, query, key }) {
  const { q, k, rotation, check } = /** @type {Rotated} */ (sheet.rotate);
  const { pairs, theta, scale } = rotation;
  const rest = q.before.length - 2 * pairs.length;
  const strongest = mattering(rotation, sheet.score.products);
  return {
    id: "rotate",
    title: t("Rotary positions"),
    result: "",
    prose: [
      {
        says: t("Channels {a} and {b} are a pair, {c} and {d} the next, and so on. Each pair of q and k is a point in a " +
          "plane that is rotated about the origin by the token's position times the pair's frequency θ: q of " +
          "{query} by {i} · θ, k of {key} by {j} · θ. A rotation changes no length, and positions enter q · k only through " +
          "the distance j − i = {offset}."),
        values: { query, key, i: q.at, j: k.at, offset: minus(k.at - q.at), ...firstTwo(pairs) },
      },
      { says: t("The first pair rotates fastest (θ = {theta}), by {angle} radians between these two tokens."), values: { theta: four(theta[0]), angle: four((k.at - q.at) * theta[0]) } },
      ...(rest ? [{ says: t("{rest} of the {all} channels are not rotated (partial rotary positions)."), values: { rest, all: q.before.length } }] : []),
      ...(scale !== 1 ? [{ says: t("This model was extended to longer texts (YaRN), which also multiplies q and k by {scale}."), values: { scale: four(scale) } }] : []),
      { says: t("The pictures show the fastest pair and the pairs that matter most for this score: the dashed arrow is the pair " +
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
 * @param {string} at
 * @param {boolean} [short]
 * @returns {Formula[]}
 */
function before({ before, perHead, biases }, letter, at, short = false) {
  if (perHead) return [`norm_${letter}`];
  /** @type {Formula[]} */
  const product = [before ? `norm_${at}` : `x_${at}`, `W_${letter}`];
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
 * @returns {import("./sheet-model.js").Turn[]}
 */
const drawn = (name, tone, { before, computed, at }, some, { pairs, theta }) =>
  some.map((pair) => {
    const [a, b] = pairs[pair];
    return { name, tone, pair: `${a + 1}, ${b + 1}`, from: [before[a], before[b]], to: [computed[a], computed[b]], angle: at * theta[pair] };
  });

/** @param {Scene["t"]} t @param {string} name @param {Rotated["q"]} values @param {import("../../core/compute/positions.js").Rotation} rotation */
function turned(t, name, { before, at, computed, model }, { pairs, theta }) {
  const [letter] = name.split("_");
  const pairOf = new Map(pairs.flatMap((channels, pair) => channels.map((c) => [c, pair])));
  const angle = (/** @type {number} */ c) => (pairOf.has(c) ? at * theta[/** @type {number} */ (pairOf.get(c))] : null);
  return ledger(t, {
    title: t("The channels of {name}, rotated by position {at}", { name: letter, at }),
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
