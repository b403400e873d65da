/** What is highlighted: the row and the column that the whole page describes. */

import { explainedCell, mostFollowableRow, mostSalientRow, informativeness } from "../compute/attention-row.js";
import { isAdded, isWord, specialTokens, informativeKeys } from "../wire/tokens.js";
import { isChanged } from "./interventions.js";
import { memo } from "../../lib/memo.js";
import { approximateWeights } from "../compute/computed-tensors.js";
import { attention, axes, blockAt, blockOf, extent, isBetweenTexts } from "../wire/model-description.js";

/** @import { Highlight } from "./store.js" */
/** @import { Trace, Matrix } from "../wire/safetensors.js" */
/** @import { Step } from "../wire/tokens.js" */
/** @import { State } from "./link.js" */

/**
 * The highlighted row and column of a block: those of the hovered cell, else of the pinned one,
 * else a default worth a first look.
 * @param {import("./store.js").Page} page
 * @param {Highlight | null} hovered
 * @returns {{query: number | null, key: number | null, by: "hover" | "pin" | "default"}}
 */
export function highlightOf({ link, model, trace, runs, share }, hovered) {
  const { query, key } = blockAt({ model, link });
  const row = hovered?.query?.side === query ? hovered.query.index : null;
  const col = hovered?.key?.side === key ? hovered.key.index : null;
  if (row !== null || col !== null) return { query: row, key: col, by: "hover" };
  if (link.query !== null) return { query: link.query, key: link.key, by: "pin" };
  const matrix = trace && attention(model, trace, link);
  if (!trace || !matrix) return { query: null, key: null, by: "default" };
  // Both runs of a changed model start with the same row, that of the model as trained. A share
  // starts with the row with which it was created.
  const trained = isChanged(link) && !share && runs.trained ? runs.trained.trace : trace;
  const as = attention(model, trained, link);
  const first = memo(as ?? matrix, `salient ${link.block}`, () => firstLook(model, as ? trained : trace, link.block, as ?? matrix));
  return { query: first < matrix.rows ? first : 0, key: null, by: "default" };
}

/** @param {import("../wire/model-description.js").Model} model @param {Trace} trace @param {string} block @param {Matrix} matrix */
function firstLook(model, trace, block, matrix) {
  const { query, key } = blockOf(model, block);
  const { rows, cols } = axes(model, trace, block);
  return mostSalientRow(matrix, rows.map(isWord), query === key ? informativeKeys(cols) : cols.map(isWord), query === key);
}

/**
 * The cell to explain first to a newcomer: one whose numbers are easy to follow.
 * @param {import("./store.js").Page} page
 * @returns {{query: number, key: number} | null}
 */
export function example({ link, model, trace }) {
  const matrix = trace && attention(model, trace, link);
  if (!trace || !matrix) return null;
  const { query, key } = blockOf(model, link.block);
  const { rows, cols } = axes(model, trace, link.block);
  const words = query === key ? informativeKeys(cols) : cols.map(isWord);
  const cell = explainedCell(matrix, mostFollowableRow(matrix, rows.map(isWord), words, query === key), null);
  return cell && { query: cell.row, key: cell.col };
}

/**
 * The default head of cross-attention, which is known without a trace: the head that aligns best by
 * the rows that write (in the alignment view, by any rows).
 * @param {import("../wire/model-description.js").ModelInfo} model
 * @param {Pick<State, "block" | "view">} link
 * @returns {{layer: number, head: number} | null}  null: another block, or it was not measured
 */
export function aligningHead(model, { block, view }) {
  const best = model.aligners?.find(({ rows }) => view === "alignment" || rows === "writes");
  return best && isBetweenTexts(blockOf(model, block)) ? { layer: best.layer, head: best.head } : null;
}

/**
 * The default head: the one that the model names, otherwise the most informative head of the block.
 * @param {Trace} trace  with all weights of the block; 8 bits are enough
 * @param {import("../wire/model-description.js").ModelInfo} model
 * @param {Pick<State, "block" | "view">} link
 * @returns {{layer: number, head: number}}
 */
export function openingHead(trace, model, link) {
  return aligningHead(model, link) ?? informative(trace, model, link.block);
}

/** @param {Trace} trace @param {import("../wire/model-description.js").ModelInfo} model @param {string} block */
function informative(trace, model, block) {
  const { rows, cols } = axes(model, trace, block);
  const self = blockOf(model, block).query === blockOf(model, block).key;
  const special = (/** @type {Step} */ step) => ({ special: isAdded(step.writes) });
  const keys = self ? specialTokens(cols) : cols.map(special);
  const { layers, heads } = extent(model, block);
  let best = { layer: 0, head: 0, score: -1 };
  for (let layer = 0; layer < layers; layer++) {
    for (let head = 0; head < heads; head++) {
      const matrix = approximateWeights(model, trace, { block, layer, head });
      const score = matrix ? informativeness(matrix, rows.map(special), keys, self) : 0;
      if (score > best.score) best = { layer, head, score };
    }
  }
  return { layer: best.layer, head: best.head };
}

/**
 * The pair to explain: the highlighted one or, if no key is highlighted, the largest of the row.
 * @param {import("./store.js").Page} page
 * @param {Highlight | null} [hovered]
 * @returns {{query: number, key: number} | null}
 */
export function explainedPair(page, hovered = null) {
  const matrix = page.trace && attention(page.model, page.trace, page.link);
  if (!matrix) return null;
  const highlight = highlightOf(page, hovered);
  const cell = explainedCell(matrix, highlight.query ?? highlightOf(page, null).query ?? 0, highlight.key);
  return cell && { query: cell.row, key: cell.col };
}
