/** Which tokens a model of one text predicts at a row, and the text with one of them in its place. */

import { blocks, rules, typedText } from "../wire/attentions.js";
import { isPad } from "../wire/tokens.js";

/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Trace } from "../wire/wire.js" */
/** @import { ModelInfo } from "../wire/model.js" */
/** @typedef {{id: number, text: string, special: boolean, probability: number}} Candidate */
/**
 * @typedef {object} Predicted
 * @property {number} row  index of its token
 * @property {"next" | "fill"} kind  what comes after the row's token, or what stands in its place
 * @property {Candidate[]} candidates  the most probable, best first
 * @property {number | null} present  the id that the text has there; null: it has none yet, or a mask
 */

/** Whether it reads one text and predicts its tokens. @param {ModelInfo | null} model @returns {model is ModelInfo} */
export const isPredictor = (model) => model !== null && model.texts.length === 1 && model.capabilities.includes("candidates");

/** @param {ModelInfo | null} model @returns {string[]}  tensors with what it predicts */
export function predictions(model) {
  if (!isPredictor(model)) return [];
  const stack = blocks(model).at(-1)?.stack;
  return [`${stack}.probabilities`, `${stack}.candidates`];
}

/** Whether it fills in a mask. @param {ModelInfo} model */
const fills = ({ mask = "" }) => mask !== "";

/** @param {Trace} trace @param {ModelInfo} model @returns {number[]}  the tokens to be filled in */
export function masks(trace, model) {
  const { mask } = model;
  return fills(model) ? (trace.tokens[typedText(model)] ?? []).flatMap(({ text, special }, i) => (special && text === mask ? [i] : [])) : [];
}

/**
 * @param {Trace} trace
 * @param {ModelInfo} model
 * @param {number | null} pinned  the row that is asked about; null: the last one, or the first mask
 * @returns {Predicted | null}  null: nothing is predicted there
 */
export function predictionAt(trace, model, pinned) {
  const [probabilities, candidates] = predictions(model).map((name) => trace.tensors[name]);
  const tokens = trace.tokens[typedText(model)] ?? [];
  const length = tokens.filter((token) => !(token.special && token.text === "<pad>")).length;
  const row = pinned ?? (fills(model) ? masks(trace, model)[0] : length - 1);
  if (!probabilities || !candidates || row === undefined || row < 0 || row >= length) return null;
  const count = candidates.shape[1];
  const choices = Array.from({ length: count }, (_, n) => {
    const id = candidates.data[row * count + n];
    return { id, ...(trace.pieces?.[id] ?? { text: `#${id}`, special: true }), probability: probabilities.data[row * count + n] };
  });
  const masked = masks(trace, model).includes(row);
  const present = fills(model) ? (masked ? null : tokens[row].id) : (tokens[row + 1]?.id ?? null);
  return { row, kind: fills(model) ? "fill" : "next", candidates: choices, present };
}

/**
 * The text with a candidate in its place: what came after it is gone where the text is written on.
 * @param {string} source
 * @param {TokenReply[]} tokens
 * @param {Predicted} place
 * @param {Candidate} candidate
 */
export function withCandidate(source, tokens, { row, kind }, { text }) {
  const points = [...source];
  const { start, end } = tokens[row];
  if (kind === "next") return points.slice(0, end).join("") + text;
  return points.slice(0, start).join("") + text.trimStart() + points.slice(end).join("");
}

/** Whether a candidate can be written into a text: a piece of a character cannot. @param {Candidate} candidate */
export const isWritable = ({ text, special }) => !special && !/^\s?(<0x[0-9A-F]{2}>)+$/.test(text);

/**
 * The text with a token hidden behind the mask.
 * @param {string} source
 * @param {TokenReply} token
 * @param {string} mask
 */
export function withMaskedToken(source, { start, end }, mask) {
  const points = [...source];
  return points.slice(0, start).join("") + mask + points.slice(end).join("");
}

/**
 * The token that a row predicts and that its numbers are about: the written one; in a single text the
 * next one, or for a masked model its own. Where the text has none, the model's most probable one.
 * @param {import("../wire/attentions.js").Model} model
 * @param {Trace} trace
 * @param {number} row
 * @param {number} [best]  the id of the most probable one
 * @returns {Pick<TokenReply, "id" | "text" | "special"> | null}  null: the row is padding
 */
export function predictedToken(model, trace, row, best) {
  if (!model || model.texts.length > 1) return trace.output.tokens[row] ?? null;
  const tokens = (trace.tokens[typedText(model)] ?? []).filter((token) => !isPad(token));
  if (row >= tokens.length) return null;
  const fills = !model.attentions.some(({ mask }) => rules(mask).includes("causal"));
  const token = fills ? tokens[row] : (tokens[row + 1] ?? trace.output.tokens[row]);
  if (token && !(fills && token.special && token.text === model.mask)) return token;
  return best === undefined ? null : { id: best, ...(trace.pieces?.[best] ?? { text: `#${best}`, special: false }) };
}
