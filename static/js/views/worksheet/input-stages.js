/** What a head is given, and what it makes of it: the two inputs, and q, k and v. */

import { root } from "../../compute/formula.js";
import { sum, terms } from "../../lib/vectors.js";
import { FEW, bySize, ledger, upTo } from "./sheet-model.js";

/** @typedef {import("./sheet-model.js").Scene} Scene */
/** @typedef {import("./sheet-model.js").Stage} Stage */
/** @typedef {import("./sheet-model.js").Table} Table */
/** @typedef {import("../../compute/formula.js").Formula} Formula */

/** @param {Scene} scene @returns {Stage} */
export function input({ t, sheet, joins, query, key }) {
  const { embedding, check, ...x } = sheet.input;
  const above = t("Each is what the layer below handed on for its token.");
  const joined = t(
    "The query comes from the decoder, after its self-attention; the key from the encoder's last layer.",
  );
  const from = joins ? joined : above;
  const sums = t("In the first layer each is the token's embedding, times {root}, plus its position.");
  return {
    id: "input",
    title: t("Input"),
    result: "",
    prose: [
      {
        says: t("A vector of {width} numbers for the query {query}, and one for the key {key}."),
        values: { width: x.query.length, query, key },
      },
      { says: embedding ? sums : from, values: { root: { math: root("d_model") } } },
    ],
    formulas: embedding ? [["x_i", "=", "embedding_i", "+", "position_i"]] : [],
    bands: [
      { name: "x_i", values: x.query, tone: "q" },
      { name: "x_j", values: x.key, tone: "k" },
    ],
    unit: t("feature"),
    tables: [inputs(t, sheet.input)],
    check,
  };
}

/** @param {Scene["t"]} t @param {Scene["sheet"]["input"]} input @returns {Table} */
function inputs(t, { query, key, embedding, position }) {
  const sums = embedding && position;
  const parts = sums ? [{ math: "embedding_i" }, { math: "position_i" }] : [];
  return {
    title: t("The numbers"),
    head: [t("feature"), ...parts, { math: "x_i" }, { math: "x_j" }],
    rows: upTo(query.length),
    few: FEW,
    entries: (f) => [
      String(f + 1),
      ...(sums ? [embedding[f], position[f]] : []),
      query[f],
      key[f],
    ],
  };
}

/** @param {Scene} scene @returns {Stage} */
export function project({ t, sheet, query, key }) {
  const { q, k, v, check } = sheet.project;
  const [channel] = bySize(sheet.score.products);
  /** @param {"q" | "k" | "v"} letter @param {"i" | "j"} at @returns {Formula} */
  const product = (letter, at) => [`${letter}_${at}`, "=", `x_${at}`, `W_${letter}`, "+", `b_${letter}`];
  return {
    id: "project",
    title: t("Projections"),
    result: "",
    prose: [
      {
        says: t("{query} asks with q, {key} answers with k and hands over v: {width} channels each."),
        values: { query, key, width: q.model.length },
      },
    ],
    formulas: [product("q", "i"), product("k", "j"), product("v", "j")],
    bands: [
      { name: "q_i", values: q.computed, tone: "q" },
      { name: "k_j", values: k.computed, tone: "k" },
      { name: "v_j", values: v.computed, tone: "v" },
    ],
    unit: t("channel"),
    tables: [
      projected(t, "q_i", q),
      projected(t, "k_j", k),
      projected(t, "v_j", v),
      inFull(t, "q", "i", q, channel),
      inFull(t, "k", "j", k, channel),
    ],
    check,
  };
}

/** @typedef {Scene["sheet"]["project"]["q"]} Projection */

/** @param {Scene["t"]} t @param {string} name @param {Projection} projection @returns {Table} */
function projected(t, name, { from, W, b, start, computed, model }) {
  const [letter, at] = name.split("_");
  return ledger(t, {
    title: t("The channels of {name}", { name: letter }),
    unit: t("channel"),
    head: [{ math: [`x_${at}`, `W_${letter}`] }, { math: `b_${letter}` }],
    entries: (c) => [sum(terms(from, W, start + c)), b[start + c]],
    result: { computed, model },
  });
}

/**
 * One channel with every product that it sums up.
 * @param {Scene["t"]} t
 * @param {string} letter
 * @param {string} at
 * @param {Projection} projection
 * @param {number} channel
 * @returns {Table}
 */
function inFull(t, letter, at, { from, W, b, start, computed }, channel) {
  const products = terms(from, W, start + channel);
  return {
    title: t("Channel {channel} of {name} in full, its largest products first (this channel counts most for the pair)", {
      channel: channel + 1,
      name: letter,
    }),
    head: [t("feature"), { math: `x_${at}` }, { math: `W_${letter}` }, { math: [`x_${at}`, "·", `W_${letter}`] }],
    rows: bySize(products),
    few: FEW,
    entries: (f) => [String(f + 1), from[f], W.data[f * W.shape[1] + start + channel], products[f]],
    foot: [t("sum of all, plus b"), null, b[start + channel], computed[channel]],
  };
}
