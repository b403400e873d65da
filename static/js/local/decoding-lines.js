/** A decoding in words: what the search reads of the graphs, and the lines of `POST /api/decode`. */

import { scoreOf, topIndices } from "./decoding-search.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { Branch, Hypothesis, Reader, SearchStep } from "./decoding-search.js" */
/** @import { Passes, ReadSource, Tensors } from "./graph-passes.js" */
/** @import { Tokenizer } from "./tokenizer.js" */

/**
 * A source that was read, between two steps.
 * @param {Passes} passes
 * @param {ReadSource} read
 * @param {Change[]} changes
 * @param {{bos: number, never: Set<number>}} ids  never: those that are not written
 * @returns {Reader}
 */
export function stepReader(passes, read, changes, { bos, never }) {
  let next = [bos];
  /** @type {Tensors | null} */
  let past = null;
  return {
    async logprobs(signal) {
      signal?.throwIfAborted();
      past = await passes.write(read, next.map((id) => [id]), past, changes, ["logprobs", ...passes.cache]);
      const { data, dims } = past.logprobs;
      return next.map((_, row) => {
        const logprobs = data.slice(row * dims[2], (row + 1) * dims[2]);
        for (const id of never) logprobs[id] = -Infinity;
        return logprobs;
      });
    },
    append(ids, rows) {
      const isSame = rows.length === next.length && rows.every((row, index) => row === index);
      if (past && !isSame) past = passes.selected(past, rows);
      next = ids;
    },
  };
}

/**
 * @param {Tokenizer} tokenizer
 * @param {number} alpha  of the length penalty
 * @param {number} count  of candidates
 */
export function stepWords(tokenizer, alpha, count) {
  return {
    /** @param {number} index @param {SearchStep} step */
    step: (index, step) => ({
      index,
      forced: step.branches.every(({ forced }) => forced),
      hypotheses: step.read.map((_, row) => hypothesis(step, row)),
      beams: step.branches.map((branch) => beam(step, branch)),
    }),

    /** @param {Hypothesis} written */
    output: (written) => ({ ...tokenizer.written(written.ids), logprobs: written.logprobs, score: scoreOf(written, alpha), finished: written.finished }),
  };

  /** @param {SearchStep} step @param {number} row */
  function hypothesis({ read, logprobs, branches }, row) {
    const { ids, logprob } = read[row];
    const chosen = new Set(branches.filter(({ parent, state }) => parent === row && state !== "pruned").map(({ hypothesis }) => hypothesis.ids.at(-1)));
    const best = topIndices(logprobs[row], count).filter((id) => logprobs[row][id] > -Infinity);
    const candidates = best.map((id) => ({ id, text: tokenizer.token(id, !ids.length).text, logprob: logprobs[row][id], probability: Math.exp(logprobs[row][id]), kept: chosen.has(id) }));
    const restProbability = Math.max(0, 1 - candidates.reduce((sum, { probability }) => sum + probability, 0));
    return { ids, text: tokenizer.written(ids).text, logprob, score: scoreOf(read[row], alpha), candidates, rest: restProbability };
  }

  /** @param {SearchStep} step @param {Branch} branch */
  function beam({ logprobs }, { parent, hypothesis, state, drawn }) {
    const id = /** @type {number} */ (hypothesis.ids.at(-1));
    const { text, special } = tokenizer.token(id, hypothesis.ids.length === 1);
    const rank = 1 + logprobs[parent].reduce((above, logprob) => above + Number(logprob > logprobs[parent][id]), 0);
    return { parent, token: { id, text, special }, logprob: hypothesis.logprob, score: scoreOf(hypothesis, alpha), state, rank, pool: drawn?.pool ?? null, drawn: drawn?.probability ?? null };
  }
}
