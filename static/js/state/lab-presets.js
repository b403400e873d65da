/** What the lab opens on, and the examples of its menu. */

import { fitted } from "./lab-matrices.js";

/** @typedef {import("./lab-matrices.js").Lab} Lab */
/** @typedef {import("../lib/i18n.js").Translate} Translate */

/** Cells of a matrix that is written as it is read: "1 0; 0 1". @param {string} text */
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

/** @type {Record<string, {name: (t: Translate) => string, lab: Lab}>} */
export const PRESETS = {
  identity: { name: (t) => t("Identity: three tokens, three unit vectors"), lab: PLAIN },
  heads: { name: (t) => t("Two heads on 3 × 3"), lab: { ...PLAIN, heads: 2, matrices: { ...TWO_HEADS, w_o: W_O } } },
  causal: { name: (t) => t("Causal mask"), lab: { ...PLAIN, mask: "causal", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x } } },
  window: {
    name: (t) => t("Window of two"),
    lab: fitted({ ...PLAIN, mask: "window", tokens: ["the", "cat", "sat", "on", "it"] }, { n: 5 }),
  },
  relative: {
    name: (t) => t("Relative positions: the token before is favoured"),
    lab: fitted({ ...PLAIN, relative: "add", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, pi: cells("0 2 0 -1 -1") } }),
  },
  additive: {
    name: (t) => t("Additive scoring"),
    lab: { ...PLAIN, scoring: "additive", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, w: cells("1 2 -1") } },
  },
  memory: {
    name: (t) => t("Cross attention: a memory of its own"),
    lab: {
      ...PLAIN,
      tokens: ["le", "chat"],
      memoryTokens: ["the", "cat", "sits"],
      matrices: { ...PLAIN.matrices, x: cells("1 0 0; 0 2 1"), memory: cells("2 0 0; 0 2 0; 0 0 2") },
    },
  },
  ffn: {
    name: (t) => t("A layer: residual, norm, FFN 3 → 6 → 3"),
    lab: { ...PLAIN, norm: "post", matrices: { ...PLAIN.matrices, x: TWO_HEADS.x, w_1: W_1, w_2: W_2, ...ZEROS } },
  },
  loss: {
    name: (t) => t("Next-token loss with label smoothing"),
    lab: {
      ...PLAIN,
      mask: "causal",
      smoothing: "0.1",
      matrices: { ...PLAIN.matrices, w_vocab: cells("2 0 0 1; 0 2 0 1; 0 0 2 1"), targets: cells("0 1 2") },
    },
  },
};

/** With its matrices in the order in which they are shown. @param {string} name @returns {Lab} */
export const preset = (name) => fitted((PRESETS[name] ?? PRESETS.identity).lab);
