/** The encodings that are looked at: of the sentence's positions, or of as many as one likes. */

import { blockAt, stands } from "../../data/attentions.js";
import { lit } from "../../state/highlight.js";
import { answer, encoding } from "../../state/view-requests.js";
import { dots } from "../../compute/position-rotation.js";
import { matrix, named, tensor } from "../../data/computed-tensors.js";

/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("../../data/api.js").Positions} Positions */
/** @typedef {import("../../data/problem.js").Problem} Problem */
/** @typedef {import("../../data/tokens.js").Step} Step */

/**
 * @param {Page} page
 * @returns {{length: number, d_model: number} | null}  null until there is a sentence
 */
export function size({ trace, model, link }) {
  if (!trace || !model) return null;
  return {
    length: link.options.length ?? trace.tokens[blockAt({ model, link }).query].length,
    d_model: link.options.width ?? model.d_model,
  };
}

/** @param {Page} page @returns {import("../../state/view-requests.js").Question[]} */
export function questions(page) {
  const wanted = size(page);
  return wanted ? [encoding(wanted)] : [];
}

/**
 * @param {Page} page
 * @returns {Positions | Problem | undefined}
 */
export function table(page) {
  const [question] = questions(page);
  return question && /** @type {Positions | Problem | undefined} */ (answer(page, question));
}

/**
 * @param {Page} page
 * @param {Positions} found
 * @returns {import("../../data/computed-tensors.js").Shown}
 */
export function numbers(page, { length, d_model, positions, similarity }) {
  const cosines = { rows: length, cols: length, values: similarity };
  const dot = dots({ rows: length, cols: d_model, values: positions }, cosines);
  return {
    tokens: { position: named(places(page, length)) },
    tensors: {
      positions: tensor({ query: "position", feature: null }, [length, d_model], positions),
      similarity: matrix(cosines, "position", "position"),
      dot: matrix(dot, "position", "position"),
    },
  };
}

/**
 * What stands at each position: the sentence's tokens, as far as they go.
 * @param {Page} page
 * @param {number} length
 * @returns {Step[]}
 */
export function places({ model, trace, link }, length) {
  const tokens = trace ? stands(model, trace, link.block) : [];
  if (tokens.length === length) return tokens;
  return Array.from({ length }, (_, at) => tokens[at] ?? bare(at));
}

/** @param {number} at @returns {Step} */
function bare(at) {
  const writes = { space: "", word: String(at), nth: null, lang: "en", special: false, pad: false };
  return { reads: null, writes };
}

/**
 * The positions that are lit, where they are among those that are shown.
 * @param {Page} page
 * @param {import("../../state/store.js").Lit | null} hovered
 * @returns {{row: number | null, col: number | null}}
 */
export function marked(page, hovered) {
  const { query, key } = lit(page, hovered);
  const { query: rows, key: cols } = blockAt(page);
  return { row: query, col: rows === cols ? key : null };
}
