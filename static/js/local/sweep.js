/**
 * Which parts matter: each is changed once, and what was written is scored again, with the numbers of
 * the server (model/adapters/sweep.py): the change of each token's log-probability, the divergence of
 * what could follow, and the contrast with the second choice.
 */

import { Problem } from "../core/wire/reply.js";
import { topIndices } from "./decoding.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { Passes } from "./graph-passes.js" */
/** @import { LocalModel, ScoredRun, TraceRequest } from "./local-run.js" */
/** @import { Tokenizer } from "./tokenizer.js" */

/** @typedef {TraceRequest & {effect?: string | object, over?: string, among?: string[] | null, against?: number | null, row?: number | null}} SweepRequest */
/** @typedef {{change: Change, second: Change | null, token?: number | null}} Part  one change of the sweep; of a pair, also the second head; of a patch of one row, our row */
/**
 * @typedef {object} SweepModel
 * @property {(request: TraceRequest, names: string[], signal?: AbortSignal) => Promise<ScoredRun>} scoredRun
 * @property {Passes} passes
 * @property {GraphOutput[]} outputs
 * @property {Pick<LocalModel, "id" | "heads">} model
 * @property {Tokenizer["token"]} token
 */

const ABLATED = ["zero", "uniform", "mean"];
const ATTENTION = /^(encoder|decoder)\.\d+\.(self|cross)$/;
const OF_ENCODER = /^(source|encoder)\./;
const MAX_PAIRS = 3000;
/** Candidates for the token that a written one is contrasted with. */
const CANDIDATES = 5;
/** Nats: if the contrasts of two runs differ less, there is nothing to recover. */
const LEAST_DIFFERENCE = 0.01;
/** Changes of one line. */
const TOGETHER = 8;

/**
 * @param {SweepModel} local
 * @param {SweepRequest} request
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<any, void, void>}
 */
export async function* sweepLines(local, { effect = "zero", over = "heads", among = null, against = null, row = null, ...request }, signal) {
  const { outputs, model, token } = local;
  const patch = typeof effect === "string" ? null : /** @type {{patch: any}} */ (effect).patch;
  const ablated = patch ? [] : ablations(outputs, model.heads, { effect: String(effect), over, among });
  const patched = patch ? patchedTensorsOf(outputs, model.heads, over, patch) : [];
  const base = await local.scoredRun(request, [], signal);
  const { direction, source, target, output } = base;
  if (row !== null && row >= base.ids.length) throw new Problem("out-of-range", { field: "row", detail: `row must be from 0 to ${base.ids.length - 1}` });
  const rows = row === null ? [...base.ids.keys()] : [row];
  const donorRun = patch ? await readDonor(local, base, patch, patched, rows, signal) : null;
  const measure = createMeasure(base, rows, against, donorRun?.donor ?? null);
  const parts = donorRun ? patchesOf(patched, donorRun.donor, donorRun.pairs, over === "positions") : ablated;
  const piece = (/** @type {number} */ id) => ({ id, text: token(id).text, special: token(id).special });
  const donorFields = donorRun && { tokens: { source: donorRun.donor.source, target: donorRun.donor.target }, contrast: measure.theirContrast, rows: donorRun.pairs };
  yield { start: { model: model.id, direction, tokens: { source, target }, changes: parts.length, output, logprobs: rows.map((index) => output.logprobs[index]), against: measure.against.map(piece), contrast: measure.contrast, candidates: measure.candidates.map((ids) => ids.map(piece)), ...(donorFields && { other: donorFields }) } };
  /** The effects of single heads, for pairs. @type {Map<Change, number[]>} */
  const alone = new Map();
  for (let done = 0; done < parts.length; done += TOGETHER) {
    const changes = [];
    for (const { change, second, token = null } of parts.slice(done, done + TOGETHER)) {
      const effects = measure.effects(await changedLogprobs(local.passes, base, [change, ...(second ? [second] : [])], signal));
      if (!second) alone.set(change, effects.delta);
      const interaction = second ? effects.delta.map((delta, index) => delta - (alone.get(change)?.[index] ?? 0) - (alone.get(second)?.[index] ?? 0)) : null;
      changes.push({ at: change.at, head: change.head ?? null, ...effects, token, also: second && { at: second.at, head: second.head ?? null }, interaction });
    }
    yield { changes, done: Math.min(parts.length, done + TOGETHER) };
  }
  yield { end: {} };
}

/**
 * @param {Passes} passes
 * @param {ScoredRun} base
 * @param {Change[]} added  to the changes of the base
 * @param {AbortSignal} [signal]
 * @returns {Promise<Float32Array>}  of all rows
 */
async function changedLogprobs(passes, base, added, signal) {
  signal?.throwIfAborted();
  const changes = [...base.changes, ...added];
  const read = added.some(({ at: place }) => OF_ENCODER.test(place)) ? await passes.read(base.read.ids, changes, []) : base.read;
  const { logprobs } = await passes.write(read, [base.target.map(({ id }) => id)], null, changes, ["logprobs"]);
  return logprobs.data;
}

/** @param {GraphOutput[]} outputs @param {Record<string, number>} heads @param {string} over @param {any} patch */
function patchedTensorsOf(outputs, heads, over, patch) {
  if (over === "pairs") throw new Problem("unknown-value", { field: "over", detail: "over: a patch is not made in pairs" });
  if (patch.to) throw new Problem("unsupported", { field: "effect.patch.to", detail: "effect.patch.to: the effect along one path needs a server" });
  return patchedTensors(outputs, heads, over);
}

/**
 * The run that patches are taken from, and which rows correspond; without a target it reads what the
 * base writes.
 * @param {SweepModel} local
 * @param {ScoredRun} base
 * @param {any} patch
 * @param {Patched[]} patched
 * @param {number[]} rows
 * @param {AbortSignal} [signal]
 */
async function readDonor({ scoredRun }, base, { source, direction, target, decode, rows: sourcePairs }, patched, rows, signal) {
  const written = { decode: { ...base.plan, prefix: base.ids, max_tokens: base.ids.length } };
  const sentence = { source, ...(direction && { direction }), ...(target === undefined || target === null ? written : { target, decode }) };
  const donor = await scoredRun(sentence, patched.map(({ name }) => name), signal);
  const last = Math.max(...rows);
  if (donor.ids.length <= last) throw new Problem("does-not-fit", { field: "effect.patch", detail: `effect.patch: the other run writes ${donor.ids.length} tokens; ${last + 1} are compared` });
  const ids = (/** @type {ScoredRun} */ run) => ({ source: run.source.map(({ id }) => id), target: run.target.map(({ id }) => id) });
  const [theirs, ours] = [ids(donor), ids(base)];
  const pairs = { source: sourcePairs ?? aligned(theirs.source, ours.source), target: aligned(theirs.target, ours.target) };
  return { donor, pairs };
}

/**
 * The ablations of a sweep, in the model's order.
 * @param {GraphOutput[]} outputs
 * @param {Record<string, number>} heads  of a stack's attentions
 * @param {{effect: string, over: string, among: string[] | null}} request
 * @returns {Part[]}
 */
function ablations(outputs, heads, { effect, over, among }) {
  if (!ABLATED.includes(effect)) throw new Problem("unknown-effect", { field: "effect", detail: `effect must be a patch or one of ${ABLATED.join(", ")}` });
  if (over === "sublayers" && effect === "zero") return outputs.filter(({ name }) => name.endsWith(".output")).map(({ name }) => ({ change: { at: name, do: effect }, second: null }));
  if (!["heads", "pairs"].includes(over)) throw new Problem("unknown-value", { field: "over", detail: `over must be heads or pairs: ${effect} acts on heads` });
  const places = outputs.map(({ name }) => name.replace(/\.weights$/, "")).filter((name) => ATTENTION.test(name));
  const chosen = over === "pairs" && among ? places.filter((place) => among.some((pattern) => matches(pattern, place))) : places;
  if (!chosen.length) throw new Problem("unknown-place", { field: "among", detail: "among names no attention of the model" });
  const single = chosen.flatMap((place) => Array.from({ length: heads[place.split(".")[0]] }, (_, head) => ({ at: place, head, do: effect })));
  const parts = single.map((change) => ({ change, second: null }));
  if (over === "heads") return parts;
  const pairs = single.flatMap((change, index) => single.slice(index + 1).map((second) => ({ change, second })));
  if (pairs.length > MAX_PAIRS) throw new Problem("too-long", { field: "among", detail: `among: ${single.length} heads make ${pairs.length} pairs; at most ${MAX_PAIRS} are tried, such as those of one attention`, excess: { limit: MAX_PAIRS, unit: "entries", value: pairs.length } });
  return [...parts, ...pairs];
}

/** Whether a pattern (`*`, `?`) matches all of a name. @param {string} pattern @param {string} name */
const matches = (pattern, name) => new RegExp(`^${pattern.replace(/[.+^${}()|\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")}$`).test(name);

/**
 * What effects are measured against.
 * @param {ScoredRun} base
 * @param {number[]} rows  that are reported
 * @param {number | null} against  the id that is contrasted with; null: what is most probable in the
 *   other run, if that is another token, or else the second choice
 * @param {ScoredRun | null} donor  the other run
 */
function createMeasure({ ids, tensors }, rows, against, donor) {
  const vocabulary = tensors.logprobs.dims[2];
  const rowsOf = (/** @type {Float32Array} */ logprobs) => rows.map((row) => logprobs.subarray(row * vocabulary, (row + 1) * vocabulary));
  const written = rows.map((row) => ids[row]);
  const before = rowsOf(Float32Array.from(tensors.logprobs.data));
  const theirs = donor && rowsOf(donor.tensors.logprobs.data);
  const best = (/** @type {Float32Array} */ logprobs, /** @type {number} */ index) => topIndices(logprobs, CANDIDATES + 1).filter((id) => id !== written[index]).slice(0, CANDIDATES);
  const second = before.map(best);
  const contrasted = second.map(([next], index) => {
    const theirBest = theirs ? topIndices(theirs[index], 1)[0] : written[index];
    return against ?? (theirBest === written[index] ? next : theirBest);
  });
  const contrastIn = (/** @type {Float32Array} */ logprobs, /** @type {number} */ index) => logprobs[written[index]] - logprobs[contrasted[index]];
  const contrast = before.map(contrastIn);
  const theirContrast = theirs && theirs.map(contrastIn);

  return {
    against: contrasted,
    contrast,
    theirContrast,
    candidates: second.map((candidates, index) => [...new Set([...(theirs ? best(theirs[index], index) : []), ...candidates])]),

    /** @param {Float32Array} logprobs  of all rows after a change */
    effects(logprobs) {
      const after = rowsOf(logprobs);
      const change = after.map((row, index) => contrastIn(row, index) - contrast[index]);
      return {
        delta: after.map((row, index) => row[written[index]] - before[index][written[index]]),
        divergence: after.map((row, index) => divergence(before[index], row)),
        contrast: change,
        recovered: theirContrast && change.map((part, index) => (Math.abs(theirContrast[index] - contrast[index]) >= LEAST_DIFFERENCE ? part / (theirContrast[index] - contrast[index]) : null)),
      };
    },
  };
}

/** KL(p ‖ q) of log-probabilities. @param {Float32Array} p @param {Float32Array} q */
function divergence(p, q) {
  let sum = 0;
  for (let id = 0; id < p.length; id++) if (p[id] > -Infinity) sum += Math.exp(p[id]) * (p[id] - q[id]);
  return Math.max(0, sum);
}

// Patches of a sweep: which rows of two similar sentences correspond, and what is taken from where.

/** @typedef {[number, number][]} Pairs  (its row, ours) */
/** @typedef {{name: string, text: string, heads: number}} Patched  a tensor, the text of its rows, its heads (0: none) */
/** @typedef {{change: Change, second: null, token: number | null}} Patch  token: our row, if only one is patched */

/**
 * Pairs of tokens that correspond, in order: those that both have (Ratcliff and Obershelp's longest
 * matches), and between them those that were exchanged, from the last one backwards.
 * @param {number[]} theirs
 * @param {number[]} ours
 * @returns {Pairs}
 */
export function aligned(theirs, ours) {
  /** @type {Pairs} */
  const pairs = [];
  let [row, ourRow] = [0, 0];
  for (const { start, otherStart, size } of [...matchingBlocks(theirs, ours), { start: theirs.length, otherStart: ours.length, size: 0 }]) {
    const exchanged = Math.min(start - row, otherStart - ourRow);
    for (let index = exchanged; index > 0; index--) pairs.push([start - index, otherStart - index]);
    for (let index = 0; index < size; index++) pairs.push([start + index, otherStart + index]);
    [row, ourRow] = [start + size, otherStart + size];
  }
  return pairs;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 * @param {{aFrom: number, aTo: number, bFrom: number, bTo: number}} [within]
 * @returns {{start: number, otherStart: number, size: number}[]}  in order
 */
function matchingBlocks(a, b, { aFrom, aTo, bFrom, bTo } = { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }) {
  let best = { start: aFrom, otherStart: bFrom, size: 0 };
  /** How many tokens up to these are equal, by our index. @type {Map<number, number>} */
  let lengths = new Map();
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map();
    for (let j = bFrom; j < bTo; j++) {
      if (a[i] !== b[j]) continue;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { start: i - size + 1, otherStart: j - size + 1, size };
    }
    lengths = next;
  }
  if (!best.size) return [];
  const { start, otherStart, size } = best;
  const before = matchingBlocks(a, b, { aFrom, aTo: start, bFrom, bTo: otherStart });
  const after = matchingBlocks(a, b, { aFrom: start + size, aTo, bFrom: otherStart + size, bTo });
  // Blocks that touch are one: tokens between two blocks are never equal there.
  return [...before, best, ...after];
}

/**
 * The tensors that a sweep of patches replaces, in the model's order.
 * @param {GraphOutput[]} outputs
 * @param {Record<string, number>} heads
 * @param {string} over
 * @returns {Patched[]}
 */
function patchedTensors(outputs, heads, over) {
  const text = (/** @type {GraphOutput} */ { over: texts }) => texts.query;
  if (over === "heads") return outputs.filter(({ name }) => name.endsWith(".mix")).map((output) => ({ name: output.name, text: text(output), heads: heads[output.name.split(".")[0]] }));
  if (over === "sublayers") return outputs.filter(({ name }) => name.endsWith(".output")).map((output) => ({ name: output.name, text: text(output), heads: 0 }));
  /** The stream after each layer: what the feed-forward network's sum, or its norm, ends in. @type {Map<string, GraphOutput>} */
  const ends = new Map();
  for (const output of outputs) {
    const layer = /^((?:encoder|decoder)\.\d+)\.ffn\.(?:residual|norm)$/.exec(output.name)?.[1];
    if (layer) ends.set(layer, output);
    else if (/^(source|target)\.input$/.test(output.name)) ends.set(output.name, output);
  }
  const ordered = [...ends.values()];
  const places = ["source", "target"].flatMap((side) => ordered.filter((output) => text(output) === side));
  return places.map((output) => ({ name: output.name, text: text(output), heads: 0 }));
}

/**
 * The patches of a sweep.
 * @param {Patched[]} tensors
 * @param {ScoredRun} donor
 * @param {Record<string, Pairs>} pairs  of each text
 * @param {boolean} isByRow  one row at a time
 * @returns {Patch[]}
 */
function patchesOf(tensors, donor, pairs, isByRow) {
  return tensors.flatMap(({ name, text, heads }) => patchesOfTensor(name, text, heads));

  /** @param {string} name @param {string} text @param {number} heads @returns {Patch[]} */
  function patchesOfTensor(name, text, heads) {
    const { data, dims } = donor.tensors[name];
    const patch = (/** @type {Pairs} */ rows, /** @type {number | null} */ head = null) => ({ at: name, head, do: { replace: { values: data, shape: dims.slice(1), pairs: rows, unseen: null } } });
    if (!pairs[text].length) return [];
    if (isByRow) return pairs[text].map((pair) => ({ change: patch([pair]), second: null, token: pair[1] }));
    return [...Array.from({ length: heads }, (_, head) => head), null].map((head) => ({ change: patch(pairs[text], head), second: null, token: null }));
  }
}
