/** Which tokens a model of one text predicts at a row, and the text with one of them in its place. */

import { blocks, rules, typedText } from "../wire/model-description.js";
import { isPad } from "../wire/tokens.js";

/** @import { State } from "../store/link.js" */
/** @import { Model, ModelInfo } from "../wire/model-description.js" */
/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Trace } from "../wire/safetensors.js" */

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
 * @param {import("../wire/model-description.js").Model} model
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

// Why one token rather than another: the token that a row's own is contrasted with, and where the numbers
// of a contrast are (docs/inside.md).

/** @typedef {{id: number, text: string, special: boolean}} Piece  a token of the vocabulary */
/**
 * @typedef {object} Contrast  of one row
 * @property {string} with  as in the link: the id of the other token, or RUNNER_UP
 * @property {Piece} other
 * @property {number[]} lens  log p(written) / p(other) after each layer, in nats
 */

/** In each row, the most probable token other than its own. */
export const RUNNER_UP = "runner-up";

const CANDIDATES = "inside.lens.candidates";

/** The option of a link: an id, or RUNNER_UP; null: no contrast. @returns {import("../store/link-options.js").Option<string | null>} */
export const contrastOption = () => ({ initial: null, read: (text) => (text === RUNNER_UP || /^(0|[1-9]\d{0,6})$/.test(text) ? text : null), write: String });

/** @param {string} against @param {string} part */
const nameOf = (against, part) => `inside.contrast.${against}.${part}`;

/** @param {Partial<Pick<State, "options">>} link @returns {string | null} */
const chosen = ({ options }) => options?.contrast ?? null;

/**
 * @param {Partial<Pick<State, "options">>} link
 * @param {string[]} parts  of a logit that the model has
 * @returns {string[]}  tensors
 */
export function contrastTensors(link, parts) {
  const against = chosen(link);
  return against === null ? [] : [...parts, "lens", "candidates"].map((part) => nameOf(against, part));
}

/** Whether the contrast of a link is yet to be asked for. @param {Trace} trace @param {Partial<Pick<State, "options">>} link */
export const isAwaited = (trace, link) => contrastTensors(link, []).some((name) => !trace.tensors[name]);

/** The tensor of a part of a logit, or of the contrast. @param {string | null} against @param {string} part */
export const partOf = (against, part) => (against === null ? `inside.logit.${part}` : nameOf(against, part));

/**
 * The row whose own gradient is shown: the pinned one, because each row is a pass of its own. Pointing
 * at another row asks for nothing.
 * @param {Model} model
 * @param {Partial<Pick<State, "options">> & Partial<Pick<State, "query">>} link
 * @param {Trace | null} trace
 * @returns {number | null}  null: none, since there is no contrast, no pin, or no token there
 */
export function gradientRow(model, { query = null, ...link }, trace) {
  if (chosen(link) === null || query === null) return null;
  if (!trace) return query;
  return isItself(model, trace, link, query) || !predictedToken(model, trace, query, 0) ? null : query;
}

/** @param {Partial<Pick<State, "options">>} link @param {number} row @param {string} place */
export const gradientOf = (link, row, place) => nameOf(`${chosen(link)}.${row}`, place);

/** The token that a row's own is contrasted with. @param {Trace} trace @param {Partial<Pick<State, "options">>} link @param {number} row @returns {Piece | null} */
function otherAt(trace, link, row) {
  const against = chosen(link);
  const candidates = against === null ? undefined : trace.tensors[nameOf(against, "candidates")];
  return candidates ? pieceOf(trace, candidates.data[row]) : null;
}

/** Whether the token to contrast with is the row's own. @param {Model} model @param {Trace} trace @param {Partial<Pick<State, "options">>} link @param {number} row */
export const isItself = (model, trace, link, row) => (otherAt(trace, link, row)?.id ?? NaN) === predictedToken(model, trace, row, mostProbable(trace, row))?.id;

/**
 * @param {Model} model
 * @param {Trace} trace
 * @param {Partial<Pick<State, "options">>} link
 * @param {number} row
 * @returns {Contrast | null}  null: none, not in the trace, or with itself
 */
export function contrastAt(model, trace, link, row) {
  const against = chosen(link);
  const rival = otherAt(trace, link, row);
  const lens = against === null ? undefined : trace.tensors[nameOf(against, "lens")];
  const silent = !predictedToken(model, trace, row, mostProbable(trace, row));
  if (against === null || !rival || !lens || silent || isItself(model, trace, link, row)) return null;
  const [layers, rows] = lens.shape;
  return { with: against, other: rival, lens: Array.from({ length: layers }, (_, layer) => lens.data[layer * rows + row]) };
}

/** @param {Trace} trace @param {number} id @returns {Piece} */
const pieceOf = ({ pieces }, id) => ({ id, ...(pieces?.[id] ?? { text: `#${id}`, special: false }) });

/** @param {Trace} trace @param {number} row @returns {number[]}  ids, the most probable one first */
function probable(trace, row) {
  const candidates = trace.tensors[CANDIDATES];
  if (!candidates) return [];
  const [layers, rows, count] = candidates.shape;
  const from = ((layers - 1) * rows + row) * count;
  return Array.from(candidates.data.slice(from, from + count));
}

/** The id of a row's most probable token. @param {Trace} trace @param {number} row @returns {number | undefined} */
export const mostProbable = (trace, row) => probable(trace, row)[0];

/**
 * The tokens that a row's own can be contrasted with.
 * @param {Model} model
 * @param {Trace} trace
 * @param {number} row
 * @returns {Piece[]}  the runner-up first
 */
export function rivals(model, trace, row) {
  const predicted = predictedToken(model, trace, row, mostProbable(trace, row));
  return probable(trace, row).filter((id) => id !== predicted?.id).map((id) => pieceOf(trace, id));
}

/**
 * The contrasts that a trace has, where no other can be asked for.
 * @param {Trace} trace
 * @returns {string[]}  as in the link
 */
export const recorded = ({ tensors }) => Object.keys(tensors).flatMap((name) => /^inside\.contrast\.([^.]+)\.candidates$/.exec(name)?.[1] ?? []);

/**
 * The first layer from which on the row's own token is ahead.
 * @param {number[]} lens  the contrast after each layer
 * @returns {number | null}  null: it is not, after the last one
 */
export function ahead(lens) {
  const last = lens.findLastIndex((value) => !(value > 0));
  return last === lens.length - 1 ? null : last + 1;
}

/**
 * A token's id means nothing in another model.
 * @param {Pick<import("../store/store.js").Page, "link">} page
 * @param {Pick<import("../store/store.js").Page, "link">} previous
 * @returns {State}
 */
export function settledContrast({ link }, previous) {
  const against = chosen(link);
  if (against === null || against === RUNNER_UP || link.model === previous.link.model || against !== chosen(previous.link)) return link;
  return { ...link, options: { ...link.options, contrast: RUNNER_UP } };
}
