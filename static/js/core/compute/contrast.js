/**
 * Why one token rather than another: the token that a row's own is contrasted with, and where the
 * numbers of a contrast are (docs/inside.md).
 */

import { predictedToken } from "./predictions.js";

/** @import { Trace } from "../wire/wire.js" */
/** @import { Model } from "../wire/attentions.js" */
/** @import { State } from "../store/link.js" */
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

/** The option of a link: an id, or RUNNER_UP; null: no contrast. @returns {import("../store/options.js").Option<string | null>} */
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
