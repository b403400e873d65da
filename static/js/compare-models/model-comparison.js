/**
 * Two models on one text: the page's own run A, and a run B of a second model. Each has its own
 * tokens. They are aligned by the characters that they cover, and weights are subtracted where the
 * tokens are equal.
 */

import { changes, difference, spread } from "../core/compute/token-diff.js";
import { openingHead } from "../core/store/highlight.js";
import { answer } from "../core/store/view-requests.js";
import { attention, axes, blockOf, blocks, bothWays, extent } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { requestBody } from "../core/wire/request.js";
import { asOneText } from "../core/wire/tokens.js";
import { memo, together } from "../lib/memo.js";

/** @import { Block, ModelInfo } from "../core/wire/model-description.js" */
/** @import { Covered } from "../core/compute/token-diff.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Question } from "../core/store/view-requests.js" */
/** @import { State } from "../core/store/link.js" */
/** @import { Trace } from "../core/wire/safetensors.js" */

// Align the tokens that two tokenizers make of one text, by the characters that they cover.
//
// Special tokens cover no characters; two of them are equal if they have the same name.

/**
 * The characters of a token, from `start` up to `end`, in code points of its text.
 * @typedef {{text: string, start: number, end: number, special: boolean, pair?: boolean}} Piece
 */
/** Neighbouring tokens, from `first` to `last`. @typedef {{first: number, last: number}} Stretch */

/**
 * @param {Piece[]} a
 * @param {Piece[]} b  of the same text
 * @returns {{a: number, b: number}[]}  equal tokens, in the order of a: those of the same
 *   characters, in both as often
 */
export function equalTokens(a, b) {
  const placesInB = places(b);
  const nth = new Map();
  const placesInA = places(a);
  return a.flatMap((piece, i) => {
    const name = named(piece);
    const [mine, theirs] = [placesInA.get(name) ?? [], placesInB.get(name) ?? []];
    const n = nth.get(name) ?? 0;
    nth.set(name, n + 1);
    return mine.length === theirs.length && mine.length ? [{ a: i, b: theirs[n] }] : [];
  });
}

/**
 * The tokens that cover some of a token's characters.
 * @param {Piece[]} from
 * @param {number} index  the token
 * @param {Piece[]} to  of the same text
 * @returns {Stretch | null}  null: none
 */
export function coveringTokens(from, index, to) {
  const piece = from[index];
  if (!piece) return null;
  const equal = equalTokens(from, to).find(({ a }) => a === index);
  if (equal) return { first: equal.b, last: equal.b };
  const shared = to.flatMap(({ start, end }, i) => (Math.max(start, piece.start) < Math.min(end, piece.end) ? [i] : []));
  return shared.length ? { first: shared[0], last: shared[shared.length - 1] } : null;
}

/**
 * Leave out the spaces at both ends, which some tokenizers count and others do not.
 * @param {Piece} piece
 * @param {string[]} characters  of its text, by code point
 * @returns {Piece}
 */
export function trimmed(piece, characters) {
  let { start, end } = piece;
  while (start < end && !characters[start]?.trim()) start++;
  while (start < end && !characters[end - 1]?.trim()) end--;
  return { ...piece, start, end };
}

/** @param {Piece} piece @returns {string}  "" for a token without characters, which has no equal */
function named({ text, start, end, special }) {
  if (special) return `special ${text}`;
  return start < end ? `${start} ${end}` : "";
}

/** @param {Piece[]} pieces @returns {Map<string, number[]>}  where each stands */
function places(pieces) {
  /** @type {Map<string, number[]>} */
  const placesByName = new Map();
  pieces.forEach((piece, i) => {
    const name = named(piece);
    if (name) placesByName.set(name, [...(placesByName.get(name) ?? []), i]);
  });
  return placesByName;
}

/** @typedef {{block: string, layer: number, head: number}} Place */
/**
 * @typedef {object} Axis
 * @property {import("../core/wire/tokens.js").Step[]} steps
 * @property {Piece[]} pieces  the characters of each
 * @property {string} text  of which they are
 */
/** @typedef {{matrix: import("../core/wire/safetensors.js").Matrix, rows: Axis, cols: Axis}} Side */
/** @typedef {{a: number, b: number}[]} Equal  tokens, by their index in either run */
/**
 * @typedef {object} Models
 * @property {Side} a
 * @property {Side} b
 * @property {Equal} rows  equal tokens
 * @property {Equal} cols
 * @property {Covered | null} delta  B − A over equal tokens; null if the rows or the columns have none
 * @property {import("../core/compute/token-diff.js").Change[]} changes  cells of `delta`
 */

/** How many changes are listed. */
const MAX_CHANGES = 8;

/** Options that name no B: the first model that reads such text. */
export const NO_B = { model_b: null, block_b: null, layer_b: null, head_b: null };

/**
 * The models that can be B: those that read the same kind of text, and that of the link. A model of
 * the zoo reads the words of its task only.
 * @param {Page} page
 */
export const otherModels = ({ models, model, link }) =>
  models.filter(({ id, zoo }) => id !== model?.id && (zoo?.task === model?.zoo?.task || id === link.options.model_b));

/** @param {Page} page @returns {ModelInfo | null}  that of the link, else the first other one */
export function modelB(page) {
  const candidates = otherModels(page);
  return candidates.find(({ id }) => id === page.link.options.model_b) ?? candidates[0] ?? null;
}

/**
 * B's attentions: those of the link, else those that are most like A's.
 * @param {Page} page
 * @returns {Block | null}
 */
export function blockB(page) {
  const model = modelB(page);
  if (!model) return null;
  const all = blocks(model);
  return all.find(({ id }) => id === page.link.options.block_b) ?? mostSimilarBlock(all, model, roles(blockOf(page.model, page.link.block), page.model));
}

/**
 * What the rows and columns of a block are: 0 for the text that is typed, 1 for one that is written.
 * @param {Block} block
 * @param {Page["model"]} model
 */
const roles = ({ query, key }, model) => [query, key].map((text) => model?.texts.indexOf(text) ?? 0);

/** @param {Block[]} all @param {ModelInfo} model @param {number[]} targetRoles  roles */
function mostSimilarBlock(all, model, targetRoles) {
  const alike = (/** @type {Block} */ block) => roles(block, model).reduce((sum, role, i) => sum + Number(role === targetRoles[i]) * (1 + i), 0);
  return all.reduce((best, block) => (alike(block) > alike(best) ? block : best), all[0]);
}

/** Whether the link names B's place. @param {Page} page */
const isPlaced = ({ link: { options } }) => [options.block_b, options.layer_b, options.head_b].every((option) => option !== null);

/**
 * The run B. Its place is in the link, except at first: then all weights of the block are
 * requested, and the place is chosen by them.
 * @param {Page} page
 * @returns {Question | null}  null if there is no other model
 */
export function runB(page) {
  const { link, trace } = page;
  const [model, block] = [modelB(page), blockB(page)];
  if (!trace || !model || !block || !link.source.trim()) return null;
  const chosenPlace = placeIn(page, model, block);
  const rows = chosenPlace ? [block.rows[chosenPlace.layer].place] : block.rows.map(({ place }) => place);
  const select = rows.flatMap((place) => [`${place}.weights`, `${place}.mask`]);
  const direction = bothWays(model) && model.languages.includes(link.direction?.split("-")[0] ?? "") ? link.direction : null;
  return { trace: requestBody(model, { source: link.source, pair: link.pair, model: model.id, direction, target: link.target, select }) };
}

/**
 * @param {Page} page
 * @param {ModelInfo} model
 * @param {Block} block
 * @returns {Place | null}  as the link names it, within the model; null if the link names none
 */
function placeIn(page, model, block) {
  if (!isPlaced(page)) return null;
  const { layer_b, head_b } = page.link.options;
  const { layers, heads } = extent(model, block.id);
  return { block: block.id, layer: Math.min(layer_b, layers - 1), head: Math.min(head_b, heads - 1) };
}

/**
 * @param {Page} page
 * @returns {Trace | Problem | null}  null while loading
 */
export function traceB(page) {
  const question = runB(page);
  return question && (answer(page, question) ?? null);
}

/**
 * B's layer and head: those of the link, else the most informative ones.
 * @param {Page} page
 * @returns {Place | null}  null while loading
 */
export function placeB(page) {
  const [model, block, trace] = [modelB(page), blockB(page), traceB(page)];
  if (!model || !block) return null;
  const chosenPlace = placeIn(page, model, block);
  if (chosenPlace || !trace || trace instanceof Problem) return chosenPlace;
  return { block: block.id, ...memo(trace, `opener ${block.id}`, () => openingHead(trace, model, { block: block.id, view: "compare" })) };
}

/**
 * The link with B's model and place in it, as soon as they are known, so that it opens the same.
 * @param {Page} page
 * @returns {State}
 */
export function placed(page) {
  const { link } = page;
  const [model, place] = [modelB(page), placeB(page)];
  if (!model || !place) return link;
  const options = { model_b: model.id, block_b: place.block, layer_b: place.layer, head_b: place.head };
  const isCurrent = Object.entries(options).every(([name, value]) => link.options[name] === value);
  return isCurrent ? link : { ...link, options: { ...link.options, ...options } };
}

/** @param {Page} page @returns {Models | Problem | null}  null while loading */
export function modelComparison(page) {
  const { trace, model, link } = page;
  const [otherModel, otherPlace, otherTrace] = [modelB(page), placeB(page), traceB(page)];
  if (otherTrace instanceof Problem) return otherTrace;
  if (!trace || !model || !otherModel || !otherPlace || !otherTrace) return null;
  const key = `models ${link.block} ${link.layer} ${link.head} ${otherPlace.block} ${otherPlace.layer} ${otherPlace.head}`;
  return memo(together(trace, otherTrace), key, () => {
    const [a, b] = [sideOf(model, trace, link, link), sideOf(otherModel, otherTrace, otherPlace, link)];
    return a && b && joined(a, b);
  }, 16);
}

/**
 * @param {ModelInfo} model
 * @param {Trace} trace
 * @param {Place} place
 * @param {Pick<State, "source" | "pair">} typed  the texts
 * @returns {Side | null}  null if the trace does not contain it
 */
function sideOf(model, trace, place, { source, pair }) {
  const matrix = attention(model, trace, place);
  if (!matrix) return null;
  const { rows, cols } = axes(model, trace, place.block);
  const { query, key, writes } = blockOf(model, place.block);
  const typed = model.texts[0];
  const writtenTokens = trace.output.tokens;
  const read = trace.tokens[query] ?? [];
  // A row that writes is about the token that it writes.
  const rowTokens = writes ? read.map((token, i) => writtenTokens[i] ?? token) : read;
  const axisOf = (/** @type {Axis["steps"]} */ steps, /** @type {Piece[]} */ tokens, /** @type {string} */ text) => {
    const covered = text === typed ? asOneText(tokens, source, pair) : { tokens, text: trace.output.text };
    return axis(steps, covered.tokens, covered.text);
  };
  return {
    matrix,
    rows: axisOf(rows, rowTokens, query),
    cols: axisOf(cols, trace.tokens[key] ?? [], key),
  };
}

/** @param {Axis["steps"]} steps @param {Piece[]} tokens @param {string} text @returns {Axis} */
function axis(steps, tokens, text) {
  const characters = [...text];
  return { steps, text, pieces: tokens.map((token) => trimmed(token, characters)) };
}

/** @param {Side} a @param {Side} b @returns {Models} */
function joined(a, b) {
  const [rows, cols] = [pairs(a.rows, b.rows), pairs(a.cols, b.cols)];
  if (!rows.length || !cols.length) return { a, b, rows, cols, delta: null, changes: [] };
  const [spreadA, spreadB] = [spread(a.matrix, rows, cols, "a"), spread(b.matrix, rows, cols, "b")];
  return { a, b, rows, cols, delta: difference(spreadA, spreadB), changes: changes(spreadA, spreadB, MAX_CHANGES) };
}

/** @param {Axis} a @param {Axis} b @returns {Equal}  none if they are of different texts */
const pairs = (a, b) => (a.text === b.text ? memo(together(a, b), "equal", () => equalTokens(a.pieces, b.pieces)) : []);

/**
 * The tokens of another run that cover the same characters as a token.
 * @param {Axis} from
 * @param {number | null} index  the token
 * @param {Axis} to
 * @returns {Stretch | null}  null: none
 */
export function counterpart(from, index, to) {
  return index === null || from.text !== to.text ? null : coveringTokens(from.pieces, index, to.pieces);
}
