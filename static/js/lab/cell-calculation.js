/**
 * Where a number of a step comes from: the cells that it was computed from, and the calculation
 * with their numbers. The rules are written for the row convention; the column convention swaps
 * rows and columns on the way in and out.
 */

import { fraction, plain, raised, root } from "../core/compute/formula.js";
import { number, transposed } from "../lib/csv.js";
import { CLIP } from "./matrices.js";

/** @import { Answer } from "./steps.js" */
/** @import { Formula } from "../core/compute/formula.js" */
/** @import { Lab } from "./matrices.js" */

/** @typedef {{head: number, row: number, col: number}} Place */
/** @typedef {{of: string, head?: number, row?: number, col?: number}} Cells  of a matrix or a step; absent: all */
/** @typedef {{from: Cells[], says: Formula[]}} Origin  says: the terms, in the order in which they stand */
/** @typedef {(cells: Cells) => number[]} Read */
/** @typedef {(value: number) => string} Say */

/**
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Say} say  formats a number
 * @returns {(step: string, place: Place) => Origin | null}  null: not computed from other numbers
 */
export function origins(lab, answer, say) {
  const column = lab.convention === "column";
  const read = reader(lab, answer);
  const rules = { ...attention(lab, answer, read, say), ...sublayers(lab, answer, read, say), ...loss(lab, read, say) };
  /** @param {string} name */
  const turns = (name) => column && (name in lab.matrices || answer.dims[name]?.length > 1);
  /** @param {Cells} cells @returns {Cells} */
  const turned = ({ row, col, ...rest }) => (turns(rest.of) ? { ...rest, row: col, col: row } : { ...rest, row, col });
  return (step, { head, row, col }) => {
    const found = rules[step]?.(turns(step) ? { head, row: col, col: row } : { head, row, col }) ?? null;
    return found && { ...found, from: found.from.map(turned) };
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
    if (dims[name].length === 1) return values.map((/** @type {number} */ one) => [one]);
    return column ? transposed(values) : values;
  }
  return ({ of, head = 0, row, col }) => {
    const rows = table(of, head);
    const chosen = row === undefined ? rows : [rows[row]];
    return chosen.flatMap((one) => (col === undefined ? one : [one[col]])).map(Number);
  };
}

/**
 * a · b + …, plus what is added.
 * @param {Read} read
 * @param {Say} say
 * @param {Cells} a
 * @param {Cells} b
 * @param {Cells[]} added
 * @returns {Origin}
 */
function product(read, say, a, b, added = []) {
  const other = read(b);
  const terms = read(a).map((value, i) => [of(say, value), "·", of(say, other[i])]);
  const more = added.flatMap((cells) => read(cells).map((value) => [of(say, value)]));
  return { from: [a, b, ...added], says: summed([...terms, ...more]) };
}

/** @param {Formula[][]} terms @returns {Formula[]} */
const summed = (terms) => terms.map((term, i) => (i ? ["+", ...term] : term));

/**
 * A number, in parentheses if it is negative.
 * @param {Say} say
 * @param {number} value
 */
const of = (say, value) => (value < 0 ? ["(", plain(say(value)), ")"] : plain(say(value)));

/** The cells whose matrices are present. @param {Lab} lab @param {...Cells} cells */
const there = (lab, ...cells) => cells.filter((one) => lab.matrices[one.of]);

/** @typedef {Record<string, (place: Place) => Origin | null>} Rules */

/**
 * Steps up to the concatenation of the heads.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Read} read
 * @param {Say} say
 * @returns {Rules}
 */
function attention(lab, answer, read, say) {
  const channels = perHead(lab, answer, "q");
  const input = answer.dims.input ? "input" : "x";
  const first = lab.norm === "pre" ? "norm" : input;
  const looked = lab.matrices.memory ? "memory" : first;
  /** @param {string} letter @param {string} x @returns {(place: Place) => Origin} */
  const projected = (letter, x) => ({ head, row, col }) => {
    const at = head * perHead(lab, answer, letter) + col;
    return product(read, say, { of: x, row }, { of: `w_${letter}`, col: at }, there(lab, { of: `b_${letter}`, col: at }));
  };
  /** @param {Place} place @returns {Origin} */
  const pairs = ({ head, row, col }) => product(read, say, { of: "q", head, row }, { of: "k", head, row: col });
  /** @type {Record<string, (place: Place) => Origin>} */
  const scored = {
    dot: pairs,
    scaled({ head, row, col }) {
      const cell = { of: "products", head, row, col };
      return { from: [cell], says: [fraction(plain(say(read(cell)[0])), root(plain(channels)))] };
    },
    additive: ({ head, row, col }) => additive(lab, read, say, { head, row, col }),
  };
  const score = scored[lab.scoring];
  return {
    encoding: () => null,
    input: ({ row, col }) => added(read, say, { of: "x", row, col }, { of: "encoding", row, col }),
    q: projected("q", first),
    k: projected("k", looked),
    v: projected("v", looked),
    products: pairs,
    scored: score,
    position: ({ row, col }) => {
      const cell = { of: "pi", col: Math.min(Math.max(col - row, -CLIP), CLIP) + CLIP };
      return { from: [cell], says: [of(say, read(cell)[0])] };
    },
    scores({ head, row, col }) {
      if (!answer.dims.position) return score({ head, row, col });
      return added(read, say, { of: "scored", head, row, col }, { of: "position", row, col }, lab.relative === "add" ? "+" : "·");
    },
    mask({ row, col }) {
      const [cell] = there(lab, { of: "padding", col });
      if (!cell) return null;
      const seen = allowed(lab, row, col) ? "1" : "0";
      return { from: [cell], says: [[plain(seen), "·", "(", plain("1"), "−", plain(say(read(cell)[0])), ")"]] };
    },
    weights: ({ head, row, col }) => shared(read, say, { of: "scores", head, row }, col, { of: "mask", row }),
    mix: ({ head, row, col }) => product(read, say, { of: "weights", head, row }, { of: "v", head, col }),
    concat({ row, col }) {
      const own = perHead(lab, answer, "v");
      const cell = { of: "mix", head: Math.floor(col / own), row, col: col % own };
      return { from: [cell], says: [of(say, read(cell)[0])] };
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
  const own = steps[letter][0];
  return lab.convention === "column" ? own.length : own[0].length;
}

/** w · tanh(q + k + b). @param {Lab} lab @param {Read} read @param {Say} say @param {Place} place @returns {Origin} */
function additive(lab, read, say, { head, row, col }) {
  const [q, k, w] = [{ of: "q", head, row }, { of: "k", head, row: col }, { of: "w", row: head }];
  const own = there(lab, { of: "b", row: head });
  const [left, right, weights, bias] = [read(q), read(k), read(w), own.map(read)[0]];
  const terms = weights.map((weight, i) => [
    of(say, weight), "·", "tanh", "(", plain(say(left[i])), "+", of(say, right[i]), ...(bias ? ["+", of(say, bias[i])] : []), ")",
  ]);
  return { from: [q, k, w, ...own], says: summed(terms) };
}

/** @param {Read} read @param {Say} say @param {Cells} a @param {Cells} b @param {string} [sign] @returns {Origin} */
const added = (read, say, a, b, sign = "+") => ({ from: [a, b], says: [[of(say, read(a)[0])], [sign, of(say, read(b)[0])]] });

/**
 * A softmax: e to the score, divided by the sum over the row.
 * @param {Read} read
 * @param {Say} say
 * @param {Cells} scores  a row
 * @param {number} at
 * @param {Cells} [mask]  its mask
 * @returns {Origin}
 */
function shared(read, say, scores, at, mask) {
  const values = read(scores);
  const open = mask ? read(mask) : values.map(() => 1);
  const from = mask ? [scores, mask] : [scores];
  if (!open[at]) return { from, says: [plain("0")] };
  const power = (/** @type {number} */ value) => raised("e", plain(say(value)));
  const all = values.filter((_, i) => open[i]).flatMap((value, i) => (i ? ["+", power(value)] : [power(value)]));
  return { from, says: [fraction(power(values[at]), all)] };
}

/**
 * Steps from W_O to the last norm.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {Read} read
 * @param {Say} say
 * @returns {Rules}
 */
function sublayers(lab, answer, read, say) {
  const [pre, post] = [lab.norm === "pre", lab.norm === "post"];
  const input = answer.dims.input ? "input" : "x";
  const joined = lab.heads > 1 ? "concat" : "mix";
  const out = lab.matrices.w_o || lab.norm !== "none" ? "output" : joined;
  const behind = post ? "norm" : lab.norm === "none" ? out : "residual";
  const normed = (/** @type {string} */ name, which = "") => (/** @type {Place} */ { row, col }) =>
    normal(read, say, { of: name, row }, col, there(lab, { of: `${which}gamma`, col }), there(lab, { of: `${which}beta`, col }));
  const sum = (/** @type {string} */ a, /** @type {string} */ b) => (/** @type {Place} */ { row, col }) => added(read, say, { of: a, row, col }, { of: b, row, col });
  const times = (/** @type {string} */ x, /** @type {string} */ w, /** @type {string} */ b) => (/** @type {Place} */ { row, col }) =>
    product(read, say, { of: x, row }, { of: w, col }, there(lab, { of: b, col }));
  const hidden = times(pre ? "ffn.norm" : behind, "w_1", "b_1");
  const final = lab.matrices.w_1 ? "ffn.residual" : "residual";
  const last = pre ? "final.norm" : !lab.matrices.w_1 ? behind : post ? "ffn.norm" : lab.norm === "none" ? "ffn.output" : "ffn.residual";
  return {
    output({ row, col }) {
      if (lab.matrices.w_o) return times(joined, "w_o", "b_o")({ head: 0, row, col });
      const cell = { of: joined, head: 0, row, col };
      return { from: [cell], says: [of(say, read(cell)[0])] };
    },
    residual: sum(input, "output"),
    norm: normed(pre ? input : "residual"),
    "ffn.hidden"(place) {
      const { from, says } = hidden(place);
      return { from, says: [["max", "(", plain("0"), ","], ...says, ")"] };
    },
    "ffn.output": times("ffn.hidden", "w_2", "b_2"),
    "ffn.residual": sum(behind, "ffn.output"),
    "ffn.norm": normed(pre ? "residual" : "ffn.residual", "ffn_"),
    "final.norm": ({ row, col }) => normal(read, say, { of: final, row }, col, [], []),
    logits: times(last, "w_vocab", ""),
  };
}

/**
 * γ · (x − mean) / √(variance + ε) + β.
 * @param {Read} read
 * @param {Say} say
 * @param {Cells} row
 * @param {number} at
 * @param {Cells[]} gamma  none: 1
 * @param {Cells[]} beta  none: 0
 * @returns {Origin}
 */
function normal(read, say, row, at, gamma, beta) {
  const values = read(row);
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const variance = values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / values.length;
  const above = [plain(say(values[at])), "−", of(say, mean)];
  const part = fraction(above, root([plain(say(variance)), "+", plain("0.00001")]));
  const scaled = gamma.length ? [of(say, read(gamma[0])[0]), "·", part] : [part];
  return { from: [row, ...gamma, ...beta], says: [scaled, ...beta.map((cell) => ["+", of(say, read(cell)[0])])] };
}

/**
 * Steps from the logits to the loss.
 * @param {Lab} lab
 * @param {Read} read
 * @param {Say} say
 * @returns {Rules}
 */
function loss(lab, read, say) {
  return {
    probabilities: ({ row, col }) => shared(read, say, { of: "logits", row }, col),
    wanted({ row, col }) {
      const [epsilon, size] = [number(lab.smoothing).value ?? 0, read({ of: "logits", row }).length];
      const cell = { of: "targets", col: row + (lab.shift && lab.tokens.length > 1 ? 1 : 0) };
      const own = read(cell)[0] === col ? 1 : 0;
      return { from: [cell], says: [["(", plain("1"), "−", plain(say(epsilon)), ")", "·", plain(own)], ["+", fraction(plain(say(epsilon)), plain(size))]] };
    },
    losses({ row }) {
      const [wanted, guessed] = [{ of: "wanted", row }, { of: "probabilities", row }];
      const chances = read(guessed);
      const terms = read(wanted).flatMap((share, i) => (share ? [["−", plain(say(share)), "·", "log", plain(say(chances[i]))]] : []));
      return { from: [wanted, guessed], says: terms };
    },
    loss() {
      const values = read({ of: "losses" });
      const sum = values.flatMap((value, i) => (i ? ["+", of(say, value)] : [of(say, value)]));
      return { from: [{ of: "losses" }], says: [fraction(sum, plain(values.length))] };
    },
  };
}
