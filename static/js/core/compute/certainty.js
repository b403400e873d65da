/**
 * Where a model is unsure of what it wrote: words that are probably wrong, source words that nothing
 * written looks at, and whether the whole is improbable. The thresholds are the model's own, measured
 * on dev sets (`model/measure/certainty.py`).
 */

import { words } from "./alignment.js";

/** @import { TokenReply } from "../wire/schemas.d.ts" */
/** @import { Matrix, Trace } from "../wire/wire.js" */
/** @typedef {NonNullable<import("../wire/model.js").ModelInfo["certainty"]>} Certainty */
/** @typedef {{tokens: number[], probability: number}} DoubtfulWord  indices of its output tokens; the lowest probability of them */
/**
 * @typedef {object} Doubts
 * @property {DoubtfulWord[]} words  in the order of the text
 * @property {number} limit  the largest probability of a doubtful word in this text
 * @property {number[][]} passedOver  the source tokens of each word that nothing written looks at
 * @property {boolean} improbable  whether the whole text is
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
 * @param {Matrix | null} weights  [written token, source token] of the head that aligns best; null: not known
 * @returns {Doubts}
 */
export function doubts(output, source, certainty, weights) {
  const mean = meanProbability(output);
  const limit = certainty.word / mean;
  const written = wordsOf(output.tokens).map((tokens) => ({ tokens, probability: Math.exp(Math.min(...tokens.map((index) => output.logprobs[index]))) }));
  return {
    words: written.filter(({ probability }) => probability <= limit),
    limit,
    passedOver: weights && written.length ? passedOver(output.tokens, source, certainty, weights) : [],
    improbable: written.length > 0 && mean <= certainty.text,
  };
}

/** A word of fewer letters, such as "on", is not missed; Chinese characters are counted together. */
const MISSED = 3;

/** The tokens of each word that has a letter or a digit. @param {TokenReply[]} tokens */
const wordsOf = (tokens) => words(tokens).filter((group) => !tokens[group[0]].special && WORD.test(spelling(tokens, group)));

/** @param {TokenReply[]} tokens @param {number[]} group */
const spelling = (tokens, group) => group.map((index) => tokens[index].text).join("").trim();

/**
 * A Chinese character has a meaning of its own only sometimes: it counts if the next one is passed over too.
 * @param {TokenReply[]} written
 * @param {TokenReply[]} source
 * @param {Certainty} certainty
 * @param {Matrix} weights
 * @returns {number[][]}
 */
function passedOver(written, source, certainty, { rows, cols, values }) {
  const usual = new Set(certainty.passed_over);
  const writingRows = written.flatMap(({ special }, row) => (special || row >= rows ? [] : [row]));
  const largest = (/** @type {number[]} */ group) =>
    Math.max(0, ...writingRows.map((row) => group.reduce((sum, key) => sum + (values[row * cols + key] || 0), 0)));
  /** @type {number[][]} */
  const groups = [];
  let isAfterCharacter = false;
  for (const group of wordsOf(source)) {
    const word = spelling(source, group);
    const isPassed = largest(group) < certainty.source;
    if (!isPassed || usual.has(word.toLowerCase()) || (!HAN.test(word) && word.length < MISSED)) {
      isAfterCharacter = false;
    } else if (!HAN.test(word)) {
      groups.push(group);
      isAfterCharacter = false;
    } else {
      const before = groups[groups.length - 1];
      if (isAfterCharacter && before && source[before[before.length - 1]].end === source[group[0]].start) before.push(...group);
      else groups.push([...group]);
      isAfterCharacter = true;
    }
  }
  return groups.filter((group) => !HAN.test(spelling(source, group)));
}
