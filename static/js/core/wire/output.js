/**
 * The output of a run: a translation, what else an encoder–decoder writes, what follows each token of a text, or the words at its masks.
 */

/** @import { Trace, Token } from "./wire.js" */
/** @typedef {Trace["output"]} Output */
/** @typedef {"translation" | "output" | "text" | "mask"} Kind */

/** @typedef {Pick<import("./model.js").ModelInfo, "texts" | "mask"> & Partial<Pick<import("./model.js").ModelInfo, "languages">>} Writer */

/** @param {Writer | null} model @returns {Kind}  of its output */
export function outputKind(model) {
  if (!model) return "translation";
  if (model.texts.length > 1) return model.languages?.length ? "translation" : "output";
  return model.mask ? "mask" : "text";
}

/** @param {Output} output @param {number} index  of one of its tokens @returns {number}  the row that predicts it */
export const rowOf = ({ rows }, index) => (rows?.length ? rows[index] : index);

/** @param {Output} output @returns {Token[]}  what the model wrote itself */
export const written = ({ tokens, continues = 0 }) => tokens.slice(continues);

/**
 * The index of the first output token that continues a text.
 * @param {Writer | null} model
 * @param {Output} output
 * @returns {number}  Infinity if the output does not continue one
 */
export const continuesAt = (model, { continues = 0 }) => (outputKind(model) === "text" ? continues : Infinity);

/** @param {Output} output @returns {number[]}  indices of its tokens, without those of a chat's template */
export const counted = ({ tokens }) => tokens.flatMap(({ template }, index) => (template ? [] : [index]));

/** @param {Output} output @returns {number}  log-probability of its counted tokens, in nats */
export const logprob = (output) => counted(output).reduce((sum, index) => sum + output.logprobs[index], 0);
