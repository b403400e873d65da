/**
 * What Compare shows: the run A (the page's own), a run B, and B − A, over common axes in which
 * equal tokens share a position.
 */

import { Problem } from "../wire/reply.js";
import { align, changes, difference, spread, swapped, transpose } from "../compute/token-diff.js";
import { attention, axes, blockAt, extent, isBetweenTexts, place } from "../wire/model-description.js";
import { answer, runQuestion } from "./view-requests.js";
import { memo, together } from "../../lib/memo.js";

/** @import { Page } from "./store.js" */
/** @import { Trace, Matrix } from "../wire/safetensors.js" */
/** @import { Step } from "../wire/tokens.js" */
/** @import { Pair, Covered } from "../compute/token-diff.js" */
/** @import { Question } from "./view-requests.js" */
/** @typedef {{matrix: Matrix, rows: Step[], cols: Step[]}} Run */
/**
 * @typedef {object} Comparison
 * @property {Covered} a
 * @property {Covered} b
 * @property {Covered} delta  B − A
 * @property {{pairs: Pair[], steps: Step[]}} rows
 * @property {{pairs: Pair[], steps: Step[]}} cols
 * @property {import("../compute/token-diff.js").Change[]} changes  largest first
 */

/** Number of changes listed in words. */
const MAX_CHANGES = 6;
/** Number of cached comparisons: the pointer requests the same few sixty times per second. */
const CACHE_SIZE = 16;
const MARK = { a: "ᴬ", b: "ᴮ" };

/**
 * The layer and head of B; if the link does not name another head or layer, it is the next one.
 * @param {Page} page
 * @returns {{layer: number, head: number}}
 */
export function otherPlace({ link, model }) {
  const { other: by, head_b, layer_b } = link.options;
  const { layers, heads } = model ? extent(model, link.block) : { layers: 1, heads: 1 };
  const { layer, head } = link;
  if (by === "head") return { layer, head: Math.min(head_b ?? (head + 1) % heads, heads - 1) };
  if (by === "layer")
    return { head, layer: Math.min(layer_b ?? (layer + layers - 1) % layers, layers - 1) };
  return { layer, head };
}

/**
 * The other sentence: the typed one, or A's with one word changed.
 * @param {Page} page
 */
export const otherSentence = ({ link }) => link.options.b || swapped(link.source);

/**
 * The additional run that the comparison needs.
 * @param {Page} page
 * @returns {Question | null}  null if B is in the same run, or there is nothing to run
 */
export function otherRun(page) {
  const { link, model, trace } = page;
  const { other: by } = link.options;
  if (!trace || (by !== "sentence" && by !== "direction")) return null;
  const select = ["weights", "mask"].map((name) => place(model, link, name));
  const common = { pad_to: null, decode: null, select };
  if (by === "sentence") {
    const source = otherSentence(page);
    if (!source.trim()) return null;
    return runQuestion(page, { ...common, source, target: null, direction: trace.direction });
  }
  if (!trace.output.text.trim()) return null;
  const direction = trace.direction.split("-").reverse().join("-");
  return runQuestion(page, { ...common, source: trace.output.text, target: link.source, direction });
}

/**
 * @param {Page} page
 * @returns {Comparison | Problem | null}  null while loading, or if there is nothing
 */
export function comparison(page) {
  const { trace, model, link } = page;
  const { other: by } = link.options;
  const question = otherRun(page);
  const otherTrace = question ? /** @type {Trace | Problem | undefined} */ (answer(page, question)) : trace;
  if (otherTrace instanceof Problem) return otherTrace;
  if (!trace || !otherTrace || (by === "direction" && !isBetweenTexts(blockAt(page)))) return null;
  if (!question && (by === "sentence" || by === "direction")) return null;
  const otherLink = { ...link, ...otherPlace(page) };
  const key = JSON.stringify([by, link.block, link.layer, link.head, otherLink.layer, otherLink.head]);
  return memo(together(trace, otherTrace), key, () => {
    const [a, b] = [run(model, trace, link), run(model, otherTrace, otherLink)];
    if (!a || !b) return null;
    return by === "direction" ? opposed(a, b) : compared(a, b);
  }, CACHE_SIZE);
}

/**
 * @param {Page["model"]} model
 * @param {Trace} trace
 * @param {Pick<import("./link.js").State, "block" | "layer" | "head">} place
 * @returns {Run | null}
 */
function run(model, trace, place) {
  const matrix = attention(model, trace, place);
  return matrix && { matrix, ...axes(model, trace, place.block) };
}

/** @param {Step} step  Without what was read before it, which is another word in the other run. */
const withoutRead = (step) => ({ ...step, reads: null });

/**
 * The comparison with the other direction, transposed: it writes the words that A reads.
 * @param {Run} runA
 * @param {Run} runB
 */
function opposed(runA, runB) {
  const turned = { matrix: transpose(runB.matrix), rows: runB.cols, cols: runB.rows.map(withoutRead) };
  return compared({ ...runA, rows: runA.rows.map(withoutRead) }, turned);
}

/** @param {Run} runA @param {Run} runB @returns {Comparison} */
export function compared(runA, runB) {
  const rows = joined(runA.rows, runB.rows);
  const cols = joined(runA.cols, runB.cols);
  const a = spread(runA.matrix, rows.pairs, cols.pairs, "a");
  const b = spread(runB.matrix, rows.pairs, cols.pairs, "b");
  return { a, b, delta: difference(a, b), rows, cols, changes: changes(a, b, MAX_CHANGES) };
}

/**
 * A token's identity regardless of position: its text, and whether it is special.
 * @param {Step} step
 */
const name = ({ writes }) => `${writes.special ? "special" : "word"} ${writes.word}`;

/**
 * @param {Step[]} a
 * @param {Step[]} b
 * @returns {{pairs: Pair[], steps: Step[]}}  tokens that only one has are marked with its letter;
 *   if both write a token after reading different ones, the label has only the written token
 */
function joined(a, b) {
  const pairs = align(a.map(name), b.map(name));
  const steps = pairs.map((pair) => {
    const [stepA, stepB] = [a[pair.a ?? -1], b[pair.b ?? -1]];
    if (!stepA || !stepB) return stepA ? marked(stepA, MARK.a) : marked(stepB, MARK.b);
    return stepA.reads?.word === stepB.reads?.word ? stepA : { ...stepA, short: true };
  });
  return { pairs, steps };
}

/** @param {Step} step @param {string} mark @returns {Step} */
function marked(step, mark) {
  return { ...step, writes: { ...step.writes, word: step.writes.word + mark } };
}

/**
 * The position of A's token on the axis.
 * @param {{pairs: Pair[]}} axis
 * @param {number | null} token
 * @returns {number | null}
 */
export function axisIndexOf({ pairs }, token) {
  const index = token === null ? -1 : pairs.findIndex(({ a }) => a === token);
  return index < 0 ? null : index;
}
