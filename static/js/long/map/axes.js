/** The axes of a long text's matrix: its tokens, or groups of them. */

import { findingOf } from "../../core/compute/attention-row.js";
import { sentence } from "../../core/figure/row-wording.js";
import { blockAt } from "../../core/wire/model-description.js";
import { asOneText, isAdded, labels, languages, plainLabel } from "../../core/wire/tokens.js";
import { el } from "../../lib/dom.js";
import { memo } from "../../lib/memo.js";
import { significant, tiny, two } from "../../lib/numbers.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { TokenReply } from "../../core/wire/schemas.d.ts" */
/** @import { Trace } from "../../core/wire/safetensors.js" */
/** @import { Child } from "../../lib/dom.js" */
/** @import { Range, Window } from "./map-window.js" */
/** @import { Axes, CellValue } from "./tiles.js" */

// Sentences and paragraphs of a text, as groups of its tokens. The text is split on the page, in
// code points, as token offsets are; a group is identified by the index of its first token.

/** @typedef {"sentences" | "paragraphs"} Grouping */

/**
 * The start of each segment of a text, in Unicode code points; the first is 0.
 * @param {string} text
 * @param {Grouping} by
 * @param {string} [lang]  of the text, BCP 47; absent or "": unknown
 * @returns {number[]}
 */
export function starts(text, by, lang = "") {
  const units = by === "paragraphs" ? paragraphs(text) : sentences(text, lang);
  /** @type {number[]} */
  const points = [];
  let [unit, point] = [0, 0];
  for (const start of units) {
    // A surrogate pair of two UTF-16 units is one code point.
    for (; unit < start; unit++, point++) if (isPair(text, unit)) unit++;
    points.push(point);
  }
  return points;
}

/** @param {string} text @param {number} index */
const isPair = (text, index) => (text.codePointAt(index) ?? 0) > 0xffff;

/** White space alone is none, and belongs to the one before. @param {string} text @param {string} lang @returns {number[]}  in UTF-16 units */
function sentences(text, lang) {
  const segmenter = new Intl.Segmenter(lang || undefined, { granularity: "sentence" });
  const segments = Array.from(segmenter.segment(text)).filter(({ index, segment }) => index === 0 || /\S/.test(segment));
  return segments.map(({ index }) => index);
}

/**
 * A blank line begins a paragraph; in a text without blank lines, every line does.
 * @param {string} text
 */
function paragraphs(text) {
  const blank = /\n[^\S\n]*\n\s*/g;
  const breaks = [...text.matchAll(blank)].length ? blank : /\n\s*/g;
  const ends = Array.from(text.matchAll(breaks), ({ index, 0: { length } }) => index + length);
  return [0, ...ends.filter((end) => end < text.length)];
}

/**
 * The groups of a text's tokens: a token belongs to the segment that contains its middle; a token
 * that is not of the text, such as a special one, is its own group.
 * @param {Pick<TokenReply, "start" | "end" | "special" | "template">[]} tokens
 * @param {number[]} starts  of the segments, ascending, in code points
 * @returns {number[]}  edges: the first token of each group, and the number of tokens
 */
export function edgesOf(tokens, starts) {
  /** @type {number[]} */
  const edges = [];
  let segment = 0;
  let before = NaN;
  tokens.forEach((token, i) => {
    const [{ start, end }, added] = [token, isAdded(token)];
    const middle = (start + Math.max(start, end - 1)) / 2;
    while (!added && segment + 1 < starts.length && starts[segment + 1] <= middle) segment++;
    const group = added ? -1 - i : segment;
    if (group !== before) edges.push(i);
    before = group;
  });
  return [...edges, tokens.length];
}

/** The group that a token is in. @param {number[]} edges @param {number} token */
export function groupAt(edges, token) {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= token) low = middle;
    else high = middle;
  }
  return low;
}

/** @typedef {"tokens" | "sentences" | "paragraphs"} Level */
/**
 * @typedef {object} Axis
 * @property {string} text  the name of the text
 * @property {TokenReply[]} tokens  of rows that write, those that they write
 * @property {boolean} writes
 * @property {string[]} points  the code points of the text; empty if unknown
 * @property {number[] | null} edges  first tokens of its groups, then the number of tokens; null:
 *   single tokens
 * @property {number} count  of units
 * @property {(unit: number) => string} label
 * @property {(token: number) => number} unitOf
 * @property {(unit: number) => [number, number]} tokensOf  half-open range
 */

/** The number of characters of a group's text in its label. */
const NAME = 28;

/** The kind of groups. @param {Page} page @returns {Level} */
export const levelOf = ({ link }) => link.options.level ?? "tokens";

/** @param {Page} page @returns {{rows: Axis, cols: Axis}} */
export function axesOf(page) {
  const trace = /** @type {Trace} */ (page.trace);
  const { query, key, writes } = blockAt(page);
  const level = levelOf(page);
  const of = (/** @type {string} */ text, writes = false) => memo(trace, `axis ${text} ${writes} ${level}`, () => axis(trace, text, writes, level));
  return { rows: of(query, writes), cols: of(key) };
}

/** @param {Trace} trace @param {string} text @param {boolean} writes @param {Level} level @returns {Axis} */
function axis(trace, text, writes, level) {
  const read = trace.tokens[text] ?? [];
  const written = writes ? memo(trace, `written ${text}`, () => read.map((token, i) => trace.output.tokens[i] ?? token)) : read;
  const typed = trace.long?.texts[text] ?? (text === Object.keys(trace.tokens)[0] ? "" : trace.output.text);
  const { tokens, text: fullText } = memo(written, "one text", () => asOneText(written, typed, trace.long?.texts.pair));
  const points = memo(tokens, "points", () => Array.from(fullText));
  const names = memo(tokens, "names", () => labels(tokens, languages(trace.direction)[0]).map((label) => plainLabel({ ...label, nth: null })));
  if (level === "tokens") {
    return { text, tokens, writes, points, edges: null, count: tokens.length, label: (unit) => names[unit] ?? "", unitOf: (token) => token, tokensOf: (unit) => [unit, unit + 1] };
  }
  const edges = edgesOf(tokens, starts(fullText, level));
  const tokensOf = (/** @type {number} */ unit) => /** @type {[number, number]} */ ([edges[unit], edges[unit + 1]]);
  return {
    text,
    tokens,
    writes,
    points,
    edges,
    count: edges.length - 1,
    label: (unit) => nameOf(tokens, points, tokensOf(unit)),
    unitOf: (token) => groupAt(edges, token),
    tokensOf,
  };
}

/** The label of a unit without the dot for its space, to quote it. @param {Axis} axis @param {number} unit */
export const quoted = ({ label }, unit) => label(unit).replace(/^·(?=.)/, "");

/** The label of a row on the map: an arrow says that it writes the token. @param {Axis} axis @returns {(unit: number) => string} */
export const rowName = (axis) => (axis.writes ? (unit) => `→ ${quoted(axis, unit)}` : axis.label);

/** @param {TokenReply[]} tokens @param {string[]} points @param {[number, number]} range */
function nameOf(tokens, points, [from, to]) {
  if (isAdded(tokens[from])) return tokens[from].text;
  const text = points.slice(tokens[from].start, tokens[to - 1].end).join("").trim().replace(/\s+/g, " ");
  return text.length > NAME ? `${text.slice(0, NAME - 1)}…` : text;
}

/**
 * Whether a level is useful: more than one group, and not only single tokens.
 * @param {Page} page
 * @param {Level} level
 */
export function offers(page, level) {
  if (level === "tokens") return true;
  const { rows, cols } = axesOf({ ...page, link: { ...page.link, options: { ...page.link.options, level } } });
  const groups = (/** @type {Axis} */ { tokens, count }) => count - tokens.filter(isAdded).length;
  return Math.max(groups(rows), groups(cols)) > 1 && Math.max(rows.count, cols.count) <= MOST_GROUPS;
}

/** The server's largest number of groups per side. */
const MOST_GROUPS = 512;

// The window in the link: `queries` and `keys`, each "from-to" in tokens, whatever a cell stands for.

/**
 * @param {Axes} axes
 * @param {{queries?: string | null, keys?: string | null}} options
 * @returns {Window | null}  in units; null: all
 */
export function windowInLink({ rows, cols }, options) {
  const [down, across] = [rangeOf(rows, options.queries), rangeOf(cols, options.keys)];
  if (!down && !across) return null;
  return { rows: down ?? [0, rows.count], cols: across ?? [0, cols.count] };
}

/** @param {Axis} axis @param {string | null | undefined} words @returns {Range | null}  null: nothing that the text has */
function rangeOf(axis, words) {
  const [from, to] = (words ?? "").split("-").map(Number);
  const last = axis.tokens.length;
  if (!words || !(from < to) || from >= last) return null;
  return [axis.unitOf(from), axis.unitOf(Math.min(to, last) - 1) + 1];
}

/** @param {Axes} axes @param {Window | null} window  in units; null: all */
export function linkOfWindow({ rows, cols }, window) {
  const words = (/** @type {Axis} */ axis, /** @type {Range} */ [from, to]) => `${axis.tokensOf(from)[0]}-${axis.tokensOf(to - 1)[1]}`;
  return { queries: window && words(rows, window.rows), keys: window && words(cols, window.cols) };
}

// Texts about a long text's matrix; for a pooled cell, that it is the largest of several.

/** Three digits: the server keeps queries and keys in 16 bits, from which weights are good to some tenths of a percent. @param {number} value */
const about = (value) => (value >= 1e-4 ? significant(value, 3) : tiny(value));

/** @param {Context["t"]} t @param {Page} page */
const whereabouts = (t, { link }) => t("Layer {layer}, head {head}", { layer: link.layer + 1, head: link.head + 1 });

/**
 * A unit of an axis in a sentence: its text and its position.
 * @param {Context["t"]} t
 * @param {Axis} axis
 * @param {number} unit
 * @param {string} as
 */
function unit(t, axis, unit, as) {
  return el("span", { className: as }, el("span", { className: "token" }, quoted(axis, unit)), el("sub", { title: t("number {n} of {count}", { n: unit + 1, count: axis.count }) }, String(unit + 1)));
}

/**
 * Describe the pinned row or, without one, what a cell is.
 * @param {Context} context
 * @param {Page} page
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {{row: number | null, col: number | null}} pinned
 * @param {Float32Array | null} weights  of that row; null: not loaded yet
 * @returns {Child[]}
 */
export function caption({ t, phrase }, page, axes, { row, col }, weights) {
  const place = el("span", { className: "place" }, whereabouts(t, page));
  if (row !== null && weights) {
    const rowFinding = findingOf(weights);
    const keys = "keys" in rowFinding ? rowFinding.keys.map((key) => unit(t, axes.cols, key, "as-key")) : [];
    const cell = col === null || ("keys" in rowFinding && rowFinding.keys.includes(col)) ? [] : [" ", ...phrase(Number.isNaN(weights[col]) ? t("{key} is masked.") : t("{key} gets {weight}."), { key: unit(t, axes.cols, col, "as-key"), weight: about(weights[col]) })];
    return [...phrase(sentence(rowFinding, false, t), {
      place,
      query: unit(t, axes.rows, row, "as-query"),
      key: keys[0],
      other: keys[1],
      count: keys.length,
      weight: "weight" in rowFinding ? two(rowFinding.weight) : "",
    }), ...cell];
  }
  return phrase(extents(t, page), { place, rows: axes.rows.count, cols: axes.cols.count });
}

/** @param {Context["t"]} t @param {Page} page  Marks the messages; their places are filled by the caller. */
function extents(t, page) {
  const level = levelOf(page);
  if (level === "sentences") return t("{place}: {rows} × {cols} sentences.");
  if (level === "paragraphs") return t("{place}: {rows} × {cols} paragraphs.");
  return t("{place}: {rows} × {cols} tokens.");
}

/**
 * Describe what a drawn cell is.
 * @param {Context["t"]} t
 * @param {Page} page
 * @param {{rows: number, cols: number}} span  tokens of a cell
 */
export function cellsSaid(t, page, { rows, cols }) {
  if (levelOf(page) !== "tokens") return t("A cell is the share of its attention that a row gives to a column: weights are summed over the column's tokens and averaged over the row's.");
  if (rows * cols === 1) return t("Each cell is one weight.");
  return t("Each cell is the largest of {rows} × {cols} weights: zoom in to see each of them.", { rows, cols });
}

/**
 * Describe what a share, or a handout, without its model does not have.
 * @param {Context["t"]} t
 * @param {{cells: boolean, lines: boolean}} unsaved
 * @returns {string}  "" if nothing is missing
 */
export function unsavedSaid(t, { cells, lines }) {
  const sentences = [...(cells ? [t("Finer cells than these were not saved here.")] : []), ...(lines ? [t("The weights of this row or column were not saved here.")] : [])];
  return sentences.join(" ");
}

/**
 * The tooltip of a cell.
 * @param {Context} context
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {CellValue} cell
 * @returns {Child[]}
 */
export function tip({ t }, { rows, cols }, { value, units }) {
  const [height, width] = [units.rows[1] - units.rows[0], units.cols[1] - units.cols[0]];
  const weightText = Number.isNaN(value) ? t("masked") : about(value);
  if (height * width === 1)
    return [unit(t, rows, units.rows[0], "as-query"), " ", unit(t, cols, units.cols[0], "as-key"), " ", el("b", {}, weightText)];
  const range = (/** @type {[number, number]} */ [from, to]) => (to - from === 1 ? String(from + 1) : `${from + 1}–${to}`);
  return [
    t("queries {queries}, keys {keys}", { queries: range(units.rows), keys: range(units.cols) }),
    " ",
    el("b", {}, Number.isNaN(value) ? weightText : t("largest of {rows} × {cols}: {weight}", { rows: height, cols: width, weight: about(value) })),
  ];
}

/**
 * The announcement of the pinned cell.
 * @param {Context["t"]} t
 * @param {{rows: Axis, cols: Axis}} axes
 * @param {number} row
 * @param {number | null} col
 * @param {Float32Array} weights  of the row
 */
export function spoken(t, { rows, cols }, row, col, weights) {
  const named = (/** @type {Axis} */ axis, /** @type {number} */ index) => `${quoted(axis, index)} ${index + 1}`;
  if (col === null) {
    const rowFinding = findingOf(weights);
    const key = rowFinding.kind === "most" || rowFinding.kind === "only" ? named(cols, rowFinding.keys[0]) : "";
    return key ? t("query {query} looks most at key {key}: {weight}", { query: named(rows, row), key, weight: "weight" in rowFinding ? about(rowFinding.weight) : "" }) : named(rows, row);
  }
  return t("query {query}, key {key}: {weight}", { query: named(rows, row), key: named(cols, col), weight: Number.isNaN(weights[col]) ? t("masked") : about(weights[col]) });
}
