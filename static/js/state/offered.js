/** Which views a model can fill. */

import { blocks } from "../data/blocks.js";

/** @typedef {Pick<import("./contract.js").View, "blocks" | "requires">} Wants */

/**
 * @param {Wants} view
 * @param {Pick<import("../data/model.js").ModelInfo, "texts" | "attentions" | "capabilities"> | null} model  null: not known yet
 */
export function offered({ blocks: suits = () => true, requires = [] }, model) {
  if (!model) return true;
  return requires.every((one) => model.capabilities.includes(one)) && blocks(model).some(suits);
}
