/** Describe the highlighted row in a sentence. */

import { findingOf } from "../compute/attention-row.js";
import { doubtfulWord, doubtsOf } from "../store/certainty.js";
import { heatmapOf, highlightIn, largestChange, weightChange } from "../store/heatmap-data.js";
import { rounded, two } from "../../lib/numbers.js";
import { el } from "../../lib/dom.js";
import { quoted } from "../draw/token.js";
import { row } from "../wire/safetensors.js";
import { attentionAt, blockAt, extent, isSupervised, place } from "../wire/model-description.js";
import { isOff } from "../store/interventions.js";
import { windowSaid } from "../store/model-part-names.js";

/** @import { Context } from "./types.js" */
/** @import { Finding } from "../compute/attention-row.js" */

/**
 * @param {Pick<Context, "phrase" | "t">} context
 * @param {import("../store/store.js").Page} page
 * @param {import("../store/store.js").Highlight | null} hovered
 * @returns {(string | import("../../lib/dom.js").Described)[] | null}
 */
export function rowCaption({ phrase, t }, page, hovered) {
  const read = heatmapOf(page);
  if (!read) return null;
  const { matrix, rows, cols, choice } = read;
  const rowIndex = highlightIn(page, hovered, read).row ?? highlightIn(page, null, read).row;
  if (rowIndex === null || rowIndex >= matrix.rows) return null;
  const rowFinding = findingOf(row(matrix, rowIndex));
  const keys =
    "keys" in rowFinding
      ? rowFinding.keys.map((i) => el("span", { className: "as-key" }, quoted(cols.steps[i].writes)))
      : [];
  const decodes = blockAt(page).writes;
  const off = rowFinding.kind === "nothing" && choice.pool === "one" && isOff(page);
  const words = off ? t("{place}: this head is off; it contributes nothing.") : choice.pool === "max" ? maximumSentence(rowFinding, t) : sentence(rowFinding, decodes, t);
  const doubt = rowFinding.kind === "most" && choice.pool !== "max" ? doubtSentence({ phrase, t }, page, rows.axis.groups[rowIndex]) : [];
  const { by, col } = highlightIn(page, null, read);
  const pinned = by === "pin" && col !== null && highlightIn(page, hovered, read).col === col && choice.pool === "one";
  const lookingRow = pinned ? strongestQuery(matrix, col) : null;
  // If a key is pinned, add which row looks at it most.
  const lookingMessage = decodes ? t("The row that looks most at {key} is the one that writes {query} ({weight}).") : t("The row that looks most at {key} is {query} ({weight}).");
  const answer = lookingRow && [" ", ...phrase(lookingMessage, {
    key: el("span", { className: "as-key" }, quoted(cols.steps[col ?? 0].writes)),
    query: el("span", { className: "as-query" }, quoted(rows.steps[lookingRow.row].writes)),
    weight: rounded(lookingRow.weight, matrix.error, two),
  })];
  return [...phrase(words, {
    place: el("span", { className: "place" }, whereabouts(page, read, t)),
    query: el("span", { className: "as-query" }, quoted(rows.steps[rowIndex].writes)),
    key: keys[0],
    other: keys[1],
    count: keys.length,
    weight: "weight" in rowFinding ? rounded(rowFinding.weight, matrix.error, two) : "",
  }), ...doubt, ...(answer ?? []), ...changeOfWeight({ phrase, t }, page, read, rowIndex, highlightIn(page, hovered, read).col)];
}

/**
 * What the changes did to the weight that is pointed at, or to the one of the row that they moved most.
 * @param {Pick<Context, "phrase" | "t">} context
 * @param {import("../store/store.js").Page} page
 * @param {import("../store/heatmap-data.js").Reading} read
 * @param {number} rowIndex
 * @param {number | null} col
 * @returns {(string | import("../../lib/dom.js").Described)[]}
 */
function changeOfWeight({ phrase, t }, page, { matrix, cols }, rowIndex, col) {
  const pointedAt = col === null ? null : weightChange(page, { row: rowIndex, col });
  const moved = col === null ? largestChange(page, rowIndex, matrix.cols) : pointedAt && { col, change: pointedAt };
  if (!moved) return [];
  const { col: key, change } = moved;
  return [" ", ...phrase(t("The changes take its weight on {key} from {before} to {after}."), {
    key: el("span", { className: "as-key" }, quoted(cols.steps[key].writes)),
    before: rounded(change.trained, change.error, two),
    after: rounded(change.changed, change.error, two),
  })];
}

/** @param {import("../store/store.js").Page} page @param {number[]} tokens  of the output */
const writtenProbabilities = ({ trace }, tokens) => tokens.map((token) => Math.exp(trace?.output.logprobs[token] ?? 0));

/**
 * What follows a finding on a row that writes, where what it writes, or the whole translation, is improbable.
 * @param {Pick<Context, "phrase" | "t">} context
 * @param {import("../store/store.js").Page} page
 * @param {number[]} tokens  the output tokens that are spoken of
 * @returns {(string | import("../../lib/dom.js").Described)[]}  nothing if the row does not write, or is not doubtful
 */
export function doubtSentence({ phrase, t }, page, tokens) {
  // A projected caption has no room for more.
  const doubts = blockAt(page).writes && !page.link.options.projector ? doubtsOf(page) : null;
  if (doubts?.improbable) return [" ", t("But the translation is improbable.")];
  if (!tokens.some((token) => doubtfulWord(doubts, token))) return [];
  return [" ", ...phrase(t("But this word is improbable ({probability})."), { probability: two(Math.min(...writtenProbabilities(page, tokens))) })];
}

/**
 * The row that looks most at a key.
 * @param {import("../wire/safetensors.js").Matrix} matrix
 * @param {number} col
 * @returns {{row: number, weight: number} | null}  null: none
 */
function strongestQuery({ rows, cols, values }, col) {
  let best = { row: -1, weight: 0 };
  for (let row = 0; row < rows; row++)
    if (values[row * cols + col] > best.weight) best = { row, weight: values[row * cols + col] };
  return best.weight >= 0.005 ? best : null;
}

/** The head that a page shows, and whether training told it where to look. @param {Context["t"]} t @param {Pick<import("../store/store.js").Page, "link" | "model">} page */
export function headName(t, { link, model }) {
  const numbers = { layer: link.layer + 1, head: link.head + 1 };
  return model && isSupervised(model, link) ? t("Layer {layer}, head {head}, supervised to align", numbers) : t("Layer {layer}, head {head}", numbers);
}

/**
 * Which head (or that heads are pooled), the window that it sees, and what was left out.
 * @param {import("../store/store.js").Page} page
 * @param {Pick<import("../store/heatmap-data.js").Reading, "choice" | "templated">} read
 * @param {Context["t"]} t
 */
function whereabouts({ link, model }, { choice: { pool, hides }, templated }, t) {
  const layer = link.layer + 1;
  const heads = model ? extent(model, link.block).heads : 0;
  const name = {
    one: () => headName(t, { link, model }),
    mean: () => t("Layer {layer}, mean of {heads} heads", { layer, heads }),
    max: () => t("Layer {layer}, maximum of {heads} heads", { layer, heads }),
  }[pool]();
  const windowText = windowSaid(t, attentionAt(model, place(model, link))?.mask ?? "");
  const named = windowText ? t("{place} ({window})", { place: name, window: windowText }) : name;
  return hides ? t("{place}, {what} left out", { place: named, what: addedTokens(t, templated) }) : named;
}

/** The tokens that are not of the text. @param {Context["t"]} t @param {boolean} templated  whether a chat's template adds some */
export const addedTokens = (t, templated) => (templated ? t("special tokens and the chat template") : t("special tokens"));

/**
 * A maximum over heads says nothing about the whole row of one head.
 * @param {Finding} rowFinding
 * @param {Context["t"]} t
 */
function maximumSentence({ kind }, t) {
  if (kind === "nothing") return t("{place}: {query} has no token to look at.");
  if (kind === "both" || kind === "spread")
    return t("{place}: for {query}, the largest weight of any head is {weight}, on {count} tokens.");
  return t("{place}: for {query}, the largest weight of any head is on {key} ({weight}).");
}

/**
 * @param {Finding} rowFinding
 * @param {boolean} writes  whether the row writes a token
 * @param {Context["t"]} t  only marks the messages here; the caller fills the placeholders
 * @returns {string}
 */
export function sentence({ kind }, writes, t) {
  if (writes) {
    if (kind === "nothing") return t("{place}: while writing {query} it has no token to look at.");
    if (kind === "only")
      return t("{place}: while writing {query} it can look at {key} only ({weight}).");
    if (kind === "both")
      return t(
        "{place}: while writing {query} it looks equally at {key} and {other} ({weight} each).",
      );
    if (kind === "spread")
      return t(
        "{place}: while writing {query} its attention is spread out; {count} tokens share the largest weight ({weight} " +
        "each).",
      );
    return t("{place}: while writing {query} it looks most at {key} ({weight}).");
  }
  if (kind === "nothing") return t("{place}: {query} has no token to look at.");
  if (kind === "only") return t("{place}: {query} can look at {key} only ({weight}).");
  if (kind === "both")
    return t("{place}: {query} looks equally at {key} and {other} ({weight} each).");
  if (kind === "spread")
    return t("{place}: the attention of {query} is spread out; {count} tokens share the largest weight ({weight} " +
      "each).");
  return t("{place}: {query} looks most at {key} ({weight}).");
}
