/** The lab's default, and the examples of its menu. */

import { reordered, withSizes } from "./matrices.js";

/** @import { Lab } from "./matrices.js" */
/** @import { Translate } from "../lib/i18n.js" */

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
