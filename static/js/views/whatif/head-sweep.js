/**
 * A sweep: every head, or every other part of a kind, is changed separately, with its effect on each
 * written token.
 */

import { tensor } from "../../core/compute/computed-tensors.js";
import { blocks } from "../../core/wire/model-description.js";
import { createAsker } from "../../core/wire/connection.js";
import { Problem } from "../../core/wire/reply.js";

/** @import { ModelInfo } from "../../core/wire/model-description.js" */
/** @import { TokenReply } from "../../core/wire/schemas.d.ts" */

/** @typedef {{id: number, text: string, special: boolean}} Piece  a token of the vocabulary */
/**
 * @typedef {object} Effect  of one change, for each row
 * @property {number[]} delta  change of the token's log-probability, in nats
 * @property {number[]} divergence  nats
 * @property {number[]} contrast  change of log p(written) / p(against), in nats
 * @property {(number | null)[] | null} recovered  of a patch, the share of the difference between
 *   both runs; null if they hardly differ
 * @property {number[] | null} [interaction]  of a pair of heads: delta minus those of both alone
 */
/** @typedef {{tokens: Record<string, TokenReply[]>, contrast: (number | null)[], rows: Record<string, [number, number][]>}} SourceRun  the run that patches are taken from; null: a row has no counterpart there */
/**
 * @typedef {object} Sweep
 * @property {number} total  changes
 * @property {number} done
 * @property {number[]} logprobs  of each row's token in the original run
 * @property {Piece[]} against  the token that each row's is contrasted with
 * @property {number[]} contrast  log p(written) / p(against), in nats
 * @property {Piece[][]} candidates  other tokens that each row's can be contrasted with
 * @property {SourceRun | null} source
 * @property {Record<string, Effect>} effects  by `nameOf`
 */
/** @typedef {{block: string, place: string, layer: number, heads: number}} Line  a layer's heads */

/** The attention whose heads are patched. @param {string} place  an attention, or the mix of its heads */
const attentionOf = (place) => place.replace(/\.mix$/, "");

/**
 * The name of what is changed.
 * @param {string} place  an attention, such as "encoder.1.self"; for a patch, a tensor
 * @param {number | null} [index]  of the head, or of the token
 */
export const nameOf = (place, index = null) => [attentionOf(place), ...(index === null ? [] : [index])].join(" ");

/** The name of a pair of heads: "encoder.1.self 2 + encoder.1.self 5". @param {string} first @param {string} second */
export const pairName = (first, second) => `${first} + ${second}`;

/** @param {any} start  the stream's first line @returns {Sweep} */
export const startedSweep = ({ changes, logprobs, against, contrast, candidates, other: source = null }) =>
  ({ total: changes, done: 0, logprobs, against, contrast, candidates, source, effects: {} });

/**
 * @param {Sweep} sweep
 * @param {{changes: (Effect & {at: string, head: number | null, token?: number | null, also?: {at: string, head: number} | null})[], done: number}} line  a
 *   later line of the stream
 * @returns {Sweep}
 */
export function withChanges(sweep, { changes, done }) {
  const news = changes.map(({ at: place, head, token = null, also = null, delta, divergence, contrast, recovered = null, interaction = null }) => {
    const name = nameOf(place, head ?? token);
    return [also ? pairName(name, nameOf(also.at, also.head)) : name, { delta, divergence, contrast, recovered, ...(also ? { interaction } : {}) }];
  });
  return { ...sweep, done, effects: { ...sweep.effects, ...Object.fromEntries(news) } };
}

/**
 * @param {number[]} values  of each row
 * @param {number[]} rows  over which it is summed
 */
export const sumOver = (values, rows) => rows.reduce((sum, row) => sum + (values[row] ?? 0), 0);

/**
 * @param {Sweep} sweep
 * @param {(effect: Effect) => number | null} read
 * @returns {number}  the largest absolute value
 */
export function largestEffect({ effects }, read) {
  return Math.max(0, ...Object.values(effects).map((effect) => Math.abs(read(effect) ?? 0)));
}

/**
 * The row in which the two runs of a patch differ most.
 * @param {Sweep} sweep
 * @param {number[]} rows  to choose from
 */
export function mostDifferent({ contrast, source }, rows) {
  const differs = (/** @type {number} */ row) => Math.abs((source?.contrast[row] ?? contrast[row]) - contrast[row]);
  return rows.reduce((best, row) => (differs(row) > differs(best) ? row : best), rows[0]);
}

/**
 * @param {Sweep} sweep
 * @param {number[]} rows
 * @param {number} [count]
 * @returns {{place: string, head: number | null, delta: number}[]}  those that matter most, first the one
 *   without which the token is least likely
 */
export function strongest({ effects }, rows, count = 3) {
  const single = Object.entries(effects).filter(([, { interaction }]) => !interaction);
  const all = single.map(([name, { delta }]) => {
    const [place, head] = name.split(" ");
    return { place, head: head === undefined ? null : Number(head), delta: sumOver(delta, rows) };
  });
  return all.sort((a, b) => a.delta - b.delta).slice(0, count);
}

/**
 * @param {Sweep} sweep
 * @param {number[]} rows
 * @returns {{place: string, heads: [number, number], delta: number, interaction: number}[]}  pairs of heads of one
 *   attention, first the one that costs most beyond the sum of both alone
 */
export function substitutingPairs({ effects }, rows) {
  const pairs = Object.entries(effects).flatMap(([name, { delta, interaction }]) => {
    if (!interaction) return [];
    const [[place, first], [, second]] = name.split(" + ").map((head) => head.split(" "));
    return [{ place, heads: /** @type {[number, number]} */ ([Number(first), Number(second)]), delta: sumOver(delta, rows), interaction: sumOver(interaction, rows) }];
  });
  return pairs.sort((a, b) => a.interaction - b.interaction);
}

/** @param {ModelInfo} model @returns {Line[]}  as the map shows them: a row a layer */
export function layerLines(model) {
  return blocks(model).flatMap(({ id, rows }) =>
    rows.map(({ place, heads }, layer) => ({ block: id, place, layer, heads })),
  );
}

/**
 * @param {Sweep} sweep
 * @param {ModelInfo} model
 * @returns {Record<string, import("../../core/wire/safetensors.js").Tensor>}  such as
 *   "encoder.0.self.delta" (head, query); a query is a written token; NaN for a head not tried yet
 */
export function headTensors({ effects, logprobs }, model) {
  const untried = logprobs.map(() => NaN);
  const entries = layerLines(model).flatMap(({ place, heads: count }) =>
    /** @type {const} */ (["delta", "divergence"]).map((measure) => {
      const values = Array.from({ length: count }, (_, head) => effects[nameOf(place, head)]?.[measure] ?? untried);
      return [`${place}.${measure}`, tensor({ head: null, query: "written" }, [count, logprobs.length], values.flat())];
    }),
  );
  return { logprobs: tensor({ query: "written" }, [logprobs.length], logprobs), ...Object.fromEntries(entries) };
}

/**
 * @param {Sweep} sweep  over sublayers, or over pairs of heads
 * @returns {Record<string, import("../../core/wire/safetensors.js").Tensor>}  such as
 *   "decoder.2.ffn.output.delta" (query) or "decoder.2.cross 2 + decoder.2.cross 6.interaction" (query)
 */
export function partTensors({ effects, logprobs }) {
  const row = (/** @type {number[]} */ values) => tensor({ query: "written" }, [logprobs.length], values);
  const entries = Object.entries(effects).flatMap(([name, { delta, divergence, interaction }]) =>
    Object.entries({ delta, divergence, ...(interaction ? { interaction } : {}) }).map(([measure, values]) => [`${name}.${measure}`, row(values)]),
  );
  return { logprobs: row(logprobs), ...Object.fromEntries(entries) };
}

/**
 * @param {Sweep} sweep  of patches
 * @returns {Record<string, import("../../core/wire/safetensors.js").Tensor>}  such as
 *   "decoder.2.cross.recovered" (query), and for each head or token
 *   "decoder.2.cross.each.recovered" (index, query);
 *   NaN if both runs hardly differ, and for what is not tried
 */
export function recoveredTensors({ effects, contrast, source }) {
  const none = contrast.map(() => NaN);
  /** @type {Record<string, number[][]>} */
  const several = {};
  /** @type {Record<string, import("../../core/wire/safetensors.js").Tensor>} */
  const named = {
    contrast: tensor({ query: "written" }, [contrast.length], contrast),
    "other.contrast": tensor({ query: "written" }, [contrast.length], source?.contrast.map((odds) => odds ?? NaN) ?? none),
  };
  for (const [name, { recovered }] of Object.entries(effects)) {
    const [place, index] = name.split(" ");
    const values = (recovered ?? none).map((share) => share ?? NaN);
    if (index === undefined) named[`${place}.recovered`] = tensor({ query: "written" }, [values.length], values);
    else (several[place] ??= [])[Number(index)] = values;
  }
  for (const [place, rows] of Object.entries(several))
    named[`${place}.each.recovered`] = tensor({ index: null, query: "written" }, [rows.length, contrast.length], Array.from(rows, (row) => row ?? none).flat());
  return named;
}

/**
 * The columns of two aligned texts: pairs, and tokens that only one of them has.
 * @param {number} theirs  number of tokens
 * @param {number} ours
 * @param {[number, number][]} rows  pairs in order
 * @returns {{theirs: number | null, ours: number | null}[]}
 */
export function alignedColumns(theirs, ours, rows) {
  /** @type {{theirs: number | null, ours: number | null}[]} */
  const columns = [];
  let [i, j] = [0, 0];
  for (const [a, b] of [...rows, [theirs, ours]]) {
    while (i < a) columns.push({ theirs: i++, ours: null });
    while (j < b) columns.push({ theirs: null, ours: j++ });
    if (a < theirs && b < ours) columns.push({ theirs: i++, ours: j++ });
  }
  return columns;
}

/**
 * @param {Sweep} sweep
 * @param {number} elapsed  milliseconds
 * @returns {number}  estimated milliseconds left
 */
export function remainingTime({ done, total }, elapsed) {
  return done ? (elapsed / done) * (total - done) : Infinity;
}

// Stream one causal sweep at a time; complete sweeps are cached while the page is open.

/**
 * @typedef {object} State
 * @property {string} key  of the request
 * @property {Sweep | null} sweep  the results so far
 * @property {Problem | null} problem
 * @property {boolean} running
 * @property {number} since  start time, in milliseconds of the page's clock
 */

/** @type {Map<string, Sweep>} */
const cache = new Map();
/** The number of cached sweeps. */
const KEPT = 32;

/**
 * @param {Pick<import("../../core/store/data-sources.js").Source, "lines">} source
 * @param {() => void} show  called for every new result
 */
export function sweeper(source, show) {
  /** @type {State} */
  let state = { key: "", sweep: null, problem: null, running: false, since: 0 };
  const asker = createAsker();

  /** @param {object} body @param {AbortSignal} signal */
  async function follow(body, signal) {
    state = { ...state, problem: null, running: true };
    show();
    for await (const line of source.lines("/api/sweep", body, signal)) {
      if (signal.aborted) break;
      if (line.start) state.sweep = startedSweep(line.start);
      else if (line.changes && state.sweep) state.sweep = withChanges(state.sweep, line);
      show();
    }
    const { sweep } = state;
    if (!sweep || sweep.done < sweep.total) throw new Problem("offline");
    return sweep;
  }

  const sweeper = {
    state: () => state,
    /** Stop; the results so far stay. */
    stop() {
      asker.stop();
      state = { ...state, running: false };
    },

    /**
     * @param {object} body  as the API takes it
     * @param {boolean} [anew]  also if it equals the last request
     */
    async ask(body, anew = false) {
      const key = JSON.stringify(body);
      if (key === state.key && !anew) return;
      asker.stop();
      const cached = cache.get(key) ?? null;
      state = { key, sweep: cached, problem: null, running: false, since: performance.now() };
      if (cached) return show();
      const fails = (/** @type {Problem} */ problem) => {
        state = { ...state, running: false, problem };
        show();
      };
      const reply = await asker.ask((signal) => follow(body, signal), fails);
      if (reply === null) return;
      if (reply instanceof Problem) return fails(reply);
      addToCache(key, reply);
      state = { ...state, running: false };
      show();
    },
  };
  return sweeper;
}

/** @param {string} key @param {Sweep} sweep  a whole one */
function addToCache(key, sweep) {
  if (cache.size >= KEPT) cache.delete(String([...cache.keys()][0]));
  cache.set(key, sweep);
}
