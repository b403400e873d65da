/**
 * Which of two texts looks at which: A is the first, B the second. Tokens that are left out are hidden,
 * and nothing is rescaled.
 */

import { typedText } from "../wire/attentions.js";
import { choiceOption } from "./options.js";

/** @import { Page } from "./store.js" */
/** @import { Matrix } from "../wire/wire.js" */
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
 * @template {import("../wire/wire.js").Numbers} T
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
