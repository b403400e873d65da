/** The axes of a long text's matrix: its tokens, or groups of them. */

import { blockAt } from "../../core/wire/attentions.js";
import { memo } from "../../lib/memo.js";
import { isAdded, labels, languages, plain } from "../../core/wire/tokens.js";
import { edgesOf, groupAt, starts } from "./text-segments.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace, Token } from "../../core/wire/wire.js" */
/** @typedef {"tokens" | "sentences" | "paragraphs"} Level */
/**
 * @typedef {object} Axis
 * @property {string} text  the name of the text
 * @property {Token[]} tokens  of rows that write, those that they write
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

/**
 * @param {Page} page
 * @returns {{rows: Axis, cols: Axis}}
 */
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
  const tokens = writes ? memo(trace, `written ${text}`, () => read.map((token, i) => trace.output.tokens[i] ?? token)) : read;
  const said = trace.long?.texts[text] ?? (text === Object.keys(trace.tokens)[0] ? "" : trace.output.text);
  const points = memo(tokens, "points", () => Array.from(said));
  const names = memo(tokens, "names", () => labels(tokens, languages(trace.direction)[0]).map((label) => plain({ ...label, nth: null })));
  if (level === "tokens") {
    return { text, tokens, writes, points, edges: null, count: tokens.length, label: (unit) => names[unit] ?? "", unitOf: (token) => token, tokensOf: (unit) => [unit, unit + 1] };
  }
  const edges = edgesOf(tokens, starts(said, level));
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

/** @param {Token[]} tokens @param {string[]} points @param {[number, number]} range */
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
