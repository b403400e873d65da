/**
 * A decoding from the lines of `POST /api/decode`: its steps, the search tree, and derived numbers.
 * Moving forwards and backwards only changes an index into the list of steps.
 */

import { candidateTensors, typedText } from "../../core/wire/model-description.js";

/** @import { Trace } from "../../core/wire/safetensors.js" */
/** @typedef {{id: number, text: string, special: boolean}} Piece */
/** @typedef {{id: number, text: string | null, special?: boolean, logprob: number, probability: number, kept: boolean}} Candidate  text null: not known */
/**
 * @typedef {object} Hypothesis  what a step starts from
 * @property {number[]} ids  written before it
 * @property {string} text
 * @property {number} logprob  of all of them (nats)
 * @property {number} score  logprob divided by the length penalty
 * @property {Candidate[]} candidates  for the next token, most probable first
 * @property {number} rest  probability of all tokens that are not listed
 */
/**
 * @typedef {object} Beam  a hypothesis extended by one token
 * @property {number} parent  among the step's hypotheses
 * @property {Piece} token
 * @property {number} logprob  of all ids including this one (nats)
 * @property {number} score
 * @property {"live" | "finished" | "pruned"} state
 * @property {number} [rank]  the token's rank among all tokens, from 1
 * @property {number | null} [pool]  number of tokens it was sampled from
 * @property {number | null} [drawn]  its probability among these
 */
/** @typedef {{index: number, forced: boolean, hypotheses: Hypothesis[], beams: Beam[]}} Step */
/** @typedef {{text: string, tokens: Piece[], logprobs: number[], score: number, finished: boolean}} Output */
/** @typedef {{start: any, steps: Step[], output: Output | null}} Run */
/** @type {Run} */
export const NOTHING = Object.freeze({ start: null, steps: [], output: null });

/**
 * @param {Run} run
 * @param {any} line  of the stream
 * @returns {Run}  a new run that includes the line
 */
export function withLine(run, line) {
  if (line.start) return { ...run, start: line.start };
  if (line.step) return { ...run, steps: [...run.steps, line.step] };
  return line.end ? { ...run, output: line.end.output } : run;
}

/**
 * The final translation; while decoding, the leading hypothesis.
 * @param {Run} run
 * @returns {Piece[]}
 */
export function writtenTokens({ steps, output }) {
  const last = steps.at(-1);
  if (output || !last) return output?.tokens ?? [];
  const ids = path(last, leader(last.beams));
  return ids.flatMap((_, t) => onPath(steps[t], ids)?.token ?? []);
}

/** @param {Beam[]} beams */
const leader = (beams) =>
  beams.filter(({ state }) => state !== "pruned").reduce((a, b) => (b.score > a.score ? b : a), beams[0]);

/** @param {Step} step @param {Beam} beam @returns {number[]}  all that it has written */
export const path = ({ hypotheses }, { parent, token }) => [...hypotheses[parent].ids, token.id];

/** @param {Step} step @param {readonly number[]} ids  of a translation @returns {Beam | undefined}  its beam at this step */
export function onPath(step, ids) {
  const [last, row] = [ids[step.index], hypothesis(step, ids)];
  return step.beams.find(({ parent, token }) => parent === row && token.id === last);
}

/** @param {Step} step @param {readonly number[]} ids @returns {number}  the hypothesis that begins it; −1: none */
export const hypothesis = ({ index, hypotheses }, ids) =>
  hypotheses.findIndex((candidate) => hasSameIds(candidate.ids, ids.slice(0, index)));

/** @param {readonly number[]} a @param {readonly number[]} b */
const hasSameIds = (a, b) => a.length === b.length && a.every((id, i) => id === b[i]);

/**
 * @typedef {object} Node  a token in the search tree
 * @property {string} key  all ids up to it
 * @property {string} parent  the parent's key; "" at the root
 * @property {number} step
 * @property {number} row  its row in its step's column, best first
 * @property {number} hypothesis  the hypothesis of its step that it extends
 * @property {{id: number, text: string | null, special?: boolean}} token
 * @property {number} probability  of this token, given what was written before
 * @property {number} logprob  of all tokens up to it
 * @property {number | null} score  null: never ranked
 * @property {Beam["state"]} state
 * @property {boolean} best  whether it is part of the final translation
 * @property {boolean} forced
 */

/**
 * The search tree: the beams of a beam search; otherwise the chosen token of each step and the most
 * probable alternatives.
 * @param {Run} run
 * @param {number} [alternatives]  largest number of alternatives per step
 * @returns {Node[]}  step by step, best first
 */
export function tree(run, alternatives = 3) {
  const final = writtenTokens(run).map(({ id }) => id);
  return run.steps.flatMap((step) => {
    const column = [...step.beams.map((beam) => nodeOf(step, beam)), ...alternativesOf(step, alternatives)];
    return column.map((node, row) => ({
      ...node,
      row,
      step: step.index,
      forced: step.forced,
      best: hasSameIds(node.ids, final.slice(0, step.index + 1)),
      key: node.ids.join(),
      parent: node.ids.slice(0, -1).join(),
    }));
  });
}

/** @param {Step} step @param {Beam} beam */
function nodeOf(step, beam) {
  const before = step.hypotheses[beam.parent];
  const { parent, token, logprob, score, state } = beam;
  const probability = Math.exp(logprob - before.logprob);
  return { ids: path(step, beam), hypothesis: parent, token, probability, logprob, score, state };
}

/** @param {Step} step @param {number} alternatives */
function alternativesOf({ hypotheses, beams }, alternatives) {
  if (hypotheses.length > 1 || beams.length > 1) return [];
  const [{ ids, logprob, candidates }] = hypotheses;
  return candidates
    .filter(({ id }) => id !== beams[0]?.token.id)
    .slice(0, alternatives)
    .map((candidate) => ({
      ids: [...ids, candidate.id],
      hypothesis: 0,
      token: { id: candidate.id, text: candidate.text, special: candidate.special },
      probability: candidate.probability,
      logprob: logprob + candidate.logprob,
      score: null,
      state: /** @type {const} */ ("pruned"),
    }));
}

/**
 * The probability with which each candidate is sampled. Temperature, top-k and top-p keep the
 * `pool` most probable tokens and sample from them by p^(1/T) over its sum, which follows from the
 * probability of the sampled token.
 * @param {Hypothesis} hypothesis
 * @param {Beam | undefined} beam  the sampled token
 * @param {number} temperature
 * @returns {number[] | null}  0: excluded; null: nothing was sampled
 */
export function chances({ candidates, logprob: before }, beam, temperature) {
  const { pool, drawn, logprob = 0 } = beam ?? {};
  if (!pool || !drawn) return null;
  const tokenLogprob = logprob - before;
  return candidates.map((candidate, rank) =>
    rank < pool ? drawn * Math.exp((candidate.logprob - tokenLogprob) / temperature) : 0,
  );
}

/**
 * How the model scores a translation. Perplexity is e to the cross-entropy: the number of equally
 * likely tokens with the same uncertainty per token.
 * @param {number[]} logprobs  of its tokens (nats)
 * @returns {{logprob: number, entropy: number, perplexity: number}}  entropy: cross-entropy in nats
 *   per token
 */
export function measure(logprobs) {
  const logprob = logprobs.reduce((sum, tokenLogprob) => sum + tokenLogprob, 0);
  const entropy = logprobs.length ? -logprob / logprobs.length : NaN;
  return { logprob, entropy, perplexity: Math.exp(entropy) };
}

/**
 * The part of an output that the model wrote itself: of a text, what continues it.
 * @template {{tokens: any[], logprobs: number[], ranks?: number[], score: number, continues?: number}} T
 * @param {T} output
 * @returns {T}  the same if that is all of it
 */
export function ofContinuation(output) {
  const { continues = 0, tokens, logprobs, ranks } = output;
  if (!continues) return output;
  const continuedLogprobs = logprobs.slice(continues);
  const score = measure(continuedLogprobs).logprob / penalty(continuedLogprobs.length, ALPHA);
  return { ...output, tokens: tokens.slice(continues), logprobs: continuedLogprobs, ...(ranks ? { ranks: ranks.slice(continues) } : {}), score, continues: 0 };
}

/** The server's length penalty. */
const ALPHA = 0.6;

/** lp = ((5 + length) / 6)^α (Wu et al. 2016, equation 14). @param {number} length @param {number} alpha */
export const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/**
 * @param {{id: number}[]} a
 * @param {{id: number}[]} b
 * @returns {number}  the index at which two translations diverge; the length of the shorter one if
 *   it is a prefix
 */
export function divergence(a, b) {
  const index = a.findIndex(({ id }, i) => id !== b[i]?.id);
  return index < 0 ? Math.min(a.length, b.length) : index;
}

/**
 * The decoding as far as it is recorded in a trace, if the search cannot be run: one hypothesis per
 * step, with the ten most probable tokens. In traces from before candidates had texts, only tokens
 * of the sentence and its translation have a text.
 * @param {import("../../core/wire/model-description.js").Model} model
 * @param {Trace} trace
 * @returns {Run | null}  null if the trace has no candidates
 */
export function runOfTrace(model, { tokens, output: whole, tensors, pieces = {} }) {
  const [chances, ids] = candidateTensors(model).map((name) => tensors[name]);
  if (!chances || !ids) return null;
  const output = ofContinuation(whole);
  const first = whole.continues ?? 0;
  const tokensById = new Map([...tokens[typedText(model)], ...output.tokens].map((token) => [token.id, token]));
  const count = chances.shape[1];
  let total = 0;
  const steps = output.tokens.map((token, index) => {
    const row = first + index;
    const listed = [...chances.data.subarray(row * count, (row + 1) * count)];
    const candidates = listed.map((probability, rank) => {
      const id = ids.data[row * count + rank];
      const { text = null, special = false } = pieces[id] ?? tokensById.get(id) ?? {};
      return { id, text, special, probability, logprob: Math.log(probability), kept: id === token.id };
    });
    const before = total;
    total += output.logprobs[index];
    const remainder = Math.max(0, 1 - listed.reduce((sum, probability) => sum + probability, 0));
    const hypothesis = {
      ids: output.tokens.slice(0, index).map(({ id }) => id),
      text: "",
      logprob: before,
      score: before,
    };
    const state = index === output.tokens.length - 1 && output.finished ? "finished" : "live";
    const beam = {
      parent: 0,
      token,
      logprob: total,
      score: total,
      state: /** @type {Beam["state"]} */ (state),
    };
    return { index, forced: false, hypotheses: [{ ...hypothesis, candidates, rest: remainder }], beams: [beam] };
  });
  return { start: null, steps, output };
}
