/** The stages input (two vectors) and projections (q, k and v). */

import { root } from "../../core/compute/formula.js";
import { sum, terms } from "../../lib/vectors.js";
import { FEW, bySize, ledger, upTo } from "./stage-contents.js";

/** @import { Scene, Stage, Table } from "./stage-contents.js" */
/** @import { Formula } from "../../core/compute/formula.js" */

/** @param {Scene} scene @returns {Stage} */
export function input(scene) {
  const { t, named, query, key } = scene;
  const x = inputOf(scene);
  return {
    id: "input",
    title: t("Input"),
    result: "",
    prose: [
      {
        message: t("A vector of {width} numbers for the query {query}, and one for the key {key}."),
        values: { width: x.query.length, query, key },
      },
      { message: origin(scene), values: { root: { math: root("d_model") }, norm: { math: "LayerNorm" } } },
      ...(named.bare && !named.sliced ? [{ message: unplaced(scene) }] : []),
    ],
    formulas: x.parts ? [["x_i", "=", before(scene), "+", "position_i"]] : [],
    bands: [
      { name: "x_i", values: x.query, tone: "q" },
      { name: "x_j", values: x.key, tone: "k" },
    ],
    unit: t("feature"),
    tables: [inputs(scene)],
    check: x.check,
  };
}

/** @typedef {NonNullable<Scene["sheet"]["input"]>} Input */
/** @typedef {NonNullable<Scene["sheet"]["project"]>} Projected */

/** @param {Scene} scene */
const inputOf = ({ sheet }) => /** @type {Input} */ (sheet.input);

/**
 * The vectors with which a calculation begins if it is not known how the model computes them.
 * @param {Scene} scene
 * @returns {Stage}
 */
export function givenProjection({ t, sheet, named, query, key }) {
  const { q, k, v } = sheet.given;
  const latent = t("This model computes q, k and v with latent attention (DeepSeek): through a compressed vector that all " +
    "heads share, and with separate channels for positions. This worksheet does not follow that, and begins with q and k.");
  const unknown = t("How this model computes q, k and v could not be found from its modules, so this worksheet begins with q and k.");
  return {
    id: "project",
    title: t("q, k and v"),
    result: "",
    prose: [
      { message: named.projection === "latent" ? latent : unknown },
      { message: t("These are the model's vectors for {query} (q) and {key} (k and v), as they enter the score."), values: { query, key } },
    ],
    formulas: [],
    bands: [
      { name: "q_i", values: q, tone: "q" },
      { name: "k_j", values: k, tone: "k" },
      ...(v.length === q.length ? [{ name: "v_j", values: v, tone: /** @type {const} */ ("v") }] : []),
    ],
    unit: t("channel"),
    tables: [
      {
        title: t("The numbers"),
        head: [t("channel"), { math: "q_i" }, { math: "k_j" }, { math: "v_j" }],
        rows: upTo(Math.max(q.length, v.length)),
        few: FEW,
        entries: (c) => [String(c + 1), q[c] ?? null, k[c] ?? null, v[c] ?? null],
      },
    ],
    check: null,
  };
}

/** The name of what a position is added to. @param {Scene} scene */
const before = ({ named }) => (named.sums[0]?.endsWith(".embedding") || named.sums[0]?.endsWith(".input") ? "embedding_i" : "below_i");

/** Where the two vectors come from. @param {Scene} scene */
function origin({ t, joins, named, cell }) {
  if (named.sliced && !joins) return ofTransformers(t, named);
  if (joins && named.pre)
    return t("The query comes from the decoder, after its self-attention; the key from the encoder's last layer, after the final norm of the encoder.");
  if (joins) return t("The query comes from the decoder, after its self-attention; the key from the encoder's last layer.");
  if (named.eachLayer && cell.layer === 0)
    return t("In the first layer each is the token's embedding, times {root}, plus its position. This model adds the position again in every layer.");
  if (named.eachLayer) return t("Each is the output of the layer below for its token, plus the token's position: this model adds it in every layer.");
  if (named.sums.length) return t("In the first layer each is the token's embedding, times {root}, plus its position.");
  if (named.bare) return t("In the first layer each is the token's embedding, times {root}.");
  return t("Each is the output of the layer below for its token.");
}

/** @param {Scene["t"]} t @param {Scene["named"]} named */
function ofTransformers(t, { query, sums, turns, scoring, pre }) {
  if (sums.length) return t("In the first layer each is the token's embedding plus its position.");
  if (!query.endsWith(".input"))
    return pre
      ? t("Each is the residual stream of its token after the layer below.")
      : t("Each is the output of the layer below for its token.");
  if (turns) return t("In the first layer each is the token's embedding. No position is added here: this model rotates q and k by it.");
  if (scoring?.pi) return t("In the first layer each is the token's embedding. No position is added here: in this model the distance of two tokens acts on their score.");
  return t("In the first layer each is what the model's embedding layer gives for the token.");
}

/** Where positions act if they are not part of x. @param {Scene} scene */
function unplaced({ t, named }) {
  if (named.placed) return t("No position is added here: this model adds it to the input of queries and keys.");
  if (named.turns) return t("No position is added here: this model rotates q and k by it.");
  if (named.scoring?.pi) return t("No position is added here: in this model the distance of two tokens acts on their score.");
  return t("No position is added, here or later: this model does not know where a token is.");
}

/** @param {Scene} scene @returns {Table} */
function inputs(scene) {
  const { t } = scene;
  const { query, key, parts } = inputOf(scene);
  return {
    title: t("The numbers"),
    head: [t("feature"), ...(parts ? [{ math: before(scene) }, { math: "position_i" }] : []), { math: "x_i" }, { math: "x_j" }],
    rows: upTo(query.length),
    few: FEW,
    entries: (f) => [String(f + 1), ...(parts ? [parts.x[f], parts.position[f]] : []), query[f], key[f]],
  };
}

/** @typedef {"q" | "k" | "v"} Letter */
/** @typedef {"i" | "j"} At */

/**
 * The vector that a matrix multiplies.
 * @param {Scene} scene
 * @param {Letter} letter
 * @param {At} index
 * @returns {Formula}
 */
function read({ named, joins }, letter, index) {
  const x = named.before && !(joins && letter !== "q") ? `norm_${index}` : `x_${index}`;
  return named.placed && letter !== "v" ? ["(", x, "+", `position_${index}`, ")"] : x;
}

/** @param {Scene} scene @returns {Stage} */
export function project(scene) {
  const { t, sheet, cell, named, query, key } = scene;
  const { q, k, v, check } = /** @type {Projected} */ (sheet.project);
  const [channel] = bySize(sheet.score.products);
  /** @param {Letter} letter @param {At} index @returns {Formula} */
  const product = (letter, index) => [
    ...((named.turns || named.perHead) && letter !== "v" ? [] : [`${letter}_${index}`, "="]),
    read(scene, letter, index),
    `W_${letter}`,
    ...(named.biases.has(letter) ? ["+", `b_${letter}`] : []),
  ];
  return {
    id: "project",
    title: t("Projections"),
    result: "",
    prose: [
      {
        message: t("q is computed from {query}, k and v from {key}: {width} channels each."),
        values: { query, key, width: q.model.length },
      },
      ...(named.placed ? [{ message: t("In every layer, positions are added to the input of queries and keys; v is computed " +
        "without them.") }] : []),
      ...(named.sharing > 1 ? [{ message: t("Grouped heads: query heads {first}–{last} share key head {group} with its k and v."), values: shared(named, cell.head) }] : []),
      ...(named.perHead ? [{ message: t("q and k are shown before the norm of their channels, which is the next stage and is " +
        "compared with the model there; here, only v is compared.") }] : []),
      ...(named.turns && !named.perHead ? [{ message: t("q and k are shown before they are rotated by their positions, which is the next " +
        "stage. For the comparison, the model's recorded values are rotated back.") }] : []),
    ],
    formulas: [product("q", "i"), product("k", "j"), product("v", "j")],
    bands: [
      { name: "q_i", values: q.computed, tone: "q" },
      { name: "k_j", values: k.computed, tone: "k" },
      { name: "v_j", values: v.computed, tone: "v" },
    ],
    unit: t("channel"),
    tables: [
      ...(named.perHead ? [] : [projected(scene, "q", "i", q), projected(scene, "k", "j", k)]),
      projected(scene, "v", "j", v),
      inFull(scene, "q", "i", q, channel),
      inFull(scene, "k", "j", k, channel),
    ],
    check,
  };
}

/**
 * The query heads that share a key head, counted from 1.
 * @param {Scene["named"]} named
 * @param {number} head
 */
function shared({ sharing, group }, head) {
  const first = Math.floor(head / sharing) * sharing;
  return { first: first + 1, last: first + sharing, group: group + 1 };
}

/** @typedef {Projected["q"]} Projection */

/** @param {Scene} scene @param {Letter} letter @param {At} index @param {Projection} projection */
function projected(scene, letter, index, { from, W, b, start, computed, model }) {
  const { t } = scene;
  return ledger(t, {
    title: t("The channels of {name}", { name: letter }),
    unit: t("channel"),
    head: [{ math: [read(scene, letter, index), `W_${letter}`] }, ...(b ? [{ math: `b_${letter}` }] : [])],
    entries: (c) => [sum(terms(from, W, start + c)), ...(b ? [b[start + c]] : [])],
    result: { computed, model },
  });
}

/**
 * One channel with all products that it sums.
 * @param {Scene} scene
 * @param {Letter} letter
 * @param {At} index
 * @param {Projection} projection
 * @param {number} channel
 * @returns {Table}
 */
function inFull(scene, letter, index, { from, position, read: readVector, W, b, start, computed }, channel) {
  const { t } = scene;
  const products = terms(from, W, start + channel);
  const x = read(scene, letter, index);
  const parts = position ? [{ math: Array.isArray(x) ? x[1] : x }, { math: `position_${index}` }] : [];
  return {
    title: t("Channel {channel} of {name} in full, largest products first (this channel matters most for the pair)", {
      channel: channel + 1,
      name: letter,
    }),
    head: [t("feature"), ...parts, { math: x }, { math: `W_${letter}` }, { math: [x, "·", `W_${letter}`] }],
    rows: bySize(products),
    few: FEW,
    entries: (f) => [
      String(f + 1),
      ...(position ? [readVector[f], position[f]] : []),
      from[f],
      W.data[f * W.shape[1] + start + channel],
      products[f],
    ],
    foot: [b ? t("sum of all, plus b") : t("sum"), ...(position ? [null, null] : []), null, b ? b[start + channel] : null, computed[channel]],
  };
}
