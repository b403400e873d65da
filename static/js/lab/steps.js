/** The lab's steps as shown: names, formulas, and labels of their axes. */

import { transposed } from "../lib/csv.js";
import { fraction, plain, raised, root, total } from "../core/compute/formula.js";

/** @import { Lab } from "./matrices.js" */
/** @import { Formula } from "../core/compute/formula.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @typedef {{steps: Record<string, any>, dims: Record<string, string[]>}} Answer  of POST /api/lab */
/**
 * @typedef {object} Step
 * @property {string} id
 * @property {string} name
 * @property {Formula} formula
 * @property {{title: string, values: number[][], rows: string[], cols: string[]}[]} tables  one per
 *   head
 * @property {"signed" | "share" | "mask"} scale
 */

const SHARES = new Set(["weights", "probabilities", "wanted"]);
/** Parentheses of normal height. */
const [OPEN, CLOSE] = [plain("("), plain(")")];
const T = (/** @type {string} */ name) => raised(name, "T");

/** @param {Translate} t @returns {Record<string, string>} */
const names = (t) => ({
  encoding: t("Positional encoding"),
  input: t("Input with positions"),
  q: t("Query vectors"),
  k: t("Key vectors"),
  v: t("Value vectors"),
  products: t("Products of queries and keys"),
  scored: t("Scores before the position term"),
  position: t("Position term"),
  scores: t("Scores"),
  mask: t("Mask"),
  weights: t("Weights"),
  mix: t("Weighted sum of the values"),
  concat: t("Concatenated heads"),
  output: t("Output"),
  residual: t("Residual"),
  norm: t("Layer norm"),
  "ffn.hidden": t("Feed-forward, hidden layer"),
  "ffn.output": t("Feed-forward, output"),
  "ffn.residual": t("Residual after the feed-forward"),
  "ffn.norm": t("Layer norm of the feed-forward"),
  "final.norm": t("Last layer norm"),
  logits: t("Logits"),
  probabilities: t("Probabilities"),
  wanted: t("Target distribution"),
  losses: t("Loss of each row"),
  loss: t("Loss"),
});

/** Whether any score may be masked. @param {Lab} lab */
const isMasked = ({ mask, matrices }) => mask !== "none" || Boolean(matrices.padding);

/**
 * @param {Lab} lab
 * @returns {Record<string, Formula>}  by step, in the lab's convention
 */
export function stepFormulas(lab) {
  const { matrices, scoring, relative, norm } = lab;
  const column = lab.convention === "column";
  /**
   * The formula of a norm with its γ and β.
   * @param {Formula} x
   * @param {string} prefix
   * @param {string} sub
   */
  const normed = (x, prefix, sub) => [
    ...(matrices[`${prefix}gamma`] ? [`γ${sub}`, "·"] : []), "LayerNorm", OPEN, x, CLOSE, ...(matrices[`${prefix}beta`] ? ["+", `β${sub}`] : []),
  ];
  /** x W, or W x. @param {Formula} x @param {string} w @param {string} [b] */
  const times = (x, w, b) => [...(column ? [w, x] : [x, w]), ...(b && matrices[b.toLowerCase()] ? ["+", b] : [])];
  const input = relative === "sinusoidal" ? "X_P" : "X";
  const products = column ? [T("K"), "Q"] : ["Q", T("K")];
  /** @type {Record<string, Formula>} */
  const score = {
    dot: products,
    scaled: fraction(products, root("d_k")),
    additive: ["w", "·", "tanh", OPEN, "q_i", "+", "k_j", ...(matrices.b ? ["+", "b"] : []), CLOSE],
  };
  const scoreSymbol = scoring === "additive" ? "S_ij" : "S";
  const term = relative === "add" || relative === "multiply";
  const mixed = lab.heads > 1 ? "C" : "Z";
  const out = matrices.w_o || norm !== "none" ? "O" : mixed;
  const behind = norm === "post" ? "N" : norm === "none" ? out : "R";
  const last = !matrices.w_1 ? behind : norm === "post" ? "N_2" : norm === "none" ? "F" : "R_2";
  const read1 = norm === "pre" ? "N_2" : behind;
  const first = norm === "pre" ? "N" : input;
  return {
    encoding: ["P_i,2j", "=", "sin", fraction("i", raised("10000", "2j/d"))],
    input: ["X_P", "=", "X", "+", "P"],
    q: ["Q", "=", ...times(first, "W_Q", "b_Q")],
    k: ["K", "=", ...times(matrices.memory ? "E" : first, "W_K", "b_K")],
    v: ["V", "=", ...times(matrices.memory ? "E" : first, "W_V", "b_V")],
    products: ["P", "=", ...products],
    scored: [scoreSymbol, "=", score[scoring]],
    position: ["Π_ij", "=", "π_j−i"],
    scores: !term ? [scoreSymbol, "=", score[scoring]] : ["S_π", "=", "S", relative === "add" ? "+" : "·", "Π"],
    mask: ["m_ij", "∈", plain("{0, −∞}")],
    weights: ["A", "=", "softmax", OPEN, term ? "S_π" : "S", ...(isMasked(lab) ? ["+", "M"] : []), CLOSE],
    mix: ["Z", "=", ...(column ? ["V", "A"] : ["A", "V"])],
    concat: ["C", "=", "[", "Z_1", "…", "Z_h", "]"],
    output: ["O", "=", ...(matrices.w_o ? times(mixed, "W_O", "b_O") : [mixed])],
    residual: ["R", "=", input, "+", "O"],
    norm: ["N", "=", ...normed(norm === "pre" ? input : "R", "", "")],
    "ffn.hidden": ["H", "=", "max", OPEN, "0", ",", ...times(read1, "W_1", "b_1"), CLOSE],
    "ffn.output": ["F", "=", ...times("H", "W_2", "b_2")],
    "ffn.residual": ["R_2", "=", behind, "+", "F"],
    "ffn.norm": ["N_2", "=", ...normed(norm === "pre" ? "R" : "R_2", "ffn_", "_2")],
    "final.norm": ["N_3", "=", "LayerNorm", OPEN, matrices.w_1 ? "R_2" : "R", CLOSE],
    logits: ["L", "=", ...times(norm === "pre" ? "N_3" : last, "W_vocab")],
    probabilities: ["p", "=", "softmax", OPEN, "L", CLOSE],
    wanted: ["Y", "=", OPEN, "1", "−", "ε", CLOSE, "y", "+", fraction("ε", "|V|")],
    losses: ["ℓ_i", "=", "−", total("v", ["Y_iv", "log", "p_iv"])],
    loss: ["ℓ", "=", "mean", OPEN, "ℓ_i", CLOSE],
  };
}

/**
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Translate} t
 * @returns {Step[]}  without those that change nothing
 */
export function shownSteps(lab, answer, t) {
  const [called, formula] = [names(t), stepFormulas(lab)];
  const idle = new Set([
    ...(lab.heads === 1 ? ["concat"] : []),
    ...(isMasked(lab) ? [] : ["mask"]),
    ...(lab.matrices.w_o || lab.norm !== "none" ? [] : ["output"]),
  ]);
  return Object.entries(answer.steps).filter(([id]) => !idle.has(id)).map(([id, values]) => ({
    id,
    name: called[id] ?? id,
    formula: formula[id] ?? id,
    scale: id === "mask" ? "mask" : SHARES.has(id) ? "share" : "signed",
    tables: tables(lab, answer.dims[id], values, t),
  }));
}

/** @param {Lab} lab @param {string[]} dims @param {any} values @param {Translate} t @returns {Step["tables"]} */
function tables(lab, dims, values, t) {
  if (!dims.length) return [{ title: "", values: [[values]], rows: [""], cols: [""] }];
  if (dims.length === 1) return [{ title: "", values: values.map((/** @type {number} */ value) => [value]), rows: axisLabels(lab, dims[0], values.length), cols: [""] }];
  if (dims[0] !== "head") return [table(lab, dims, values)];
  return values.map((/** @type {number[][]} */ headValues, /** @type {number} */ head) => ({
    ...table(lab, dims.slice(1), headValues),
    title: values.length > 1 ? t("Head {n}", { n: head + 1 }) : "",
  }));
}

/** @param {Lab} lab @param {string[]} dims @param {number[][]} values */
const table = (lab, [rows, cols], values) => ({
  title: "",
  values: values.map((row) => row.map(Number)),
  rows: axisLabels(lab, rows, values.length),
  cols: axisLabels(lab, cols, values[0].length),
});

/**
 * The labels of an axis.
 * @param {Lab} lab
 * @param {string} dim
 * @param {number} count
 * @returns {string[]}
 */
export function axisLabels(lab, dim, count) {
  const tokens = dim === "query" ? lab.tokens : dim === "key" ? (lab.matrices.memory ? lab.memoryTokens : lab.tokens) : [];
  const first = dim === "vocab" ? 0 : 1;
  return Array.from({ length: count }, (_, i) => tokens[i] ?? String(i + first));
}

/**
 * The pair with the largest weight of all heads, for the summary.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {number | null} [only]  the query that the summary is about; null: any
 * @returns {{query: string, key: string, weight: number, head: number}}
 */
export function largestWeight(lab, { steps: { weights } }, only = null) {
  let best = { query: "", key: "", weight: -1, head: 0 };
  const rows = weights.map((/** @type {number[][]} */ headWeights) => (lab.convention === "column" ? transposed(headWeights) : headWeights));
  // A row that sees a single key has no choice, so it is skipped if others have one.
  const choosing = rows.flat().some(open);
  rows.forEach((/** @type {number[][]} */ headWeights, /** @type {number} */ head) =>
    headWeights.forEach((row, query) => {
      if (only === null ? choosing && !open(row) : query !== only) return;
      row.forEach((weight, key) => {
        if (weight <= best.weight + 1e-12) return;
        best = { query: axisLabels(lab, "query", query + 1)[query], key: axisLabels(lab, "key", key + 1)[key], weight, head };
      });
    }),
  );
  return best;
}

/** @param {number[]} row  Whether there is a choice in it. */
const open = (row) => row.filter((weight) => weight > 0).length > 1;
