/**
 * What the heatmap shows: the weights after all options of the link (see `aggregate-attention.js`),
 * with the tokens behind each row and column. The caption and the inspector describe the same
 * numbers.
 */

import { memo, together } from "../../lib/memo.js";
import { combine, coverOfStrongest, fold, groupAxis, weightShares } from "../compute/aggregate-attention.js";
import { joined, singles, words } from "../compute/alignment.js";
import { explainedCell, mostSalientRow } from "../compute/attention-row.js";
import { sinkWeights } from "../compute/computed-tensors.js";
import { attention, axes, blockAt, blockOf, extent, typedText } from "../wire/model-description.js";
import { outputKind } from "../wire/reply.js";
import { informativeKeys, isAdded, isWord, labels, languages } from "../wire/tokens.js";
import { comparison } from "./comparison.js";
import { highlightOf } from "./highlight.js";
import { isChanged } from "./interventions.js";
import { choiceOption } from "./link-options.js";
import { otherRunPage, runKind } from "./runs-with-and-without-changes.js";

/** @import { Axis } from "../compute/aggregate-attention.js" */
/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Step } from "../wire/tokens.js" */
/** @import { Matrix, Trace } from "../wire/safetensors.js" */
/** @import { Page } from "./store.js" */

// Which of two texts looks at which: A is the first, B the second. Tokens that are left out are hidden, and
// nothing is rescaled.

/** @typedef {[from: number, to: number]} Span  of tokens, half-open */
/** @typedef {{rows: Span, cols: Span}} Texts */

export const BETWEEN = choiceOption("all", "aa", "ab", "ba", "bb");

/** @param {Pick<Page, "trace" | "model">} page @returns {number}  the first token of the second text; −1: there is one text */
const secondBegins = ({ trace, model }) => (trace?.tokens[typedText(model)] ?? []).findIndex(({ pair }) => pair);

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {Pick<Page, "trace" | "model">} page
 * @returns {Record<string, string>}  the values of the option with their names; none for one text
 */
export const directions = (t, page) =>
  secondBegins(page) < 0 ? {} : { all: t("both"), ...Object.fromEntries(["aa", "ab", "ba", "bb"].map((value) => [value, arrow(value)])) };

/** @param {string} value  such as "ab" */
export const arrow = ([from, to]) => `${from} → ${to}`.toUpperCase();

/**
 * @param {Pick<Page, "trace" | "model" | "link">} page
 * @returns {Texts | null}  the tokens that are shown; null: all
 */
export function shownTexts({ trace, model, link }) {
  const begin = secondBegins({ trace, model });
  const { between = "all" } = link.options;
  if (begin < 0 || between === "all") return null;
  const end = trace?.tokens[typedText(model)].length ?? begin;
  const [rows, cols] = [...between].map((text) => /** @type {Span} */ (text === "a" ? [0, begin] : [begin, end]));
  return { rows, cols };
}

/**
 * The place of a token among those that are shown.
 * @param {Span | undefined} span  undefined: all are
 * @param {number | null} token
 * @returns {number | null}  null: it is hidden
 */
export function placeIn(span, token) {
  if (!span || token === null) return token;
  return token >= span[0] && token < span[1] ? token - span[0] : null;
}

/**
 * The cells of a matrix that are shown.
 * @template {Matrix} T
 * @param {T} matrix
 * @param {Texts | null} texts
 * @returns {T}
 */
export function croppedMatrix(matrix, texts) {
  if (!texts) return matrix;
  return { ...matrix, rows: texts.rows[1] - texts.rows[0], cols: texts.cols[1] - texts.cols[0], values: cropped(matrix.values, matrix.cols, texts) };
}

/**
 * @template {import("../wire/safetensors.js").Numbers} T
 * @param {T} values  row by row
 * @param {number} width  of a row
 * @param {Texts} texts
 * @returns {T}
 */
export function cropped(values, width, { rows: [top, bottom], cols: [left, right] }) {
  const rows = Array.from({ length: bottom - top }, (_, row) => values.subarray((top + row) * width + left, (top + row) * width + right));
  const cells = /** @type {T} */ (values.slice(0, rows.length * (right - left)));
  rows.forEach((row, i) => cells.set(row, i * (right - left)));
  return cells;
}

/** @typedef {{row: number | null, col: number | null, by: "hover" | "pin" | "default"}} At  in rows and columns that are shown */
/**
 * @typedef {object} Choice
 * @property {import("../compute/aggregate-attention.js").Heads} pool
 * @property {boolean} words
 * @property {boolean} hides  special tokens, and those of a chat's template
 * @property {number} top  percent
 * @property {Texts | null} texts  the tokens of two texts that are shown; null: all
 */
/**
 * @typedef {object} Reading
 * @property {Choice} choice
 * @property {Matrix} matrix  NaN where masked
 * @property {Matrix[]} planes  one per head, aggregated in the same way; a single one if one head
 *   is shown
 * @property {Uint8Array} cover
 * @property {number} shown  number of cells shown, of `open` ones
 * @property {number} open
 * @property {{axis: Axis, steps: Step[]}} rows
 * @property {{axis: Axis, steps: Step[]}} cols
 * @property {Float32Array} sinks  each row's weight on the hidden tokens, whether they are hidden or not; on the first
 *   token if there are none
 * @property {number} sinkError  by which they were rounded
 * @property {boolean} sunk  whether `sinks` are what each row gives to a learned sink, which is no token
 * @property {number} specials  number of keys that are special or of a chat's template
 * @property {boolean} templated  whether some are of a template
 */

/**
 * The weight of each row on a learned sink, pooled like the weights.
 * @param {(import("../wire/safetensors.js").Numbers | null)[]} sinks  one per head
 * @param {Axis} axis  of the rows
 * @param {Choice["pool"]} pool
 * @returns {Float32Array | null}  null: without a sink
 */
function sinkOf(sinks, axis, pool) {
  const planes = sinks.flatMap((values) => (values ? [{ rows: values.length, cols: 1, values }] : []));
  if (!planes.length) return null;
  const { values } = combine(planes.map((plane) => fold(plane, axis.groups, [[0]])), pool);
  return Float32Array.from(values);
}

/** @param {Page} page @returns {Choice}  Only the heatmap has these options. */
export function heatmapOptions(page) {
  const { view, options } = page.link;
  if (view !== "attention") return { pool: "one", words: false, hides: false, top: 100, texts: null };
  const { pool = "one", words = false, special, top } = options;
  return { pool, words, hides: special === "hide", top: top ?? 100, texts: shownTexts(page) };
}

/**
 * Number of cached readings of a trace: the pointer requests the same few sixty times per second.
 */
const CACHE_SIZE = 16;
/** Their key among the values cached for a trace. */
const READINGS = {};

/**
 * @param {Page} page
 * @returns {Reading | null}  null until the trace has the tensors
 */
export function heatmapOf(page) {
  const { trace, link, model } = page;
  if (!trace) return null;
  const chosen = heatmapOptions(page);
  const { block, layer, head } = link;
  const count = chosen.pool === "one" || !model ? 1 : extent(model, block).heads;
  const name = `reading ${JSON.stringify([block, layer, head, count, chosen])}`;
  return memo(together(trace, READINGS), name, () => read(model, link, trace, chosen, count), CACHE_SIZE);
}

/**
 * @param {Page["model"]} model
 * @param {Page["link"]} link
 * @param {Trace} trace
 * @param {Choice} choice
 * @param {number} count  of heads; 1: only the link's head
 * @returns {Reading | null}
 */
function read(model, link, trace, choice, count) {
  const heads = count === 1 ? [link.head] : Array.from({ length: count }, (_, head) => head);
  const whole = heads.flatMap((head) => attention(model, trace, { ...link, head }) ?? []);
  if (!whole.length) return null;
  const { keys, queries } = sided(blockOf(model, link.block), trace);
  const steps = axes(model, trace, link.block);
  const rows = along(queries, steps.rows, choice, choice.texts?.rows, language(trace, blockOf(model, link.block).query));
  const cols = along(keys, steps.cols, choice, choice.texts?.cols, language(trace, blockOf(model, link.block).key));
  const planes = whole.map((plane) => fold(plane, rows.axis.groups, cols.axis.groups));
  const matrix = combine(planes, choice.pool);
  const special = keys.flatMap((token, i) => (isAdded(token) ? [i] : []));
  const sunk = sinkOf(heads.map((head) => sinkWeights(model, trace, { ...link, head })), rows.axis, choice.pool);
  const { shares: sinks, error: sinkError } = sunk ? { shares: sunk, error: 0 } : weightShares(whole, rows.axis.groups, special.length ? special : [0], choice.pool);
  const strongestCells = coverOfStrongest(matrix, choice.top);
  return { choice, matrix, planes, ...strongestCells, rows, cols, sinks, sinkError, specials: special.length, templated: keys.some(({ template }) => template), sunk: sunk !== null };
}

/**
 * The tokens of rows and columns; a row that writes belongs to the token that it writes.
 * @param {import("../wire/model-description.js").Block} block
 * @param {Trace} trace
 * @returns {{queries: TokenReply[], keys: TokenReply[]}}
 */
function sided({ query, key, writes }, { tokens, output }) {
  const queries = tokens[query].map((token, i) => (writes && output.tokens[i]) || token);
  return { queries, keys: tokens[key] };
}

/** @param {Trace} trace @param {string} text */
function language({ tokens, direction }, text) {
  return languages(direction)[Object.keys(tokens).indexOf(text) > 0 ? 1 : 0];
}

/**
 * @param {TokenReply[]} tokens
 * @param {Step[]} steps  one per token
 * @param {Choice} choice
 * @param {Span | undefined} span  undefined: all tokens
 * @param {string} lang
 * @returns {{axis: Axis, steps: Step[]}}
 */
function along(tokens, steps, choice, span, lang) {
  const groups = choice.words ? words(tokens) : singles(tokens);
  const visibleAxis = groupAxis(groups, (token) => placeIn(span, token) === null || (choice.hides && isAdded(tokens[token])));
  const names = choice.words ? labels(joined(tokens, groups), lang) : [];
  const merged = groups.map((group, i) => {
    const step = steps[group[0]];
    if (!choice.words) return step;
    return { ...step, writes: names[i], short: step.short || (group.length > 1 && step.reads !== null) };
  });
  return { axis: visibleAxis, steps: merged.filter((_, i) => visibleAxis.at[groups[i][0]] !== null) };
}

/**
 * What is highlighted among the rows and columns shown. A pin on a hidden token highlights nothing.
 * @param {Page} page
 * @param {import("./store.js").Highlight | null} hovered
 * @param {Reading} reading
 * @returns {At}
 */
export function highlightIn(page, hovered, { matrix, rows, cols, specials, choice }) {
  const { query, key, by } = highlightOf(page, hovered);
  if (by !== "default") {
    const row = query === null ? null : (rows.axis.at[query] ?? null);
    return { row, col: key === null ? null : (cols.axis.at[key] ?? null), by };
  }
  const block = blockAt(page);
  const changedRow = isChanged(page.link) && query !== null ? rows.axis.at[query] : null;
  const first = changedRow ?? memo(matrix, "first row", () =>
    mostSalientRow(matrix, rows.steps.map(isWord), block.query === block.key && !specials ? informativeKeys(cols.steps) : cols.steps.map(isWord), block.query === block.key && choice.texts?.rows[0] === choice.texts?.cols[0]),
  );
  return { row: matrix.rows ? first : null, col: null, by };
}

/**
 * The trace's tokens that are highlighted: all pieces of a word.
 * @param {Page} page
 * @param {import("./store.js").Highlight | null} hovered
 * @returns {{queries: number[], keys: number[]}}
 */
export function highlightedTokens(page, hovered) {
  const heatmap = heatmapOf(page);
  const { query, key, by } = highlightOf(page, hovered);
  if (by === "default" && page.link.view === "compare") return changed(page);
  // The decoding view starts at the beginning of the translation.
  if (by === "default" && page.link.view === "decoding") return { queries: ["translation", "output"].includes(outputKind(page.model)) ? [0] : [], keys: [] };
  const first = heatmap && by === "default" ? highlightIn(page, hovered, heatmap).row : null;
  /** @param {number | null} token @param {{axis: Axis} | undefined} side */
  const pieces = (token, side) => {
    if (token === null) return [];
    const place = side?.axis.at[token] ?? null;
    return place === null || !side ? [token] : side.axis.groups[place];
  };
  if (heatmap && first !== null) return { queries: heatmap.rows.axis.groups[first], keys: [] };
  return { queries: pieces(query, heatmap?.rows), keys: pieces(key, heatmap?.cols) };
}

/**
 * The default highlight of the comparison: A's tokens of the largest change.
 * @param {Page} page
 * @returns {{queries: number[], keys: number[]}}
 */
function changed(page) {
  const result = comparison(page);
  const first = result && "changes" in result ? result.changes[0] : null;
  if (!result || !("changes" in result) || !first) return { queries: [], keys: [] };
  const [query, key] = [result.rows.pairs[first.row].a, result.cols.pairs[first.col].a];
  return { queries: query === null ? [] : [query], keys: key === null ? [] : [key] };
}

/**
 * The pair to explain: the highlighted cell or, if no column is highlighted, the largest of the
 * row.
 * @param {Page} page
 * @param {import("./store.js").Highlight | null} hovered
 * @param {Reading} reading
 * @returns {{row: number, col: number} | null}
 */
export function pairIn(page, hovered, reading) {
  const litCell = highlightIn(page, hovered, reading);
  return explainedCell(reading.matrix, litCell.row ?? highlightIn(page, null, reading).row ?? 0, litCell.col);
}

/**
 * The trace's token behind a row or a column: the first one of a word.
 * @param {{axis: Axis}} side
 * @param {number | null} place
 */
export const tokenAt = ({ axis }, place) => (place === null ? null : axis.groups[place][0]);

// What the changes of a model did to one weight: the number beside what the picture shows by colour.

/** Less is not said. */
const NOTHING = 0.005;

/**
 * The weight of a cell in both runs of a changed model.
 * @param {Page} page
 * @param {{row: number, col: number}} cell  of the heatmap that is shown
 * @returns {{trained: number, changed: number, error: number} | null}  null: not changed, not known, or the other run has other tokens there
 */
export function weightChange(page, { row, col }) {
  const otherPage = otherRunPage(page);
  if (!otherPage || otherPage.status !== "ready") return null;
  const [reading, otherReading] = [heatmapOf(page), heatmapOf(otherPage)];
  if (!reading || !otherReading || !isSameToken(reading.rows.steps, otherReading.rows.steps, row) || !isSameToken(reading.cols.steps, otherReading.cols.steps, col)) return null;
  const [weight, otherWeight] = [reading, otherReading].map(({ matrix }) => matrix.values[row * matrix.cols + col]);
  if (!(Math.abs(weight - otherWeight) >= NOTHING)) return null;
  const error = Math.max(reading.matrix.error ?? 0, otherReading.matrix.error ?? 0);
  return runKind(page.link) === "trained" ? { trained: weight, changed: otherWeight, error } : { trained: otherWeight, changed: weight, error };
}

/**
 * The weight of a row that the changes moved most: of a head that is off, the largest as trained.
 * @param {Page} page
 * @param {number} row
 * @param {number} cols
 * @returns {{col: number, change: NonNullable<ReturnType<typeof weightChange>>} | null}  null: none
 */
export function largestChange(page, row, cols) {
  const changes = Array.from({ length: cols }, (_, col) => ({ col, change: weightChange(page, { row, col }) }));
  const moved = changes.flatMap(({ col, change }) => (change ? [{ col, change, size: Math.abs(change.changed - change.trained) }] : []));
  const [largest] = moved.sort((a, b) => b.size - a.size);
  return largest ? { col: largest.col, change: largest.change } : null;
}

/** Whether both runs have read the same token there. @param {Step[]} steps @param {Step[]} otherSteps @param {number} index */
function isSameToken(steps, otherSteps, index) {
  const [token, otherToken] = [steps[index], otherSteps[index]].map((step) => step && (step.reads ?? step.writes));
  return Boolean(token && otherToken && token.word === otherToken.word);
}
