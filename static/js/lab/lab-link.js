/** The lab's state: its default, the examples of its menu, and how it leaves the page: as a link, as a request, and in a share. */

import { number } from "../lib/csv.js";
import {
  CHOICES, CLIP, MAX_SIZE, NAMES, VECTORS, inRows, reordered, sizes, unshuffled, withSizes,
} from "./matrices.js";

/** @import { Translate } from "../lib/i18n.js" */
/** @import { Lab } from "./matrices.js" */
/** @import { Answer } from "./steps.js" */

// The lab's default, and the examples of its menu.

/** Parse the cells of a matrix: "1 0; 0 1". @param {string} text */
const cells = (text) => text.split(";").map((row) => row.trim().split(" "));

const IDENTITY = cells("1 0 0; 0 1 0; 0 0 1");

/** @type {Lab} */
const PLAIN = {
  convention: "row",
  tokens: ["the", "cat", "sits"],
  memoryTokens: [],
  heads: 1,
  scoring: "scaled",
  mask: "none",
  window: 2,
  relative: "none",
  norm: "none",
  shift: true,
  smoothing: "0",
  fractions: false,
  order: [],
  hidden: {},
  matrices: { x: IDENTITY, w_q: IDENTITY, w_k: IDENTITY, w_v: IDENTITY },
};

const TWO_HEADS = {
  x: cells("1 0 1; 0 2 0; 1 1 1"),
  w_q: cells("1 0 1 0 1 0; 1 0 0 1 0 1; 0 0 1 0 1 1"),
  w_k: cells("0 0 1 1 0 1; 1 1 0 0 1 0; 0 1 0 1 0 0"),
  w_v: cells("0 2 0 1 0 0; 0 3 0 0 1 0; 1 0 3 0 0 1"),
};
const W_O = cells("1 0 0; 0 1 0; 0 0 1; 1 0 0; 0 1 0; 0 0 1");
const W_1 = cells("1 0 0 -1 0 0; 0 1 0 0 -1 0; 0 0 1 0 0 -1");
const W_2 = cells("1 0 0; 0 1 0; 0 0 1; -1 0 0; 0 -1 0; 0 0 -1");
const ZEROS = { b_1: cells("0 0 0 0 0 0"), b_2: cells("0 0 0") };

const IDENTITY_2 = cells("1 0; 0 1");

/**
 * `about` says in one or two sentences what an example shows.
 * @type {Record<string, {name: (t: Translate) => string, about: (t: Translate) => string, lab:
 *   Lab}>}
 */
export const PRESETS = {
  identity: {
    name: (t) => t("Identity: three tokens, three unit vectors"),
    about: (t) => t("Each token has a score of 1/√3 with itself and 0 with the others, so it looks most at itself."),
    lab: PLAIN,
  },
  note: {
    name: (t) => t("A note’s example: [1 0], [0 1], [1 1], unscaled"),
    about: (t) =>
      t("A well-known note prints 0.2119, 0.3940, 0.3940 as the second row of the weights. This is a mistake: the " +
        "scores of this row are 0, 1, 1, so its weights are in the ratio 1 : e : e, which is 0.1554, 0.4223, " +
        "0.4223."),
    lab: { ...PLAIN, scoring: "dot", matrices: { x: cells("1 0; 0 1; 1 1"), w_q: IDENTITY_2, w_k: IDENTITY_2, w_v: IDENTITY_2 } },
  },
  heads: {
    name: (t) => t("Two heads on 3 × 3"),
    about: (t) => t("The columns of the three projections are split: three for each head. The output matrix maps the two results back to " +
      "three features."),
    lab: { ...PLAIN, heads: 2, matrices: { ...TWO_HEADS, w_o: W_O } },
  },
  causal: {
    name: (t) => t("Causal mask"),
    about: (t) => t("No token may look at a later one. The softmax shares 1 among the keys that are left."),
    lab: { ...PLAIN, mask: "causal", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x } },
  },
  window: {
    name: (t) => t("Window of two"),
    about: (t) => t("Each token looks at itself and its neighbours only. Make the window larger, or causal."),
    lab: withSizes({ ...PLAIN, mask: "window", tokens: ["the", "cat", "sat", "on", "it"] }, { n: 5 }),
  },
  relative: {
    name: (t) => t("Relative positions: the token before is favoured"),
    about: (t) => t("π has a number for each offset of the key from the query. It is added to the score, whatever the " +
      "words are."),
    lab: withSizes({ ...PLAIN, relative: "add", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, pi: cells("0 2 0 -1 -1") } }),
  },
  additive: {
    name: (t) => t("Additive scoring"),
    about: (t) => t("A score is w · tanh(q + k): a small network instead of a product. Switch on Biases to add one " +
      "inside the tanh."),
    lab: { ...PLAIN, scoring: "additive", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, w: cells("1 2 -1") } },
  },
  shuffle: {
    name: (t) => t("Shuffle the words: a set without positions"),
    about: (t) => t("These words are shuffled. Choose sinusoidal or relative positions, or a causal mask, and their " +
      "outputs will depend on the order."),
    lab: reordered(
      withSizes({ ...PLAIN, tokens: ["the", "dog", "bites", "him"], matrices: { ...PLAIN.matrices, x: cells("1 0 1; 0 2 0; 1 1 1; 2 0 0") } }),
      [2, 0, 3, 1],
    ),
  },
  memory: {
    name: (t) => t("Cross-attention: keys and values from another text"),
    about: (t) => t("Queries come from X, keys and values from M: each French word looks at the English ones."),
    lab: {
      ...PLAIN,
      tokens: ["le", "chat"],
      memoryTokens: ["the", "cat", "sits"],
      matrices: { ...PLAIN.matrices, x: cells("1 0 0; 0 2 1"), memory: cells("2 0 0; 0 2 0; 0 0 2") },
    },
  },
  ffn: {
    name: (t) => t("A layer: residual, norm, FFN 3 → 6 → 3"),
    about: (t) => t("The first matrix gives each feature and its negative; after the ReLU, the second combines them again: this FFN " +
      "returns its input."),
    lab: { ...PLAIN, norm: "post", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, w_1: W_1, w_2: W_2, ...ZEROS } },
  },
  loss: {
    name: (t) => t("Next-token loss with label smoothing"),
    about: (t) => t("Row i is to predict token i + 1, so the targets are shifted by one and the last row predicts nothing. Cross-entropy is in nats."),
    lab: {
      ...PLAIN,
      mask: "causal",
      smoothing: "0.1",
      matrices: { ...PLAIN.matrices, w_vocab: cells("2 0 0 1; 0 2 0 1; 0 0 2 1"), targets: cells("0 1 2") },
    },
  },
};

/** An example, with its matrices in display order. @param {string} name @returns {Lab} */
export const preset = (name) => withSizes((PRESETS[name] ?? PRESETS.identity).lab);

// The lab's state as it leaves the page: as a link, as a request, and in a share.

/**
 * @param {Lab} lab
 * @returns {string}  a query
 */
export function format(lab) {
  const { matrices, tokens, memoryTokens, heads, window, shift, fractions, order, hidden, ...words } = lab;
  const query = new URLSearchParams({ ...words, heads: String(heads), window: String(window), shift: String(Number(shift)) });
  query.set("tokens", tokens.join("\n"));
  if (matrices.memory) query.set("memory_tokens", memoryTokens.join("\n"));
  if (fractions) query.set("fractions", "1");
  if (order.length) query.set("order", order.join("_"));
  const hiddenRows = Object.entries(hidden);
  if (hiddenRows.length) query.set("hidden", hiddenRows.map(([step, row]) => `${step}*${row}`).join("_"));
  for (const [name, cells] of Object.entries(matrices)) query.set(name, cells.map((row) => row.map(escaped).join("_")).join("*"));
  return String(query);
}

/**
 * @param {string} text  a query
 * @param {Lab} otherwise  the defaults
 * @returns {Lab}
 */
export function parse(text, otherwise) {
  const query = new URLSearchParams(text);
  if (!query.has("x") || !query.has("w_q")) return otherwise;
  const matrices = Object.fromEntries(
    NAMES.filter((name) => query.has(name)).map((name) => [name, (query.get(name) ?? "").split("*").map((row) => row.split("_").map(unescaped))]),
  );
  const even = Object.values(matrices).every((cells) => cells.every((row) => row.length === cells[0].length && row.length <= MAX_SIZE * 4));
  const chosen = Object.entries(CHOICES).map(([name, values]) => {
    const choice = query.get(name) ?? "";
    return [name, values.includes(choice) ? choice : values[0]];
  });
  const heads = between(query.get("heads"), 1, 4);
  const lab = {
    ...otherwise,
    ...Object.fromEntries(chosen),
    convention: query.get("convention") === "column" ? "column" : "row",
    heads,
    window: between(query.get("window"), 1, MAX_SIZE),
    shift: query.get("shift") !== "0",
    smoothing: query.get("smoothing") ?? "0",
    fractions: query.get("fractions") === "1",
    order: permutation(query.get("order")),
    hidden: hiddenSteps(query.get("hidden")),
    tokens: query.get("tokens")?.split("\n") ?? [],
    memoryTokens: query.get("memory_tokens")?.split("\n") ?? [],
    matrices: { ...otherwise.matrices, ...matrices },
  };
  const parsed = /** @type {Lab} */ ({ ...lab, matrices });
  const missing = ["w_k", "w_v"].some((name) => !matrices[name]);
  if (!even || missing || !Number.isInteger(sizes(parsed).k) || sizes(parsed).k < 1) return otherwise;
  const { n, m, d, k, f, vocab } = sizes(parsed);
  const [limit, top] = [MAX_SIZE, (/** @type {number} */ size) => Math.min(size, MAX_SIZE)];
  return withSizes(parsed, { n: top(n), m: top(m), d: top(d), k: Math.min(k, limit), f: top(f), vocab: top(vocab) });
}

/** Escape the separators in a cell, whatever was typed into it. @param {string} cell */
const escaped = (cell) => cell.replace(/[%_*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
/** @param {string} cell */
const unescaped = (cell) => cell.replace(/%(25|5f|2a)/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

/** @param {string | null} text @returns {number[]}  empty where it is no order of tokens */
function permutation(text) {
  const order = (text ?? "").split("_").map(Number);
  return text && [...order].sort((a, b) => a - b).every((place, i) => place === i) ? order : [];
}

/** @param {string | null} text @returns {Record<string, number>} */
function hiddenSteps(text) {
  const pairs = [...(text ?? "").matchAll(/([a-z.]{1,20})\*(\d)(?:_|$)/g)];
  return Object.fromEntries(pairs.map(([, step, row]) => [step, Number(row)]));
}

/** @param {string | null} text @param {number} min @param {number} max */
const between = (text, min, max) => Math.min(Math.max(Math.round(Number(text)) || min, min), max);

// The lab as a request, and the cells that cannot be sent.

/**
 * Why cells are invalid, by matrix, row and column.
 * @param {Lab} lab
 * @returns {Record<string, Record<string, "empty" | "text" | "large" | "id" | "flag" | "share">>}
 *    keys are "row,col"; label smoothing has a single cell
 */
export function invalidCells(lab) {
  const { vocab } = sizes(lab);
  /** @type {ReturnType<typeof invalidCells>} */
  const reasons = {};
  for (const [name, cells] of Object.entries(lab.matrices)) {
    cells.forEach((row, i) =>
      row.forEach((text, j) => {
        const { value, wrong } = number(text);
        const id = name === "targets" && value !== null && !(Number.isInteger(value) && value >= 0 && value < vocab);
        const flag = name === "padding" && value !== null && value !== 0 && value !== 1;
        if (wrong || id || flag) (reasons[name] ??= {})[`${i},${j}`] = wrong ?? (id ? "id" : "flag");
      }),
    );
  }
  if (lab.matrices.targets && !isShare(number(lab.smoothing).value)) reasons.smoothing = { "": "share" };
  return reasons;
}

/** @param {number | null} value */
const isShare = (value) => value !== null && value >= 0 && value <= 1;

/**
 * @param {Lab} lab  without invalid cells
 * @returns {Record<string, unknown>}  as POST /api/lab takes it
 */
export function labRequest(lab) {
  const values = Object.entries(lab.matrices).map(([name, cells]) => {
    const rows = VECTORS.has(name) ? inRows(lab, name) : cells; // head by head, in either convention
    const numbers = rows.map((row) => row.map((text) => number(text).value ?? 0));
    return [name, VECTORS.has(name) ? numbers.flat() : numbers];
  });
  const { pi, padding, targets, ...matrices } = Object.fromEntries(values);
  const { convention, heads, scoring, mask, window, relative, norm } = lab;
  return {
    ...matrices,
    convention,
    heads,
    scoring,
    ...(mask === "none" ? {} : { mask }),
    ...(mask.includes("window") ? { window } : {}),
    ...(padding ? { padding: padding.map(Boolean) } : {}),
    ...(relative === "sinusoidal" ? { positions: relative } : {}),
    ...(pi ? { relative: { [relative]: Object.fromEntries(pi.map((/** @type {number} */ value, /** @type {number} */ i) => [String(i - CLIP), value])), clip: CLIP } } : {}),
    ...(norm === "none" ? {} : norm === "residual" ? { residual: true } : { norm }),
    ...(targets ? { targets, shift: lab.shift && sizes(lab).n > 1, label_smoothing: number(lab.smoothing).value ?? 0 } : {}),
  };
}

// The lab in a share: what was computed, and the link with which the page opens.

/**
 * @typedef {object} LabShare  the part of the reply of GET /api/shares/{id} that the page reads
 * @property {string} [id]
 * @property {string} created
 * @property {import("../core/wire/schemas.d.ts").About | null} [about]
 * @property {{link: string}} state
 * @property {{tensors: Record<string, {dims: string[], data: any}>}} trace
 */

const BEFORE = "before.";

/** @param {Lab} lab @param {string} lang */
export const shareState = (lab, lang) => ({
  lab: labRequest(lab),
  ...(lab.order.length ? { before: labRequest(unshuffled(lab)) } : {}),
  link: format(lab),
  lang,
});

/**
 * The state of a share, and what was computed when it was created.
 * @param {LabShare} share
 * @returns {{lab: Lab, known: {answer: Answer, before: Answer | null}}}
 */
export function labOfShare({ state, trace }) {
  const tensors = Object.entries(trace.tensors);
  const [before, now] = [tensors.filter(([name]) => name.startsWith(BEFORE)), tensors.filter(([name]) => !name.startsWith(BEFORE))];
  const then = before.map(([name, tensor]) => /** @type {typeof tensors[0]} */ ([name.slice(BEFORE.length), tensor]));
  return {
    lab: parse(state.link, preset("identity")),
    known: { answer: answerOf(now), before: then.length ? answerOf(then) : null },
  };
}

/** @param {[string, {dims: string[], data: any}][]} tensors @returns {Answer} */
const answerOf = (tensors) => ({
  steps: Object.fromEntries(tensors.map(([name, { data }]) => [name, data])),
  dims: Object.fromEntries(tensors.map(([name, { dims }]) => [name, dims])),
});
