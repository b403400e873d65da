/** Rotary positions: each pair of channels of q and k is rotated by its own angle. */

import { angle } from "../../compute/rotary.js";
import { four } from "../../lib/numbers.js";
import { FEW, ledger, upTo } from "./sheet-model.js";

/** @typedef {import("./sheet-model.js").Scene} Scene */
/** @typedef {import("./sheet-model.js").Stage} Stage */
/** @typedef {NonNullable<Scene["sheet"]["rotate"]>} Rotated */

/** @param {Scene} scene @returns {Stage} */
export function rotate({ t, sheet, query, key }) {
  const { q, k, check } = /** @type {Rotated} */ (sheet.rotate);
  return {
    id: "rotate",
    title: t("Rotary positions"),
    result: "",
    prose: [
      {
        says: t("Channels 1 and 2 are a pair, 3 and 4 the next, and so on. Each pair of q and k is a point in a plane " +
          "that is rotated about the origin by the token's position times the pair's frequency θ: q of {query} " +
          "by {i} · θ, k of {key} by {j} · θ. No length changes, and positions enter q · k only through the " +
          "distance j − i = {offset}."),
        values: { query, key, i: q.at, j: k.at, offset: minus(k.at - q.at) },
      },
      { says: t("The first pair rotates fastest (θ = 1), by {angle} radians between these two tokens."), values: { angle: four(k.at - q.at) } },
    ],
    formulas: [
      ["q_i", "=", "R", "(", "i", "θ", ")", "(", "x_i", "W_q", "+", "b_q", ")"],
      ["k_j", "=", "R", "(", "j", "θ", ")", "(", "x_j", "W_k", "+", "b_k", ")"],
    ],
    bands: [
      { name: ["x_i", "W_q"], values: q.before, tone: "q" },
      { name: "q_i", values: q.computed, tone: "q" },
      { name: ["x_j", "W_k"], values: k.before, tone: "k" },
      { name: "k_j", values: k.computed, tone: "k" },
    ],
    unit: t("channel"),
    tables: [turned(t, "q_i", q), turned(t, "k_j", k)],
    check,
  };
}

/** @param {Scene["t"]} t @param {string} name @param {Rotated["q"]} values */
function turned(t, name, { before, at, computed, model }) {
  const [letter] = name.split("_");
  return ledger(t, {
    title: t("The channels of {name}, rotated by position {at}", { name: letter, at }),
    unit: t("channel"),
    head: [t("angle (rad)"), t("before")],
    entries: (c) => [angle(c >> 1, before.length, at), before[c]],
    result: { computed, model },
    rows: upTo(before.length),
    few: FEW,
  });
}

/** @param {number} value */
const minus = (value) => (value < 0 ? `−${-value}` : String(value));
