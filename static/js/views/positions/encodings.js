/** The encodings shown: for the sentence's positions, or for a chosen size. */

import { matrix, named, tensor } from "../../core/compute/computed-tensors.js";
import { cosines, dotProducts, kindOf } from "../../core/compute/positions.js";
import { highlightOf } from "../../core/store/highlight.js";
import { answer, encoding, parameters } from "../../core/store/view-requests.js";
import { blockAt, positionedSteps } from "../../core/wire/model.js";
import { Problem } from "../../core/wire/reply.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Step } from "../../core/wire/tokens.js" */

/** @typedef {import("../../core/wire/api.js").Positions & {waves: boolean}} Positions  waves: sines and cosines, not learned */

/**
 * @param {Page} page
 * @returns {{length: number, d_model: number} | null}  null until there is a sentence
 */
export function size({ trace, model, link }) {
  if (!trace || !model) return null;
  const { base } = kindOf(model);
  const { query } = blockAt({ model, link });
  if (!query) return null; // a link without a kind of attention is about to be completed
  const read = trace.tokens[query].length;
  const { heads } = model.attentions[0];
  if (base === "rotary") return { length: read, d_model: model.d_model / heads };
  if (base !== "sinusoidal") return { length: Math.min(link.options.length ?? read, model.max_tokens), d_model: model.d_model };
  return {
    length: link.options.length ?? read,
    d_model: link.options.width ?? model.d_model,
  };
}

/** @param {Page} page @returns {import("../../core/store/view-requests.js").Question[]} */
export function questions(page) {
  const dimensions = size(page);
  const { base } = kindOf(page.model);
  if (!dimensions || base === "none") return [];
  if (base === "learned") return [parameters(page, [learnedTable(page)])];
  if (base === "relative") return [parameters(page, [`${stackOf(page)}.positions.pi`])];
  return [encoding(dimensions)];
}

/** The stack to which the positions belong. @param {Page} page */
const stackOf = (page) => blockAt(page).stack;

/** @param {Page} page */
const learnedTable = (page) => `${stackOf(page)}.positions.table`;

/** @param {Page} page @returns {Positions | Problem | undefined} */
export function table(page) {
  const [question] = questions(page);
  const dimensions = size(page);
  if (!question || !dimensions) return undefined;
  if (kindOf(page.model).base !== "learned") {
    const reply = /** @type {import("../../core/wire/api.js").Positions | Problem | undefined} */ (answer(page, question));
    return reply && !(reply instanceof Problem) ? { ...reply, waves: true } : reply;
  }
  /** @type {import("../../core/store/view-requests.js").Tensors | Problem | undefined} */
  const reply = answer(page, question);
  if (!reply || reply instanceof Problem) return reply;
  const { shape, data } = reply[learnedTable(page)];
  const [length, d_model] = [Math.min(dimensions.length, shape[0]), shape[1]];
  const positions = Float32Array.from(data.subarray(0, length * d_model));
  const similarity = cosines({ rows: length, cols: d_model, values: positions });
  return { variant: "learned", length, d_model, positions, similarity, waves: false };
}

/** @param {Page} page @param {Positions} found @returns {import("../../core/compute/computed-tensors.js").ComputedTensors} */
export function numbers(page, { length, d_model, positions, similarity }) {
  const alike = { rows: length, cols: length, values: similarity };
  const dot = dotProducts({ rows: length, cols: d_model, values: positions }, alike);
  return {
    tokens: { position: named(places(page, length)) },
    tensors: {
      positions: tensor({ query: "position", feature: null }, [length, d_model], positions),
      similarity: matrix(alike, "position", "position"),
      dot: matrix(dot, "position", "position"),
    },
  };
}

/**
 * The labels of positions: the sentence's tokens, then numbers.
 * @param {Page} page
 * @param {number} length
 * @returns {Step[]}
 */
export function places({ model, trace, link }, length) {
  const tokens = trace ? positionedSteps(model, trace, link.block) : [];
  if (tokens.length === length) return tokens;
  return Array.from({ length }, (_, position) => tokens[position] ?? bare(position));
}

/** A number as a label. @param {number} number @returns {Step} */
export function bare(number) {
  const writes = { space: "", word: String(number).replace("-", "−"), nth: null, lang: "en", special: false, pad: false };
  return { reads: null, writes };
}

/**
 * The highlighted positions, if they are shown.
 * @param {Page} page
 * @param {import("../../core/store/store.js").Highlight | null} hovered
 * @returns {{row: number | null, col: number | null}}
 */
export function marked(page, hovered) {
  const { query, key } = highlightOf(page, hovered);
  const { query: rows, key: cols } = blockAt(page);
  return { row: query, col: rows === cols ? key : null };
}

// The order in which positional encodings are drawn: all sines (even features), then all cosines.

/**
 * @param {number} col  of the drawing
 * @param {number} width  d_model
 * @returns {number}  the feature drawn there
 */
export function featureAt(col, width) {
  const sines = Math.ceil(width / 2);
  return col < sines ? 2 * col : 2 * (col - sines) + 1;
}

/**
 * @param {import("../../core/wire/wire.js").Matrix} matrix  [position, feature]
 * @returns {import("../../core/wire/wire.js").Matrix}  the same, with columns in drawing order
 */
export function apart({ rows, cols, values }) {
  const drawn = Float32Array.from(values, (_, i) => {
    const row = Math.floor(i / cols);
    return values[row * cols + featureAt(i % cols, cols)];
  });
  return { rows, cols, values: drawn };
}
