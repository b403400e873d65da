/**
 * Where a number of a step comes from: the cells that it was computed from, and the calculation
 * with their numbers. The rules are written for the row convention; the column convention swaps
 * rows and columns on the way in and out.
 */

import { maskTerm } from "../core/draw/colour-scales.js";
import { fraction, plain, raised, root } from "../core/compute/formula.js";
import { number, transposed } from "../lib/csv.js";
import { CLIP } from "./matrices.js";

/** @import { Answer } from "./steps.js" */
/** @import { Formula } from "../core/compute/formula.js" */
/** @import { Lab } from "./matrices.js" */

/** @typedef {{head: number, row: number, col: number}} Place */
/** @typedef {{of: string, head?: number, row?: number, col?: number}} Cells  of a matrix or a step; absent: all */
/** @typedef {{from: Cells[], terms: Formula[]}} Origin  terms: the terms, in the order in which they stand */
/** @typedef {(cells: Cells) => number[]} Read */
/** @typedef {(value: number) => string} Format */

/**
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Format} format  formats a number
 * @returns {(step: string, place: Place) => Origin | null}  null: not computed from other numbers
 */
export function cellOrigins(lab, answer, format) {
  const column = lab.convention === "column";
  const read = reader(lab, answer);
  const rules = { ...attention(lab, answer, read, format), ...sublayers(lab, answer, read, format), ...loss(lab, read, format) };
  /** @param {string} name */
  const turns = (name) => column && (name in lab.matrices || answer.dims[name]?.length > 1);
  /** @param {Cells} cells @returns {Cells} */
  const turned = ({ row, col, ...source }) => (turns(source.of) ? { ...source, row: col, col: row } : { ...source, row, col });
  return (step, { head, row, col }) => {
    const origin = rules[step]?.(turns(step) ? { head, row: col, col: row } : { head, row, col }) ?? null;
    return origin && { ...origin, from: origin.from.map(turned) };
  };
}

/**
 * Read numbers by their position in the row convention.
 * @param {Lab} lab
 * @param {Answer} answer
 * @returns {Read}
 */
function reader(lab, { steps, dims }) {
  const column = lab.convention === "column";
  /** @param {string} name @param {number} head @returns {number[][]} */
  function table(name, head) {
    if (name in lab.matrices) {
      const typed = lab.matrices[name].map((row) => row.map((text) => number(text).value ?? 0));
      return column ? transposed(typed) : typed;
    }
    const values = dims[name][0] === "head" ? steps[name][head] : steps[name];
    if (dims[name].length === 1) return values.map((/** @type {number} */ value) => [value]);
    return column ? transposed(values) : values;
  }
  return ({ of, head = 0, row, col }) => {
    const rows = table(of, head);
    const chosen = row === undefined ? rows : [rows[row]];
    return chosen.flatMap((rowValues) => (col === undefined ? rowValues : [rowValues[col]])).map(Number);
  };
}

/**
 * a · b + …, plus what is added.
 * @param {Read} read
 * @param {Format} format
 * @param {Cells} a
 * @param {Cells} b
 * @param {Cells[]} added
 * @returns {Origin}
 */
function product(read, format, a, b, added = []) {
  const factors = read(b);
  const terms = read(a).map((value, i) => [numberTerm(format, value), "·", numberTerm(format, factors[i])]);
  const addends = added.flatMap((cells) => read(cells).map((value) => [numberTerm(format, value)]));
  return { from: [a, b, ...added], terms: summed([...terms, ...addends]) };
}

/** @param {Formula[][]} terms @returns {Formula[]} */
const summed = (terms) => terms.map((term, i) => (i ? ["+", ...term] : term));

/**
 * A number, in parentheses if it is negative.
 * @param {Format} format
 * @param {number} value
 */
const numberTerm = (format, value) => (value < 0 ? ["(", plain(format(value)), ")"] : plain(format(value)));

/** The cells whose matrices are present. @param {Lab} lab @param {...Cells} cells */
const presentCells = (lab, ...cells) => cells.filter((cell) => lab.matrices[cell.of]);

/** @typedef {Record<string, (place: Place) => Origin | null>} Rules */

/**
 * Steps up to the concatenation of the heads.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Read} read
 * @param {Format} format
 * @returns {Rules}
 */
function attention(lab, answer, read, format) {
  const channels = perHead(lab, answer, "q");
  const input = answer.dims.input ? "input" : "x";
  const first = lab.norm === "pre" ? "norm" : input;
  const looked = lab.matrices.memory ? "memory" : first;
  /** @param {string} letter @param {string} x @returns {(place: Place) => Origin} */
  const projected = (letter, x) => ({ head, row, col }) => {
    const channel = head * perHead(lab, answer, letter) + col;
    return product(read, format, { of: x, row }, { of: `w_${letter}`, col: channel }, presentCells(lab, { of: `b_${letter}`, col: channel }));
  };
  /** @param {Place} place @returns {Origin} */
  const pairs = ({ head, row, col }) => product(read, format, { of: "q", head, row }, { of: "k", head, row: col });
  /** @type {Record<string, (place: Place) => Origin>} */
  const scored = {
    dot: pairs,
    scaled({ head, row, col }) {
      const cell = { of: "products", head, row, col };
      return { from: [cell], terms: [fraction(plain(format(read(cell)[0])), root(plain(channels)))] };
    },
    additive: ({ head, row, col }) => additive(lab, read, format, { head, row, col }),
  };
  const score = scored[lab.scoring];
  return {
    encoding: () => null,
    input: ({ row, col }) => added(read, format, { of: "x", row, col }, { of: "encoding", row, col }),
    q: projected("q", first),
    k: projected("k", looked),
    v: projected("v", looked),
    products: pairs,
    scored: score,
    position: ({ row, col }) => {
      const cell = { of: "pi", col: Math.min(Math.max(col - row, -CLIP), CLIP) + CLIP };
      return { from: [cell], terms: [numberTerm(format, read(cell)[0])] };
    },
    scores({ head, row, col }) {
      if (!answer.dims.position) return score({ head, row, col });
      return added(read, format, { of: "scored", head, row, col }, { of: "position", row, col }, lab.relative === "add" ? "+" : "·");
    },
    mask({ row, col }) {
      const [cell] = presentCells(lab, { of: "padding", col });
      if (!cell) return null;
      const isReal = !read(cell)[0];
      return { from: [cell], terms: [plain(maskTerm(allowed(lab, row, col))), ["+", plain(maskTerm(isReal))]] };
    },
    weights: ({ head, row, col }) => shared(read, format, { of: "scores", head, row }, col, { of: "mask", row }),
    mix: ({ head, row, col }) => product(read, format, { of: "weights", head, row }, { of: "v", head, col }),
    concat({ row, col }) {
      const width = perHead(lab, answer, "v");
      const cell = { of: "mix", head: Math.floor(col / width), row, col: col % width };
      return { from: [cell], terms: [numberTerm(format, read(cell)[0])] };
    },
  };
}

/**
 * Whether a query may see a key, apart from padding.
 * @param {Lab} lab
 * @param {number} row
 * @param {number} col
 */
const allowed = ({ mask, window }, row, col) =>
  !(mask.startsWith("causal") && col > row) && !(mask.endsWith("window") && Math.abs(row - col) >= window);

/** Channels per head. @param {Lab} lab @param {Answer} answer @param {string} letter */
function perHead(lab, { steps }, letter) {
  const vectors = steps[letter][0];
  return lab.convention === "column" ? vectors.length : vectors[0].length;
}

/** w · tanh(q + k + b). @param {Lab} lab @param {Read} read @param {Format} format @param {Place} place @returns {Origin} */
function additive(lab, read, format, { head, row, col }) {
  const [q, k, w] = [{ of: "q", head, row }, { of: "k", head, row: col }, { of: "w", row: head }];
  const biasCells = presentCells(lab, { of: "b", row: head });
  const [queryValues, keyValues, weights, bias] = [read(q), read(k), read(w), biasCells.map(read)[0]];
  const terms = weights.map((weight, i) => [
    numberTerm(format, weight), "·", "tanh", "(", plain(format(queryValues[i])), "+", numberTerm(format, keyValues[i]), ...(bias ? ["+", numberTerm(format, bias[i])] : []), ")",
  ]);
  return { from: [q, k, w, ...biasCells], terms: summed(terms) };
}

/** @param {Read} read @param {Format} format @param {Cells} a @param {Cells} b @param {string} [sign] @returns {Origin} */
const added = (read, format, a, b, sign = "+") => ({ from: [a, b], terms: [[numberTerm(format, read(a)[0])], [sign, numberTerm(format, read(b)[0])]] });

/**
 * A softmax: e to the score, divided by the sum over the row.
 * @param {Read} read
 * @param {Format} format
 * @param {Cells} scores  a row
 * @param {number} index
 * @param {Cells} [mask]  its mask
 * @returns {Origin}
 */
function shared(read, format, scores, index, mask) {
  const values = read(scores);
  const open = mask ? read(mask) : values.map(() => 1);
  const from = mask ? [scores, mask] : [scores];
  if (!open[index]) return { from, terms: [plain("0")] };
  const power = (/** @type {number} */ value) => raised("e", plain(format(value)));
  const all = values.filter((_, i) => open[i]).flatMap((value, i) => (i ? ["+", power(value)] : [power(value)]));
  return { from, terms: [fraction(power(values[index]), all)] };
}

/**
 * Steps from W_O to the last norm.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Read} read
 * @param {Format} format
 * @returns {Rules}
 */
function sublayers(lab, answer, read, format) {
  const [pre, post] = [lab.norm === "pre", lab.norm === "post"];
  const input = answer.dims.input ? "input" : "x";
  const joined = lab.heads > 1 ? "concat" : "mix";
  const out = lab.matrices.w_o || lab.norm !== "none" ? "output" : joined;
  const behind = post ? "norm" : lab.norm === "none" ? out : "residual";
  const normed = (/** @type {string} */ name, prefix = "") => (/** @type {Place} */ { row, col }) =>
    normal(read, format, { of: name, row }, col, presentCells(lab, { of: `${prefix}gamma`, col }), presentCells(lab, { of: `${prefix}beta`, col }));
  const sum = (/** @type {string} */ a, /** @type {string} */ b) => (/** @type {Place} */ { row, col }) => added(read, format, { of: a, row, col }, { of: b, row, col });
  const times = (/** @type {string} */ x, /** @type {string} */ w, /** @type {string} */ b) => (/** @type {Place} */ { row, col }) =>
    product(read, format, { of: x, row }, { of: w, col }, presentCells(lab, { of: b, col }));
  const hidden = times(pre ? "ffn.norm" : behind, "w_1", "b_1");
  const final = lab.matrices.w_1 ? "ffn.residual" : "residual";
  const last = pre ? "final.norm" : !lab.matrices.w_1 ? behind : post ? "ffn.norm" : lab.norm === "none" ? "ffn.output" : "ffn.residual";
  return {
    output({ row, col }) {
      if (lab.matrices.w_o) return times(joined, "w_o", "b_o")({ head: 0, row, col });
      const cell = { of: joined, head: 0, row, col };
      return { from: [cell], terms: [numberTerm(format, read(cell)[0])] };
    },
    residual: sum(input, "output"),
    norm: normed(pre ? input : "residual"),
    "ffn.hidden"(place) {
      const { from, terms } = hidden(place);
      return { from, terms: [["max", "(", plain("0"), ","], ...terms, ")"] };
    },
    "ffn.output": times("ffn.hidden", "w_2", "b_2"),
    "ffn.residual": sum(behind, "ffn.output"),
    "ffn.norm": normed(pre ? "residual" : "ffn.residual", "ffn_"),
    "final.norm": ({ row, col }) => normal(read, format, { of: final, row }, col, [], []),
    logits: times(last, "w_vocab", ""),
  };
}

/**
 * γ · (x − mean) / √(variance + ε) + β.
 * @param {Read} read
 * @param {Format} format
 * @param {Cells} row
 * @param {number} index
 * @param {Cells[]} gamma  none: 1
 * @param {Cells[]} beta  none: 0
 * @returns {Origin}
 */
function normal(read, format, row, index, gamma, beta) {
  const values = read(row);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const above = [plain(format(values[index])), "−", numberTerm(format, mean)];
  const part = fraction(above, root([plain(format(variance)), "+", plain("0.00001")]));
  const scaled = gamma.length ? [numberTerm(format, read(gamma[0])[0]), "·", part] : [part];
  return { from: [row, ...gamma, ...beta], terms: [scaled, ...beta.map((cell) => ["+", numberTerm(format, read(cell)[0])])] };
}

/**
 * Steps from the logits to the loss.
 * @param {Lab} lab
 * @param {Read} read
 * @param {Format} format
 * @returns {Rules}
 */
function loss(lab, read, format) {
  return {
    probabilities: ({ row, col }) => shared(read, format, { of: "logits", row }, col),
    wanted({ row, col }) {
      const [epsilon, size] = [number(lab.smoothing).value ?? 0, read({ of: "logits", row }).length];
      const cell = { of: "targets", col: row + (lab.shift && lab.tokens.length > 1 ? 1 : 0) };
      const targetShare = read(cell)[0] === col ? 1 : 0;
      return { from: [cell], terms: [["(", plain("1"), "−", plain(format(epsilon)), ")", "·", plain(targetShare)], ["+", fraction(plain(format(epsilon)), plain(size))]] };
    },
    losses({ row }) {
      const [target, predicted] = [{ of: "wanted", row }, { of: "probabilities", row }];
      const chances = read(predicted);
      const terms = read(target).flatMap((share, i) => (share ? [["−", plain(format(share)), "·", "log", plain(format(chances[i]))]] : []));
      return { from: [target, predicted], terms };
    },
    loss() {
      const values = read({ of: "losses" });
      const sum = values.flatMap((value, i) => (i ? ["+", numberTerm(format, value)] : [numberTerm(format, value)]));
      return { from: [{ of: "losses" }], terms: [fraction(sum, plain(values.length))] };
    },
  };
}
