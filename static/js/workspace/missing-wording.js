/** Why a model does not support something: the reasons of the API, in the reader's language. */

/** @import { Translate } from "../lib/i18n.js" */

/** @type {Record<string, (t: Translate) => string>} */
const REASONS = {
  "weights-only": (t) => t("Of this model’s attention only the weights are known."),
  "no-head": (t) => t("This model has no language-modelling head: it reads a text and predicts nothing."),
  "reads-only": (t) => t("This model is an encoder: it reads a text and writes none."),
  "masks-only": (t) => t("This model predicts the words at its masks, not a text."),
  "no-mask-token": (t) => t("The tokenizer of this model has no mask token."),
  "one-text": (t) => t("This model reads a single text."),
  "unknown-layers": (t) => t("What the layers of this model add up to is not known."),
  "not-a-sum": (t) => t("The logits of this model are not a sum of contributions."),
  "no-table": (t) => t("This model adds no table of positions to its input."),
  "other-positions": (t) => t("This model adds its positions in every layer."),
  "other-scoring": (t) => t("The scores of this model are not a multiple of q · k."),
  "unknown-scores": (t) => t("The scores of this model are not known to be a sum of products."),
  "own-code": (t) => t("This model computes its attention in code of its own."),
  "mixes-positions": (t) => t("This model mixes positions outside attention, so padding would change its numbers."),
  "no-means": (t) => t("The means of this model’s heads are not known."),
  "no-template": (t) => t("This model has no chat template."),
  "bad-template": (t) => t("The chat template of this model cannot be used."),
  "no-snapshots": (t) => t("This model has no snapshots of its training."),
};

/**
 * @param {Translate} t
 * @param {string} reason
 * @returns {string}  "" for one that the page does not know
 */
export const reasonSaid = (t, reason) => (Object.hasOwn(REASONS, reason) ? REASONS[reason](t) : "");

/** All reasons that the page can put into words. */
export const KNOWN_REASONS = Object.keys(REASONS);
