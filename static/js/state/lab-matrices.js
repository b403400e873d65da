/**
 * What the lab is about: matrices as they were typed, the parts they go through, and both as a
 * link and as a request. Matrices stand as the convention has them; sizes are those of the rows.
 */

import { number, transposed } from "../lib/cells.js";

/** @typedef {import("../lib/cells.js").Cells} Cells */
/** @typedef {"row" | "column"} Convention */
/**
 * @typedef {object} Lab
 * @property {Convention} convention
 * @property {string[]} tokens
 * @property {string[]} memoryTokens  of what is looked at, where that is another text
 * @property {number} heads
 * @property {"scaled" | "dot" | "additive"} scoring
 * @property {"none" | "causal" | "window" | "causal-window"} mask
 * @property {number} window
 * @property {"none" | "add" | "multiply"} relative
 * @property {"none" | "residual" | "post" | "pre"} norm
 * @property {boolean} shift
 * @property {string} smoothing  as typed
 * @property {Record<string, Cells>} matrices  by their names in a request; those that are there
 */
/** @typedef {{n: number, m: number, d: number, k: number, f: number, vocab: number}} Sizes */

export const MOST = 8;
/** Offsets of relative positions: from −2 to 2, and those beyond count as these. */
export const CLIP = 2;
export const CHOICES = {
  scoring: ["scaled", "dot", "additive"],
  mask: ["none", "causal", "window", "causal-window"],
  relative: ["none", "add", "multiply"],
  norm: ["none", "residual", "post", "pre"],
};
/** What can be there or not, and the matrices that come with it. @type {Record<string, string[]>} */
export const EXTRAS = {
  memory: ["memory"],
  biases: ["b_q", "b_k", "b_v"],
  w_o: ["w_o"],
  ffn: ["w_1", "b_1", "w_2", "b_2"],
  vocab: ["w_vocab", "targets"],
};
const VECTORS = new Set(["b_q", "b_k", "b_v", "b_1", "b_2", "w", "pi", "targets"]);
export const NAMES = ["x", "memory", "w_q", "w_k", "w_v", "b_q", "b_k", "b_v", "w", "pi", "w_o", "w_1", "b_1", "w_2", "b_2", "w_vocab", "targets"];

/** @param {Lab} lab @param {string} name @returns {Cells}  as the row convention has it */
const inRows = (lab, name) => (lab.convention === "column" ? transposed(lab.matrices[name]) : lab.matrices[name]);

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
 * @param {boolean} joined  whether a W_O brings the heads back to d features
 * @returns {Record<string, [number, number]>}
 */
function shapes({ n, m, d, k, f, vocab }, heads, joined) {
  const all = heads * k;
  const width = joined ? d : all;
  return {
    x: [n, d],
    memory: [m, d],
    ...Object.fromEntries(["w_q", "w_k", "w_v"].map((name) => [name, [d, all]])),
    ...Object.fromEntries(["b_q", "b_k", "b_v"].map((name) => [name, [1, all]])),
    w: [1, k],
    pi: [1, 2 * CLIP + 1],
    w_o: [all, d],
    w_1: [width, f],
    b_1: [1, f],
    w_2: [f, width],
    b_2: [1, width],
    w_vocab: [width, vocab],
    targets: [1, n],
  };
}

/** What a cell holds that nobody has typed into. @param {string} name @param {number} row @param {number} col */
function blank(name, row, col) {
  if (name === "w") return "1";
  if (VECTORS.has(name)) return "0";
  return row === col ? "1" : "0";
}

/**
 * The same with other sizes, and with all matrices that its parts need, and no others: what was
 * typed stays where it was.
 * @param {Lab} lab
 * @param {Partial<Sizes> & {heads?: number, has?: string[]}} [wanted]  has: the matrices to be there
 * @returns {Lab}
 */
export function fitted(lab, { heads = lab.heads, has = Object.keys(lab.matrices), ...wanted } = {}) {
  const size = { ...sizes(lab), ...wanted };
  // Only what has as many features as x can be added to it.
  const adds = lab.norm !== "none" && heads * size.k !== size.d;
  const there = new Set([...has, ...(adds ? ["w_o"] : [])]);
  for (const [name, used] of /** @type {[string, boolean][]} */ ([
    ["w", lab.scoring === "additive"],
    ["pi", lab.relative !== "none"],
  ]))
    used ? there.add(name) : there.delete(name);
  const shape = shapes(size, heads, there.has("w_o"));
  const matrices = Object.fromEntries(
    NAMES.filter((name) => there.has(name)).map((name) => {
      const old = lab.matrices[name] && inRows(lab, name);
      const [rows, cols] = shape[name];
      const cells = Array.from({ length: rows }, (_, i) =>
        Array.from({ length: cols }, (_, j) => old?.[i]?.[j] ?? blank(name, i, j)),
      );
      return [name, lab.convention === "column" ? transposed(cells) : cells];
    }),
  );
  return { ...lab, heads, matrices, tokens: named(lab.tokens, size.n), memoryTokens: named(lab.memoryTokens, size.m) };
}

/** @param {string[]} names @param {number} count */
const named = (names, count) => Array.from({ length: count }, (_, i) => names[i] ?? `t${i + 1}`);

/** Everything transposed. @param {Lab} lab @returns {Lab} */
export function turned(lab) {
  const matrices = Object.fromEntries(Object.entries(lab.matrices).map(([name, cells]) => [name, transposed(cells)]));
  return { ...lab, convention: lab.convention === "row" ? "column" : "row", matrices };
}

/** With or without a part. @param {Lab} lab @param {string} extra @param {boolean} on @returns {Lab} */
export function switched(lab, extra, on) {
  const has = Object.keys(lab.matrices).filter((name) => !EXTRAS[extra].includes(name));
  return fitted(lab, { has: on ? [...has, ...EXTRAS[extra]] : has });
}

/**
 * Why cells cannot be computed with, by matrix, row and column.
 * @param {Lab} lab
 * @returns {Record<string, Record<string, "empty" | "text" | "large" | "id">>}  "0,1": the cell
 */
export function wrongs(lab) {
  const { vocab } = sizes(lab);
  /** @type {ReturnType<typeof wrongs>} */
  const found = {};
  for (const [name, cells] of Object.entries(lab.matrices)) {
    cells.forEach((row, i) =>
      row.forEach((text, j) => {
        const { value, wrong } = number(text);
        const id = name === "targets" && value !== null && !(Number.isInteger(value) && value >= 0 && value < vocab);
        if (wrong || id) (found[name] ??= {})[`${i},${j}`] = wrong ?? "id";
      }),
    );
  }
  return found;
}

/**
 * @param {Lab} lab  with nothing wrong
 * @returns {Record<string, unknown>}  as POST /api/lab takes it
 */
export function request(lab) {
  const values = Object.entries(lab.matrices).map(([name, cells]) => {
    const numbers = cells.map((row) => row.map((text) => number(text).value ?? 0));
    return [name, VECTORS.has(name) ? numbers.flat() : numbers];
  });
  const { pi, targets, ...matrices } = Object.fromEntries(values);
  const { convention, heads, scoring, mask, window, relative, norm } = lab;
  const smoothing = number(lab.smoothing).value ?? 0;
  return {
    ...matrices,
    convention,
    heads,
    scoring,
    ...(mask === "none" ? {} : { mask }),
    ...(mask.includes("window") ? { window } : {}),
    ...(pi ? { relative: { [relative]: Object.fromEntries(pi.map((/** @type {number} */ one, /** @type {number} */ i) => [String(i - CLIP), one])), clip: CLIP } } : {}),
    ...(norm === "none" ? {} : norm === "residual" ? { residual: true } : { norm }),
    ...(targets ? { targets, shift: lab.shift && sizes(lab).n > 1, label_smoothing: Math.min(Math.max(smoothing, 0), 1) } : {}),
  };
}

/**
 * @param {Lab} lab
 * @returns {string}  a query: cells between "_", rows between "*"
 */
export function format(lab) {
  const { matrices, tokens, memoryTokens, heads, window, shift, ...words } = lab;
  const query = new URLSearchParams({ ...words, heads: String(heads), window: String(window), shift: String(Number(shift)) });
  query.set("tokens", tokens.join("\n"));
  if (matrices.memory) query.set("memory_tokens", memoryTokens.join("\n"));
  for (const [name, cells] of Object.entries(matrices)) query.set(name, cells.map((row) => row.join("_")).join("*"));
  return String(query);
}

/**
 * @param {string} text  a query
 * @param {Lab} otherwise  what is meant where it says nothing
 * @returns {Lab}
 */
export function parse(text, otherwise) {
  const query = new URLSearchParams(text);
  if (!query.has("x") || !query.has("w_q")) return otherwise;
  const matrices = Object.fromEntries(
    NAMES.filter((name) => query.has(name)).map((name) => [name, (query.get(name) ?? "").split("*").map((row) => row.split("_"))]),
  );
  const even = Object.values(matrices).every((cells) => cells.every((row) => row.length === cells[0].length && row.length <= MOST * 4));
  const chosen = Object.entries(CHOICES).map(([name, values]) => {
    const said = query.get(name) ?? "";
    return [name, values.includes(said) ? said : values[0]];
  });
  const heads = between(query.get("heads"), 1, 4);
  const lab = {
    ...otherwise,
    ...Object.fromEntries(chosen),
    convention: query.get("convention") === "column" ? "column" : "row",
    heads,
    window: between(query.get("window"), 1, MOST),
    shift: query.get("shift") !== "0",
    smoothing: query.get("smoothing") ?? "0",
    tokens: query.get("tokens")?.split("\n") ?? [],
    memoryTokens: query.get("memory_tokens")?.split("\n") ?? [],
    matrices: { ...otherwise.matrices, ...matrices },
  };
  const kept = /** @type {Lab} */ ({ ...lab, matrices });
  const missing = ["w_k", "w_v"].some((name) => !matrices[name]);
  if (!even || missing || !Number.isInteger(sizes(kept).k) || sizes(kept).k < 1) return otherwise;
  const { n, m, d, k, f, vocab } = sizes(kept);
  const [most, top] = [MOST, (/** @type {number} */ size) => Math.min(size, MOST)];
  return fitted(kept, { n: top(n), m: top(m), d: top(d), k: Math.min(k, most), f: top(f), vocab: top(vocab) });
}

/** @param {string | null} text @param {number} least @param {number} most */
const between = (text, least, most) => Math.min(Math.max(Math.round(Number(text)) || least, least), most);
