/**
 * What changes to a model do to what it writes: one finding from the run of the model as trained
 * and that of the changed model.
 */

import { logprob } from "../wire/reply.js";
import { align } from "./token-diff.js";

/** @import { Pair } from "./token-diff.js" */
/** @import { Matrix, Trace } from "../wire/wire.js" */
/** @typedef {Trace["output"]} Output */
/** @typedef {{before: number[], after: number[]}} Replacement  indices of the tokens of both outputs; none: added, or lost */
/**
 * @typedef {object} ChangeEffect
 * @property {Replacement[]} replaced  in the order of the text; none: the same tokens
 * @property {number | null} nats  how the log-probability of the output changed; null: it has other tokens
 * @property {{index: number, before: number, after: number} | null} step  the token whose probability
 *   changed most; null: none changed, or the tokens are others
 * @property {boolean} unfinished  whether only the changed model did not come to an end
 */

/** Changes below this are not said, in probability or in nats: they print as 0.00. */
const UNSEEN_CHANGE = 0.005;

/**
 * @param {Output} before
 * @param {Output} after
 * @param {((index: number) => number | null) | null} [sourceOf]  the source token that a written token translates, by
 *   its index in `before`; null: not known
 * @returns {ChangeEffect | null}  null: neither writes anything
 */
export function changeEffect(before, after, sourceOf = null) {
  if (!before.tokens.length && !after.tokens.length) return null;
  const pairs = align(names(before), names(after));
  const unfinished = before.finished && !after.finished;
  if (pairs.every(({ a, b }) => a !== null && b !== null))
    return { replaced: [], nats: logprob(after) - logprob(before), step: largestStep(before, after), unfinished };
  return { replaced: replacements(pairs, before, after, sourceOf), nats: null, step: null, unfinished };
}

/** Whether the changes made no difference that would be seen in two decimals. @param {ChangeEffect} effect */
export const isUnaffected = ({ replaced, nats, step, unfinished }) =>
  !replaced.length && !unfinished && nats !== null && Math.abs(nats) < UNSEEN_CHANGE && step === null;

/** From this share of their weights on the same keys, two heads are said to look at the same. */
const ALIKE = 0.7;

/**
 * The heads whose weights lie on the same keys as those of another head.
 * @param {Matrix} reference  of the head
 * @param {(Matrix | null)[]} matrices  of the same layer, by head; null: not known, or the head itself
 * @returns {number[]}  those that share most first
 */
export function alikeHeads(reference, matrices) {
  const shares = matrices.map((matrix, head) => ({ head, share: matrix ? sharedWeight(reference, matrix) : 0 }));
  return shares.filter(({ share }) => share >= ALIKE).sort((a, b) => b.share - a.share).map(({ head }) => head);
}

/** How much of the weight of two heads is on the same keys, as a mean over the rows. @param {Matrix} a @param {Matrix} b */
function sharedWeight(a, b) {
  let shared = 0;
  for (let i = 0; i < a.values.length; i++) shared += Math.min(a.values[i], b.values[i]) || 0; // masked: NaN
  return shared / a.rows;
}

/** @param {Output} output */
const names = ({ tokens }) => tokens.map(({ id, text }) => `${id} ${text}`);

/**
 * @param {Output} before
 * @param {Output} after  with the same tokens
 * @returns {ChangeEffect["step"]}
 */
function largestStep(before, after) {
  const steps = before.tokens.flatMap(({ template }, index) =>
    template ? [] : [{ index, before: Math.exp(before.logprobs[index]), after: Math.exp(after.logprobs[index]) }],
  );
  const change = (/** @type {typeof steps[number]} */ step) => Math.abs(step.after - step.before);
  const [first] = steps.sort((a, b) => change(b) - change(a));
  return first && change(first) >= UNSEEN_CHANGE ? first : null;
}

/**
 * @param {Pair[]} pairs
 * @param {Output} before
 * @param {Output} after
 * @param {((index: number) => number | null) | null} sourceOf
 * @returns {Replacement[]}  without special tokens; a word of several tokens is replaced as a whole
 */
function replacements(pairs, before, after, sourceOf) {
  const isEqual = (/** @type {Pair} */ { a, b }) => a !== null && b !== null;
  const isReplaced = pairs.map((pair) => !isEqual(pair));
  if (sourceOf) {
    const wordOf = (/** @type {Pair} */ { a }) => (a === null || before.tokens[a].special ? null : sourceOf(a));
    const grow = (/** @type {number} */ from, /** @type {number} */ by) => {
      const word = wordOf(pairs[from]);
      for (let n = from + by; word !== null && pairs[n] && (isReplaced[n] || wordOf(pairs[n]) === word); n += by) isReplaced[n] = true;
    };
    pairs.forEach((pair, n) => isEqual(pair) || (grow(n, -1), grow(n, 1)));
  }
  /** @type {Replacement[]} */
  const groups = [];
  pairs.forEach(({ a, b }, n) => {
    if (!isReplaced[n]) return;
    if (!n || !isReplaced[n - 1]) groups.push({ before: [], after: [] });
    const group = groups[groups.length - 1];
    if (a !== null && !before.tokens[a].special) group.before.push(a);
    if (b !== null && !after.tokens[b].special) group.after.push(b);
  });
  return groups.filter((group) => group.before.length || group.after.length);
}
