/**
 * Where the model of a page is unsure of what it wrote: words that are probably wrong, source words
 * that nothing written looks at, and whether the whole is improbable. The thresholds are the model's
 * own, measured on dev sets (`model/measure/certainty.py`).
 */

import { memo, together } from "../../lib/memo.js";
import { attention, crossBlock, place, typedText } from "../wire/model-description.js";
import { isLong } from "../wire/long-texts.js";
import { runKind } from "./runs-with-and-without-changes.js";
import { spelled, words } from "../compute/alignment.js";

/** @import { Page } from "./store.js" */
/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Matrix, Trace } from "../wire/safetensors.js" */

/** @typedef {NonNullable<import("../wire/model-description.js").ModelInfo["certainty"]>} Certainty */
/** @typedef {{tokens: number[], probability: number}} DoubtfulWord  indices of its output tokens; the lowest probability of them */
/**
 * @typedef {object} Doubts
 * @property {DoubtfulWord[]} words  in the order of the text
 * @property {number} limit  the largest probability of a doubtful word in this text
 * @property {number[][]} passedOver  the source tokens of each word that nothing written looks at
 * @property {boolean} improbable  whether the whole text is
 * @property {{words: number, pieces: number} | null} unlike  how the source is cut, if that is more finely than the texts of training
 */

const WORD = /[\p{L}\p{N}]/u;
const HAN = /^\p{Script=Han}$/u;

/**
 * @param {Trace["output"]} output
 * @returns {number}  the geometric mean of its tokens' probabilities
 */
export const meanProbability = ({ logprobs }) => Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0) / Math.max(1, logprobs.length));

/**
 * @param {Trace["output"]} output
 * @param {TokenReply[]} source  the tokens that were read
 * @param {Certainty} certainty
 * @param {Matrix | null} weights  [row, source token] of the head that aligns best; null: not known
 * @param {{direction?: string, rows?: "writes" | "reads"}} [how]  which of the rows belong to a written token: the one
 *   that writes it, or the next, which reads it
 * @returns {Doubts}
 */
export function doubts(output, source, certainty, weights, { direction = "", rows = "writes" } = {}) {
  const mean = meanProbability(output);
  const limit = certainty.word / mean;
  const cuts = wordCuts(source);
  const written = wordsOf(output.tokens).map((tokens) => ({ tokens, probability: Math.exp(Math.min(...tokens.map((index) => output.logprobs[index]))) }));
  return {
    words: written.filter(({ probability }) => probability <= limit),
    limit,
    passedOver: weights && written.length ? passedOver(output.tokens, source, certainty, weights, rows === "reads" ? 1 : 0) : [],
    improbable: written.length > 0 && mean <= certainty.text,
    unlike: cuts.share > (certainty.unlike?.[direction] ?? Infinity) ? cuts : null,
  };
}

/** A word of fewer letters, such as "on", is not missed; Chinese characters are counted together. */
const MISSED = 3;

/** The tokens of each word that has a letter or a digit. @param {TokenReply[]} tokens */
const wordsOf = (tokens) => words(tokens).filter((group) => !tokens[group[0]].special && WORD.test(spelling(tokens, group)));

/** @param {TokenReply[]} tokens @param {number[]} group */
const spelling = (tokens, group) => spelled(tokens, group).trim();

/**
 * How finely the words of a text are cut: a word that training never met is cut almost into its letters. A word of n
 * letters can be cut at n − 1 places, but at least at one; the bytes of a character are cuts as well.
 * @param {TokenReply[]} tokens
 * @returns {{words: number, pieces: number, share: number}}  share: of the places that are cut; 0 without a word
 */
export function wordCuts(tokens) {
  const groups = wordsOf(tokens);
  const pieces = groups.reduce((sum, group) => sum + group.length, 0);
  const places = groups.reduce((sum, group) => sum + Math.max([...spelling(tokens, group)].length - 1, group.length - 1, 1), 0);
  return { words: groups.length, pieces, share: places ? (pieces - groups.length) / places : 0 };
}

/** The tokens of the word that is cut into most pieces: probably the rarest. @param {TokenReply[]} tokens @returns {number[] | null}  null: none is cut */
export function mostCut(tokens) {
  const [first = []] = wordsOf(tokens).sort((a, b) => b.length - a.length);
  return first.length > 1 ? first : null;
}

/**
 * A Chinese character has a meaning of its own only sometimes: neighbours that are passed over are one word, which
 * counts from two characters on that are not usual.
 * @param {TokenReply[]} written
 * @param {TokenReply[]} source
 * @param {Certainty} certainty
 * @param {Matrix} weights
 * @param {number} shift  from a written token to its row
 * @returns {number[][]}
 */
function passedOver(written, source, certainty, { rows, cols, values }, shift) {
  const usual = new Set(certainty.passed_over);
  const writingRows = written.flatMap(({ special }, index) => (special || index + shift >= rows ? [] : [index + shift]));
  const largest = (/** @type {number[]} */ group) =>
    Math.max(0, ...writingRows.map((row) => group.reduce((sum, key) => sum + (values[row * cols + key] || 0), 0)));
  /** @type {{group: number[], isHan: boolean, missed: number}[]} */
  const groups = [];
  for (const group of wordsOf(source)) {
    if (largest(group) >= (certainty.source ?? 0)) continue;
    const word = spelling(source, group);
    const isHan = HAN.test(word);
    const missed = Number(!usual.has(word.toLowerCase()) && (isHan || word.length >= MISSED));
    const before = groups[groups.length - 1];
    if (isHan && before?.isHan && before.group[before.group.length - 1] === group[0] - 1) {
      before.group.push(...group);
      before.missed += missed;
    } else {
      groups.push({ group: [...group], isHan, missed });
    }
  }
  return groups.filter(({ isHan, missed }) => missed >= (isHan ? 2 : 1)).map(({ group }) => group);
}

/** The head with which it was measured what is passed over. @param {Page["model"]} model */
function aligner(model) {
  if (!model?.certainty?.source) return null;
  const best = model.certainty.aligner ?? model.aligners?.find(({ rows }) => rows === "writes");
  return best ? { block: crossBlock(model).id, layer: best.layer, head: best.head, rows: best.rows } : null;
}

/** The weights that tell at which source words the translation looks. @param {Page["model"]} model @returns {string[]} */
export function certaintyNeeds(model) {
  const head = aligner(model);
  return head ? [place(model, head, "weights")] : [];
}

/**
 * What was measured holds for what the model as trained writes itself.
 * @param {Pick<Page, "model" | "trace" | "link">} page
 * @returns {Doubts | null}  null: not known
 */
export function doubtsOf({ model, trace, link }) {
  if (!model?.certainty || !trace || isLong(trace) || link.target !== null || runKind(link) === "changed") return null;
  const { certainty } = model;
  const head = aligner(model);
  const weights = head && attention(model, trace, head);
  return memo(together(trace, model), `doubts ${weights !== null}`, () => doubts(trace.output, trace.tokens[typedText(model)] ?? [], certainty, weights, { direction: trace.direction ?? "", rows: head?.rows }));
}

/** The doubtful word to which an output token belongs. @param {Doubts | null} doubts @param {number} token */
export const doubtfulWord = (doubts, token) => doubts?.words.find(({ tokens }) => tokens.includes(token)) ?? null;
