/**
 * The state of the lab: matrices as typed, and the parts that are switched on. Matrices are stored
 * in the convention that is shown; sizes are those of the row convention.
 */

import { transposed } from "../lib/csv.js";

/** @import { Answer } from "./steps.js" */
/** @import { Cells } from "../lib/csv.js" */

/** @typedef {"row" | "column"} Convention */
/**
 * @typedef {object} Lab
 * @property {Convention} convention
 * @property {string[]} tokens
 * @property {string[]} memoryTokens  of the text that is attended to, if it is another one
 * @property {number} heads
 * @property {"scaled" | "dot" | "additive"} scoring
 * @property {"none" | "causal" | "window" | "causal-window"} mask
 * @property {number} window
 * @property {"none" | "add" | "multiply" | "sinusoidal"} relative  how the order of tokens is
 *   encoded
 * @property {"none" | "residual" | "post" | "pre"} norm
 * @property {boolean} shift
 * @property {string} smoothing  as typed
 * @property {boolean} fractions  whether simple numbers are printed as fractions
 * @property {number[]} order  of shuffled tokens: the original position of each; empty: not
 *   shuffled
 * @property {Record<string, number>} hidden  steps to be filled in, each with its row
 * @property {Record<string, Cells>} matrices  by their names in a request
 */
/** @typedef {{n: number, m: number, d: number, k: number, f: number, vocab: number}} Sizes */

export const MAX_SIZE = 8;
/** Offsets of relative positions: from −2 to 2; larger ones are clipped. */
export const CLIP = 2;
export const CHOICES = {
  scoring: ["scaled", "dot", "additive"],
  mask: ["none", "causal", "window", "causal-window"],
  relative: ["none", "sinusoidal", "add", "multiply"],
  norm: ["none", "residual", "post", "pre"],
};
/** Optional parts, and the matrices that belong to each. @type {Record<string, string[]>} */
export const EXTRAS = {
  memory: ["memory"],
  padding: ["padding"],
  affine: ["gamma", "beta"],
  biases: ["b_q", "b_k", "b_v"],
  w_o: ["w_o"],
  ffn: ["w_1", "b_1", "w_2", "b_2"],
  vocab: ["w_vocab", "targets"],
};
export const VECTORS = new Set(["b_q", "b_k", "b_v", "b_o", "b_1", "b_2", "w", "b", "pi", "padding", "gamma", "beta", "ffn_gamma", "ffn_beta", "targets"]);
/** Matrices with one row per head. */
const HEADWISE = new Set(["w", "b"]);
const ONES = new Set(["w", "gamma", "ffn_gamma"]);
export const NAMES = [
  "x", "memory", "padding", "w_q", "w_k", "w_v", "b_q", "b_k", "b_v", "w", "b", "pi", "w_o", "b_o", "gamma", "beta",
  "w_1", "b_1", "w_2", "b_2", "ffn_gamma", "ffn_beta", "w_vocab", "targets",
];

/** @param {Lab} lab @param {string} name @returns {Cells}  as the row convention has it */
export const inRows = (lab, name) => (lab.convention === "column" ? transposed(lab.matrices[name]) : lab.matrices[name]);

/** @param {Lab} lab @returns {Sizes} */
export function sizes(lab) {
  const { x, memory, w_q, w_1, w_vocab } = Object.fromEntries(Object.keys(lab.matrices).map((name) => [name, inRows(lab, name)]));
  return {
    n: x.length,
    m: memory?.length ?? x.length,
    d: x[0].length,
    k: w_q[0].length / lab.heads,
    f: w_1?.[0].length ?? 6,
    vocab: w_vocab?.[0].length ?? 4,
  };
}

/**
 * Rows and columns of a matrix in the row convention.
 * @param {Sizes} sizes
 * @param {number} heads
 * @param {Set<string>} present  the matrices present: a W_O maps the heads back to d features
 * @returns {Record<string, [number, number]>}
 */
function shapes({ n, m, d, k, f, vocab }, heads, present) {
  const all = heads * k;
  const width = present.has("w_o") ? d : all;
  return {
    x: [n, d],
    memory: [m, d],
    ...Object.fromEntries(["w_q", "w_k", "w_v"].map((name) => [name, [d, all]])),
    ...Object.fromEntries(["b_q", "b_k", "b_v"].map((name) => [name, [1, all]])),
    padding: [1, present.has("memory") ? m : n],
    w: [heads, k],
    b: [heads, k],
    pi: [1, 2 * CLIP + 1],
    w_o: [all, d],
    b_o: [1, d],
    ...Object.fromEntries(["gamma", "beta", "ffn_gamma", "ffn_beta"].map((name) => [name, [1, d]])),
    w_1: [width, f],
    b_1: [1, f],
    w_2: [f, width],
    b_2: [1, width],
    w_vocab: [width, vocab],
    targets: [1, n],
  };
}

/** The default of a cell. @param {string} name @param {number} row @param {number} col */
function blank(name, row, col) {
  if (ONES.has(name)) return "1";
  if (VECTORS.has(name)) return "0";
  return row === col ? "1" : "0";
}

/**
 * Change the sizes, and add or remove matrices as its parts need; typed cells stay where they are.
 * @param {Lab} lab
 * @param {Partial<Sizes> & {heads?: number, has?: string[]}} [wanted]  has: the matrices to include
 * @returns {Lab}
 */
export function withSizes(lab, { heads = lab.heads, has = Object.keys(lab.matrices), ...requested } = {}) {
  const size = { ...sizes(lab), ...requested };
  // A residual needs as many features as x.
  const adds = lab.norm !== "none" && heads * size.k !== size.d;
  const present = new Set([...has, ...(adds ? ["w_o"] : [])]);
  const normed = lab.norm === "post" || lab.norm === "pre";
  for (const [name, used] of /** @type {[string, boolean][]} */ ([
    ["w", lab.scoring === "additive"],
    ["b", lab.scoring === "additive" && present.has("b_q")],
    ["pi", lab.relative === "add" || lab.relative === "multiply"],
    ["b_o", present.has("w_o") && present.has("b_q")],
    ["gamma", normed && present.has("gamma")],
    ["beta", normed && present.has("beta")],
    ["ffn_gamma", normed && present.has("gamma") && present.has("w_1")],
    ["ffn_beta", normed && present.has("beta") && present.has("w_1")],
  ]))
    used ? present.add(name) : present.delete(name);
  const shape = shapes(size, heads, present);
  const matrices = Object.fromEntries(
    NAMES.filter((name) => present.has(name)).map((name) => {
      const old = lab.matrices[name] && inRows(lab, name);
      const [rows, cols] = shape[name];
      const oldRow = (/** @type {number} */ i) => old?.[HEADWISE.has(name) && !old[i] ? 0 : i];
      const cells = Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => oldRow(i)?.[j] ?? blank(name, i, j)));
      return [name, lab.convention === "column" ? transposed(cells) : cells];
    }),
  );
  const order = lab.order.length === size.n ? lab.order : [];
  return { ...lab, heads, matrices, order, tokens: named(lab.tokens, size.n), memoryTokens: named(lab.memoryTokens, size.m) };
}

/**
 * The sizes behind the rows and columns of a matrix.
 * @type {Record<string, ["n" | "m" | "d" | "k" | "f" | "vocab" | null, "n" | "m" | "d" | "k" | "f"
 *   | "vocab" | null]>}
 */
const AXES = {
  x: ["n", "d"], memory: ["m", "d"], w_q: ["d", "k"], w_k: ["d", "k"], w_v: ["d", "k"],
  b_q: [null, "k"], b_k: [null, "k"], b_v: [null, "k"], w: [null, "k"], b: [null, "k"],
  w_o: ["k", "d"], w_1: [null, "f"], b_1: [null, "f"], w_2: ["f", null], w_vocab: [null, "vocab"], targets: [null, "n"],
  gamma: [null, "d"], beta: [null, "d"], ffn_gamma: [null, "d"], ffn_beta: [null, "d"],
};

/**
 * Enlarge a matrix to this many rows and columns, up to the limits.
 * @param {Lab} lab
 * @param {string} name
 * @param {number} rows  in the current convention
 * @param {number} cols
 * @returns {Lab | null}  null: not larger than before
 */
export function enlarged(lab, name, rows, cols) {
  const requested = lab.convention === "column" ? [cols, rows] : [rows, cols];
  const [present, shared] = [sizes(lab), HEADWISE.has(name) ? 1 : lab.heads];
  const larger = (AXES[name] ?? []).flatMap((size, axis) => {
    if (!size) return [];
    const count = Math.min(size === "k" ? Math.ceil(requested[axis] / shared) : requested[axis], MAX_SIZE);
    return count > present[size] ? [[size, count]] : [];
  });
  return larger.length ? withSizes(lab, Object.fromEntries(larger)) : null;
}

/** @param {string[]} names @param {number} count */
const named = (names, count) => Array.from({ length: count }, (_, i) => names[i] ?? `t${i + 1}`);

/** Transpose everything. @param {Lab} lab @returns {Lab} */
export function transposedLab(lab) {
  const matrices = Object.fromEntries(Object.entries(lab.matrices).map(([name, cells]) => [name, transposed(cells)]));
  return { ...lab, convention: lab.convention === "row" ? "column" : "row", matrices };
}

/**
 * Switch a part on or off.
 * @param {Lab} lab
 * @param {string} extra
 * @param {boolean} on
 * @returns {Lab}
 */
export function withExtra(lab, extra, on) {
  const has = Object.keys(lab.matrices).filter((name) => !EXTRAS[extra].includes(name));
  return withSizes(lab, { has: on ? [...has, ...EXTRAS[extra]] : has });
}

// Shuffle the tokens: without positions, attention gives each token the same output in any order.

/** The first of these that exists is the output. */
const OUTPUTS = ["final.norm", "ffn.norm", "ffn.residual", "ffn.output", "norm", "residual", "output"];
/** Smaller differences are rounding errors. */
const ROUNDING = 1e-9;

/**
 * Reorder the tokens with everything that belongs to them.
 * @param {Lab} lab
 * @param {number[]} order  for each position, the index of its token
 * @returns {Lab}
 */
export function reordered(lab, order) {
  const column = lab.convention === "column";
  /** @param {string} name @param {(rows: string[][]) => string[][]} move @returns {[string, string[][]]} */
  function moved(name, move) {
    const cells = move(inRows(lab, name));
    return [name, column ? transposed(cells) : cells];
  }
  const { x, targets, padding, memory } = lab.matrices;
  const movedMatrices = [
    ...(x ? [moved("x", (rows) => order.map((from) => rows[from]))] : []),
    ...(padding && !memory ? [moved("padding", ([row]) => [order.map((from) => row[from])])] : []),
    ...(targets ? [moved("targets", ([row]) => [order.map((from) => row[from])])] : []),
  ];
  const written = order.map((from) => lab.order[from] ?? from);
  return {
    ...lab,
    tokens: order.map((from) => lab.tokens[from]),
    order: written.every((from, place) => from === place) ? [] : written,
    matrices: { ...lab.matrices, ...Object.fromEntries(movedMatrices) },
  };
}

/**
 * Shuffle into an order that differs from the current one.
 * @param {Lab} lab
 * @param {() => number} [random]
 * @returns {Lab}
 */
export function shuffled(lab, random = Math.random) {
  const { n } = sizes(lab);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const isUnchanged = order.every((from, place) => from === place);
  return reordered(lab, isUnchanged ? [...order.slice(1), order[0]] : order);
}

/** Restore the original order. @param {Lab} lab @returns {Lab} */
export function unshuffled(lab) {
  if (!lab.order.length) return lab;
  const back = lab.order.map((_, place) => lab.order.indexOf(place));
  return reordered(lab, back);
}

/**
 * How much each token's output differs from its output in the original order.
 * @param {Lab} lab  shuffled
 * @param {Answer} answer
 * @param {Answer} before  for the same tokens, unshuffled
 * @returns {number[]}  the largest difference of its features
 */
export function outputChanges(lab, answer, before) {
  const [now, then] = [outputs(lab, answer), outputs(lab, before)];
  return now.map((row, place) => {
    const difference = Math.max(...row.map((value, i) => Math.abs(value - then[lab.order[place]][i])));
    return difference < ROUNDING ? 0 : difference;
  });
}

/** One row of features per token. @param {Lab} lab @param {Answer} answer @returns {number[][]} */
function outputs(lab, { steps }) {
  const output = steps[OUTPUTS.find((name) => steps[name]) ?? "output"];
  return lab.convention === "column" ? transposed(output) : output;
}
