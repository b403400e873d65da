/**
 * Greedy decoding, sampling and beam search as steps, as the server takes them (model/decode): each
 * step extends the open hypotheses by one token. Then the decoding in words.
 */

import { createRandom } from "./random-numbers.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { Passes, ReadSource, Tensors } from "./graph-passes.js" */
/** @import { Random } from "./random-numbers.js" */
/** @import { Tokenizer } from "./tokenizer.js" */

/** @typedef {{ids: number[], logprobs: number[], logprob: number, finished: boolean}} Hypothesis  what is written so far; `logprob` is the sum */
/** @typedef {{pool: number, probability: number}} Drawn  from how many tokens, and with which probability among these */
/** @typedef {{parent: number, hypothesis: Hypothesis, state: "live" | "finished" | "pruned", forced: boolean, drawn: Drawn | null}} Branch */
/**
 * The hypotheses before a step, the log-probabilities of what follows each (control tokens −∞), and
 * the results: live branches best first, then finished, then pruned; `written` best first.
 * @typedef {{read: Hypothesis[], logprobs: Float32Array[], branches: Branch[], written: Hypothesis[]}} SearchStep
 */
/**
 * @typedef {object} DecodePlan  as the API takes it
 * @property {"greedy" | "beam" | "sample"} method
 * @property {number} beam
 * @property {number} length_penalty
 * @property {number} max_tokens
 * @property {number} temperature
 * @property {number | null} top_k
 * @property {number} top_p
 * @property {number} seed
 * @property {number[]} prefix
 */
/**
 * @typedef {object} Reader  a model between two steps
 * @property {(signal?: AbortSignal) => Promise<Float32Array[]>} logprobs  of the next token, for each row
 * @property {(ids: number[], rows: number[]) => void} append  row i becomes a copy of row rows[i], and reads ids[i]
 */

/** What the API fills in. @type {Omit<DecodePlan, "max_tokens">} */
export const DECODE = { method: "greedy", beam: 4, length_penalty: 0.6, temperature: 1, top_k: null, top_p: 1, seed: 0, prefix: [] };

/** @param {number} length @param {number} alpha */
const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** @param {Pick<Hypothesis, "ids" | "logprob">} hypothesis @param {number} alpha */
export const scoreOf = ({ ids, logprob }, alpha) => logprob / penalty(ids.length, alpha);

/** @returns {Hypothesis} */
const empty = () => ({ ids: [], logprobs: [], logprob: 0, finished: false });

/** @param {Hypothesis} hypothesis @param {number} id @param {number} logprob @param {number} end @returns {Hypothesis} */
const extended = ({ ids, logprobs, logprob: sum }, id, logprob, end) => ({ ids: [...ids, id], logprobs: [...logprobs, logprob], logprob: sum + logprob, finished: id === end });

/**
 * @param {Reader} reader
 * @param {DecodePlan} plan
 * @param {number} end  the id that ends a text
 * @param {AbortSignal} [signal]
 */
export const searchSteps = (reader, plan, end, signal) => (plan.method === "beam" ? beamSteps(reader, plan, end, signal) : singleSteps(reader, plan, end, signal));

/**
 * Greedy decoding or sampling. Random numbers are also drawn for the prefix.
 * @param {Reader} reader
 * @param {DecodePlan} plan
 * @param {number} end
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<SearchStep, void, void>}
 */
async function* singleSteps(reader, plan, end, signal) {
  const random = plan.method === "sample" ? createRandom(plan.seed) : null;
  let hypothesis = empty();
  while (!hypothesis.finished && hypothesis.ids.length < plan.max_tokens) {
    const [logprobs] = await reader.logprobs(signal);
    const forced = hypothesis.ids.length < plan.prefix.length;
    const drawn = random ? draw(narrowed(logprobs, plan), random) : null;
    const id = forced ? plan.prefix[hypothesis.ids.length] : (drawn?.id ?? largest(logprobs));
    const before = hypothesis;
    hypothesis = extended(hypothesis, id, logprobs[id], end);
    const state = hypothesis.finished ? "finished" : "live";
    yield { read: [before], logprobs: [logprobs], branches: [{ parent: 0, hypothesis, state, forced, drawn: forced ? null : drawn }], written: [hypothesis] };
    reader.append([id], [0]);
  }
}

/** The index of the largest number. @param {Float32Array} numbers */
function largest(numbers) {
  let best = 0;
  for (let index = 1; index < numbers.length; index++) if (numbers[index] > numbers[best]) best = index;
  return best;
}

/**
 * The probabilities to sample from, after temperature, top-k and top-p, in this order.
 * @param {Float32Array} logprobs
 * @param {Pick<DecodePlan, "temperature" | "top_k" | "top_p">} plan
 */
function narrowed(logprobs, { temperature, top_k: topK, top_p: topP }) {
  const cooled = softmax(logprobs.map((logprob) => logprob / temperature));
  if (topK === null && topP === 1) return cooled;
  const order = topIndices(cooled, topK ?? cooled.length);
  const total = order.reduce((sum, id) => sum + cooled[id], 0);
  const pool = new Float32Array(cooled.length);
  let before = 0;
  order.forEach((id, index) => {
    if (index === 0 || before / total < topP) pool[id] = cooled[id];
    before += cooled[id];
  });
  const poolProbability = pool.reduce((sum, probability) => sum + probability, 0);
  return pool.map((probability) => probability / poolProbability);
}

/** @param {Float32Array} logits */
function softmax(logits) {
  const max = logits[largest(logits)];
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - max);
  return logits.map((logit) => Math.exp(logit - max) / sum);
}

/**
 * Sample one, as torch.multinomial does: the largest of probability / exponential number.
 * @param {Float32Array} pool
 * @param {Random} random
 */
function draw(pool, random) {
  const ratios = pool.map((probability) => probability / random.exponential());
  const id = largest(ratios);
  return { id, pool: pool.reduce((count, probability) => count + Number(probability > 0), 0), probability: pool[id] };
}

/** The indices of the largest numbers, largest first. @param {Float32Array} numbers @param {number} count */
export function topIndices(numbers, count) {
  if (count >= numbers.length) return Array.from(numbers.keys()).sort((a, b) => numbers[b] - numbers[a] || a - b);
  /** @type {number[]} */
  const best = [];
  for (let index = 0; index < numbers.length; index++) {
    if (best.length === count && numbers[index] <= numbers[best[count - 1]]) continue;
    let place = best.length;
    while (place > 0 && numbers[best[place - 1]] < numbers[index]) place--;
    best.splice(place, 0, index);
    if (best.length > count) best.pop();
  }
  return best;
}

/**
 * Beam search (model/decode/beam_search.py): it ends when no open hypothesis can still beat the best
 * finished one.
 * @param {Reader} reader
 * @param {DecodePlan} plan
 * @param {number} end
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<SearchStep, void, void>}
 */
async function* beamSteps(reader, { beam: width, length_penalty: alpha, max_tokens: limit, prefix }, end, signal) {
  const score = (/** @type {Hypothesis} */ hypothesis) => scoreOf(hypothesis, alpha);
  let open = [empty()];
  /** @type {Hypothesis[]} */
  let finished = [];
  for (let length = 1; open.length; length++) {
    const logprobs = await reader.logprobs(signal);
    const read = open;
    const extensions = length <= prefix.length ? [{ row: 0, id: prefix[length - 1] }] : bestExtensions(read, logprobs, 2 * width);
    /** @type {Branch[]} */
    const tried = extensions.map(({ row, id }) => ({ parent: row, hypothesis: extended(read[row], id, logprobs[row][id], end), state: "live", forced: length <= prefix.length, drawn: null }));
    const ended = tried.filter(({ hypothesis }) => hypothesis.finished);
    finished = [...finished, ...ended.map(({ hypothesis }) => hypothesis)].sort((a, b) => score(b) - score(a)).slice(0, width);
    const branches = judged(tried, width, finished);
    const live = branches.filter(({ state }) => state === "live");
    open = live.map(({ hypothesis }) => hypothesis);
    yield { read, logprobs, branches, written: finished.length ? finished : open };
    const isSettled = length === limit || (finished.length > 0 && open.length > 0 && score(finished[0]) >= open[0].logprob / penalty(limit, alpha));
    if (isSettled) return;
    reader.append(open.map(({ ids }) => /** @type {number} */ (ids.at(-1))), live.map(({ parent }) => parent));
  }
}

/**
 * The most probable extensions of all hypotheses, best first.
 * @param {Hypothesis[]} open
 * @param {Float32Array[]} logprobs
 * @param {number} count
 */
function bestExtensions(open, logprobs, count) {
  const all = open.flatMap(({ logprob: sum }, row) => topIndices(logprobs[row], count).filter((id) => logprobs[row][id] > -Infinity).map((id) => ({ row, id, total: sum + logprobs[row][id] })));
  return all.sort((a, b) => b.total - a.total).slice(0, count);
}

/**
 * @param {Branch[]} branches
 * @param {number} width
 * @param {Hypothesis[]} finished
 * @returns {Branch[]}  with their states: live ones best first, then finished, then pruned
 */
function judged(branches, width, finished) {
  const going = branches.filter(({ hypothesis }) => !hypothesis.finished);
  const ended = branches.filter(({ hypothesis }) => hypothesis.finished);
  const isKept = (/** @type {Branch} */ { hypothesis }) => finished.includes(hypothesis);
  const inOrder = ended.filter(isKept).sort((a, b) => finished.indexOf(a.hypothesis) - finished.indexOf(b.hypothesis));
  const lost = [...going.slice(width), ...ended.filter((branch) => !isKept(branch))];
  return [...going.slice(0, width), ...inOrder.map((branch) => ({ ...branch, state: /** @type {const} */ ("finished") })), ...lost.map((branch) => ({ ...branch, state: /** @type {const} */ ("pruned") }))];
}

// A decoding in words: what the search reads of the graphs, and the lines of `POST /api/decode`.

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
