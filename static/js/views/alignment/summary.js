/** The texts of the alignment view: the finding, which head aligns best, and what is not drawn. */

import { isOff } from "../../core/store/interventions.js";
import { taught } from "../../core/wire/attentions.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { excellence } from "./alignment-content.js";
import { asKey, asQuery } from "./quoted-words.js";
import { attributedRemarks, attributedSentence } from "./attribution-words.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Shown } from "./alignment-content.js" */

/**
 * The finding for a written word.
 * @param {Pick<Context, "say" | "t">} context
 * @param {Shown} shown
 * @param {number} row
 */
export function sentence({ say, t }, shown, row) {
  const { page, found, by, source, target } = shown;
  const values = { place: where(page, t), written: asQuery(target[row]) };
  if (shown.method !== "attention") return attributedSentence({ say, t }, shown, row);
  const best = found.hard[row];
  if (page.link.options.of === "head" && isOff(page)) return say(t("{place}: this head is off; it contributes nothing."), values);
  const [none, most] =
    by === "writes"
      ? [
          t("{place}: while writing {written}, it looks at no source word."),
          t("{place}: while writing {written}, it looks most at {source} ({weight})."),
        ]
      : [
          t("{place}: after reading {written}, it looks at no source word."),
          t("{place}: after reading {written}, it looks most at {source} ({weight})."),
        ];
  if (Number.isNaN(found.special[row]))
    return say(t("{place}: {written} was written last, and no row has read it."), values);
  if (best < 0) return say(none, values);
  return say(most, {
    ...values,
    source: asKey(source[best]),
    weight: two(found.soft.values[row * found.soft.cols + best]),
  });
}

/** @param {import("../../lib/render.js").Child} part */
export const text = (part) => h("span", {}, part).textContent ?? "";

/** @param {Page} page @param {Context["t"]} t */
function where({ link }, t) {
  const at = { layer: link.layer + 1, head: link.head + 1 };
  if (link.options.of === "all") return t("Mean of all layers and heads");
  if (link.options.of === "layer") return t("Layer {layer}, mean of its heads", at);
  return t("Layer {layer}, head {head}", at);
}

/**
 * Which head aligns best, with a link to it; one element per sentence.
 * @param {Pick<Context, "say" | "t" | "store">} context
 * @param {Page} page
 */
export function nearest({ say, store, t }, page) {
  const [best] = page.model?.aligners ?? [];
  if (!best) return [];
  const here = excellence(page);
  const rate = Math.round((here?.error_rate ?? 0) * 100);
  const said = here
    ? [t("★ On these rows, this is the single head closest to human word alignment (alignment error rate {rate} %).", { rate })]
    : [];
  const { layer, head } = best;
  const go = h("button", { type: "button" }, t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }));
  go.addEventListener("click", () => {
    const { options } = page.link;
    store.go({ layer, head, options: { ...options, of: "head", rows: null } }, "chosen");
  });
  const way = here
    ? t("Closest on the other rows: {place}.")
    : t("★ The head closest to human word alignment: {place}.");
  return [said, here === best ? [] : say(way, { place: go })]
    .filter((sentence) => sentence.length)
    .map((sentence) => h("span", {}, ...sentence));
}

/**
 * Notes: what is not drawn, whether training supervised the head, and what alignment does not
 * prove.
 * @param {Pick<Context, "t">} context
 * @param {Shown} shown
 * @param {number} least
 * @param {number} faint
 */
export function remarks({ t }, shown, least, faint) {
  const { page: { link, model }, found } = shown;
  const pairs =
    faint === 1
      ? t("1 pair below {least} has no line.", { least: two(least) })
      : faint
        ? t("{n} pairs below {least} have no line.", { n: faint, least: two(least) })
        : t("Every pair has a line.");
  if (shown.method !== "attention") return [...attributedRemarks(t, shown), ...(faint ? [pairs] : [])];
  const special = found.special.filter((value) => !Number.isNaN(value));
  const mass = special.reduce((sum, value) => sum + value, 0) / Math.max(special.length, 1);
  const said = [
    t("The pieces of a word are merged: weights are summed over source pieces and averaged over written pieces."),
    t("Special tokens are left out; they get {mass} of the attention.", { mass: two(mass) }),
    pairs,
  ];
  if (link.options.of === "head" && model && taught(model, link))
    said.push(
      t("This is one of {n} heads trained with alignment supervision; the others learned what they do on their own.", { n: model.taught?.length ?? 0 }),
    );
  return [...said, t("Attention to a word does not prove that this word was translated.")];
}
