/** Names of the options. */

/** @import { Translate } from "../lib/i18n.js" */

/** @param {Translate} t @returns {Record<string, Record<string, string>>}  values by option */
export const menus = (t) => ({
  positions: {
    sinusoidal: t("sinusoidal"),
    learned: t("learned"),
    relative: t("relative"),
    "relative-product": t("relative, as a factor"),
    rotary: t("rotary"),
    none: t("none"),
  },
  scoring: { "scaled-dot": "q · k / √d_k", dot: "q · k", additive: "w · tanh(q + k)", "additive-bias": "w · tanh(q + k + b)" },
  mask: {
    padding: t("no mask"),
    causal: t("causal"),
    "window-2": t("window {n}", { n: 2 }),
    "window-3": t("window {n}", { n: 3 }),
    "window-5": t("window {n}", { n: 5 }),
  },
  norm: { post: t("post-norm"), pre: t("pre-norm") },
});

/** @param {Translate} t @returns {Record<string, string>} */
export const labels = (t) => ({
  task: t("Task"),
  positions: t("Positions"),
  scoring: t("Scoring"),
  mask: t("Encoder mask"),
  norm: t("Norm"),
  heads: t("Heads"),
  learning_rate: t("Learning rate"),
  warmup: t("Warm-up steps"),
  label_smoothing: t("Label smoothing"),
  steps: t("Training steps"),
  seed: t("Seed"),
  encoder_layers: t("Encoder layers"),
  decoder_layers: t("Decoder layers"),
  d_model: "d_model",
  batch: t("Tokens per step"),
  dropout: t("Dropout"),
});

/** @param {Translate} t @param {string[]} names */
export function taskNames(t, names) {
  /** @type {Record<string, string>} */
  const known = {
    copy: t("Copy"),
    reverse: t("Reverse"),
    shift: t("Shift by two"),
    sort: t("Sort"),
    brackets: t("Close the brackets"),
    addition: t("Add two numbers"),
    induction: t("What followed the letter?"),
    who: t("Who is it?"),
  };
  return Object.fromEntries(names.map((name) => [name, known[name] ?? name]));
}

/** The unit of lengths. @param {Translate} t @param {string} unit */
export const unitName = (t, unit) => ({ letters: t("letters"), brackets: t("brackets"), digits: t("digits"), nouns: t("nouns") })[unit] ?? unit;
