/** Where a patched part acts: on everything after it, or along the direct path to one place only. */

import { attentionAt, place, predicting } from "../../core/wire/attentions.js";
import { networks } from "../../core/store/model-part-names.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/** Values of the option; all but the first and the last are an input of the selected head. */
export const THROUGH = /** @type {const} */ (["all", "q", "k", "v", "end"]);

/** Whether a path can be followed: the outputs of all sublayers are known. @param {Page["model"]} model */
const follows = (model) => model?.capabilities?.includes("lens") ?? false;

/**
 * The end of the path, as the API takes it.
 * @param {Pick<Page, "model" | "link">} page
 * @returns {{at: string, head?: number} | null}  null: the part acts on everything after it
 */
export function pathEnd({ model, link }) {
  const { through } = link.options;
  if (through === "all" || through === undefined || !model || !follows(model)) return null;
  if (through === "end") {
    const { stack } = predicting(model);
    const last = networks(model).findLast((one) => one.stack === stack);
    return last ? { at: `${last.at}.${model.norm === "post" ? "norm" : "residual"}` } : null;
  }
  const at = place(model, link);
  const { heads, kv_heads } = attentionAt(model, at) ?? { heads: 1, kv_heads: 1 };
  const head = through === "q" ? link.head : Math.floor((link.head * kv_heads) / heads);
  return { at: `${at}.${through}`, head };
}

/** Whether the end is an input of the selected head, which a click on another must not replace. @param {Page["link"]} link */
export const endsInHead = ({ options }) => ["q", "k", "v"].includes(options.through);

/**
 * The values of the option with their names.
 * @param {Translate} t
 * @param {Page["model"]} model
 * @returns {Record<string, string>}  none: there is nothing to choose
 */
export const ends = (t, model) =>
  follows(model)
    ? { all: t("everything after it"), q: t("q of the selected head"), k: t("its k"), v: t("its v"), end: t("the logits, directly") }
    : {};
