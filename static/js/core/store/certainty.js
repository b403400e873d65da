/** Where the model of a page is unsure of what it wrote. */

import { memo, together } from "../../lib/memo.js";
import { doubts } from "../compute/certainty.js";
import { attention, crossBlock, place, typedText } from "../wire/attentions.js";
import { isLong } from "../wire/long-texts.js";
import { runKind } from "./trained-and-changed.js";

/** @import { Doubts } from "../compute/certainty.js" */
/** @import { Page } from "./store.js" */

/** The head with which it was measured what is passed over. @param {Page["model"]} model */
function aligner(model) {
  if (!model?.certainty?.source) return null;
  const best = model.certainty.aligner ?? model.aligners?.find(({ rows }) => rows === "writes");
  return best ? { block: crossBlock(model).id, layer: best.layer, head: best.head, rows: best.rows } : null;
}

/** The weights that tell at which source words the translation looks. @param {Page["model"]} model @returns {string[]} */
export function certaintyNeeds(model) {
  const head = aligner(model);
  return head ? [place(model, head, "weights")] : [];
}

/**
 * What was measured holds for what the model as trained writes itself.
 * @param {Pick<Page, "model" | "trace" | "link">} page
 * @returns {Doubts | null}  null: not known
 */
export function doubtsOf({ model, trace, link }) {
  if (!model?.certainty || !trace || isLong(trace) || link.target !== null || runKind(link) === "changed") return null;
  const { certainty } = model;
  const head = aligner(model);
  const weights = head && attention(model, trace, head);
  return memo(together(trace, model), `doubts ${weights !== null}`, () => doubts(trace.output, trace.tokens[typedText(model)] ?? [], certainty, weights, { direction: trace.direction ?? "", rows: head?.rows }));
}

/** The doubtful word to which an output token belongs. @param {Doubts | null} doubts @param {number} token */
export const doubtfulWord = (doubts, token) => doubts?.words.find(({ tokens }) => tokens.includes(token)) ?? null;
