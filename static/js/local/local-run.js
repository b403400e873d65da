/** A request of the API, answered by the graphs: tokens, decoding, a trace, a sweep. */

import { keyOf } from "../core/store/view-requests.js";
import { Problem } from "../core/wire/reply.js";
import { checkChanges, withOtherRuns } from "./graph-changes.js";
import { DECODE, scoreOf, searchSteps, stepReader, stepWords } from "./decoding.js";
import { sweepLines } from "./sweep.js";
import { languageOf } from "./tokenizer.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { TokenReply } from "../core/wire/schemas.d.ts" */
/** @import { Tensor, Trace } from "../core/wire/safetensors.js" */
/** @import { DecodePlan, SearchStep } from "./decoding.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { OrtTensor, Passes, ReadSource, Tensors } from "./graph-passes.js" */
/** @import { TextRules, Tokenizer } from "./tokenizer.js" */

/**
 * @typedef {object} LocalModel
 * @property {string} id
 * @property {string} digest
 * @property {string[]} directions
 * @property {number} maxTokens
 * @property {Record<string, number>} heads  of a stack's attentions
 * @property {TextRules} text
 * @property {GraphOutput[]} read  tensors of the graph that reads the source
 * @property {GraphOutput[]} written  of the one that writes the target
 */
/**
 * @typedef {object} TraceRequest  as the API takes it
 * @property {string} source
 * @property {string} [model]
 * @property {string} [direction]
 * @property {string} [target]
 * @property {Partial<DecodePlan>} [decode]
 * @property {Change[] | Change} [interventions]
 * @property {string[]} [select]
 * @property {string[]} [summarise]  attentions, such as "encoder.0.self"
 * @property {"float32" | "uint8"} [dtype]
 * @property {number} [pad_to]  pads each text to this many tokens
 */
/** @typedef {TraceRequest & {candidates?: number}} DecodeRequest */
/**
 * A run that is scored: what it read and wrote, and its tensors, among them `logprobs` (1, T, V).
 * @typedef {{key: string, changes: Change[], direction: string, source: TokenReply[], plan: DecodePlan, read: ReadSource, ids: number[], target: TokenReply[], output: Trace["output"], tensors: Tensors}} ScoredRun
 */

/** Candidates of a step, if the request does not say how many. */
const CANDIDATES_TOLD = 10;
const COARSE = ":uint8";
const CANDIDATES = ".candidates";
/** Decodings that are remembered: another view asks for the same run. */
const REMEMBERED = 8;

/**
 * @param {LocalModel} model
 * @param {Tokenizer} tokenizer
 * @param {Passes} passes
 * @param {ReturnType<typeof import("./derived-tensors.js").createSummaries>} summarised
 * @param {import("./derived-tensors.js").Derived} derived
 */
export function createRun(model, tokenizer, passes, summarised, derived) {
  const requests = createRequestReader(model, tokenizer);
  const { bos, eos, never } = requests;
  const outputs = new Map([...model.read, ...model.written].map((output) => [output.name, output]));
  const isOfReader = (/** @type {string} */ name) => model.read.some((output) => output.name === name);
  const writtenIds = rememberedIds();

  /**
   * The source as it is read with its changes.
   * @param {TraceRequest} request
   * @param {string[]} names  of tensors
   */
  async function begun(request, names) {
    const { interventions = [] } = request;
    const requested = Array.isArray(interventions) ? interventions : [interventions];
    checkChanges(requested, [...outputs.values()], ["source", "target"]);
    const direction = requests.direction(request);
    const typed = requests.source(request, direction);
    requests.checkPadding(request, typed.length);
    const plan = requests.plan(request, typed.length);
    const source = requests.padded(typed, request);
    const changes = await withOtherRuns(requested, tensorOfSentence, (name) => (isOfReader(name) ? source.length : null));
    const read = await passes.read(source.map(({ id }) => id), changes, names.filter((name) => isOfReader(name)));
    return { changes, direction, source, plan, read };
  }

  /** @param {Awaited<ReturnType<typeof begun>>} run @param {AbortSignal} [signal] */
  const searched = ({ read, plan, changes }, signal) => searchSteps(stepReader(passes, read, changes, { bos: bos.id, never }), plan, eos.id, signal);

  /**
   * A run with the log-probabilities of what it writes.
   * @param {TraceRequest} request
   * @param {string[]} names  of tensors
   * @param {AbortSignal} [signal]
   * @returns {Promise<ScoredRun>}
   */
  async function scoredRun(request, names, signal) {
    const run = await begun(request, names);
    const { read, changes, plan } = run;
    const typed = request.target === undefined ? null : requests.target(request.target);
    requests.checkPadding(request, typed?.length ?? 0);
    const key = runKey(request);
    const ids = typed?.map(({ id }) => id) ?? writtenIds.get(key) ?? (await lastOf(searched(run, signal))).written[0].ids;
    if (!typed) writtenIds.put(key, ids);
    signal?.throwIfAborted();
    const spelled = typed ? { text: request.target ?? "", tokens: typed } : tokenizer.written(ids);
    const target = requests.padded([bos, ...spelled.tokens.slice(0, -1)], request);
    const tensors = await passes.write(read, [target.map(({ id }) => id)], null, changes, ["logprobs", ...names.filter((name) => !isOfReader(name))]);
    const { logprobs, ranks } = likelihood(tensors.logprobs, ids);
    const score = scoreOf({ ids, logprob: logprobs.reduce((sum, logprob) => sum + logprob, 0) }, plan.length_penalty);
    const output = { ...spelled, logprobs, ranks, finished: ids.at(-1) === eos.id, continues: 0, rows: [], score };
    return { ...run, key, ids, target, output, tensors: { ...read.tensors, ...tensors } };
  }

  /**
   * @param {TraceRequest} request
   * @param {AbortSignal} [signal]
   * @returns {Promise<Trace>}
   */
  async function trace(request, signal) {
    const { select = [], summarise = [], dtype } = request;
    const recorded = [...select, ...summarise.flatMap((place) => [`${place}.weights`, `${place}.mask`])];
    const names = namesOf(recorded, (name) => outputs.has(name) || derived.output(name) !== undefined);
    const computed = names.filter((name) => !outputs.has(name));
    const { key, changes, direction, source, ids, target, output, tensors: recordedValues } = await scoredRun(request, [...new Set([...names.filter((name) => outputs.has(name)), ...derived.inputs(computed)])], signal);
    if (computed.length && changes.some((change) => change.do === "drop")) throw new Problem("unsupported", { field: "interventions", detail: "this needs a server" });
    const values = { ...recordedValues, ...(await derived.tensors(computed, recordedValues, { source: source.map(({ id }) => id), rows: target.length, written: ids })) };
    const outputOf = (/** @type {string} */ name) => /** @type {GraphOutput} */ (outputs.get(name) ?? derived.output(name));
    const tensors = selectedTensors(select, values, outputOf, dtype);
    const texts = /** @type {Record<string, TokenReply[]>} */ ({ source, target });
    const summaries = await summarised(summarise, { values, outputs, texts, written: output.tokens });
    return { id: `${model.digest.slice(0, 12)} ${key}`, model: model.id, direction, tokens: { source, target }, output, tensors, summaries, pieces: piecesOf(tensors, tokenizer) };
  }

  /** @type {import("./graph-changes.js").ReadTensor} */
  async function tensorOfSentence(sentence, name) {
    const { tensors } = await trace({ ...sentence, select: [name] });
    const { data, shape, dims } = tensors[name];
    return { data: Float32Array.from(/** @type {ArrayLike<number>} */ (data)), shape, dims };
  }

  /**
   * The lines of a decoding, one for each step.
   * @param {DecodeRequest} request
   * @param {AbortSignal} [signal]
   */
  async function* decoded(request, signal) {
    const { pad_to: _, ...unpadded } = request;
    const run = await begun(unpadded, []);
    const { direction, source, plan } = run;
    yield { start: { model: model.id, direction, tokens: { source }, decode: plan, max_tokens: plan.max_tokens } };
    const words = stepWords(tokenizer, plan.length_penalty, request.candidates ?? CANDIDATES_TOLD);
    let index = 0;
    let written = null;
    for await (const step of searched(run, signal)) {
      written = step.written[0];
      yield { step: words.step(index++, step) };
    }
    if (!written) return;
    writtenIds.put(runKey(request), written.ids);
    yield { end: { output: words.output(written) } };
  }

  return {
    trace,

    /**
     * A long computation, line by line.
     * @param {string} path  of the API
     * @param {any} body
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<any, void, void>}
     */
    lines(path, body, signal) {
      if (path === "/api/decode") return decoded(body, signal);
      if (path === "/api/sweep") return sweepLines({ scoredRun, passes, outputs: [...outputs.values()], model, token: tokenizer.token }, body, signal);
      throw new Problem("unsupported", { detail: "this needs a server" });
    },
  };
}

/** The ids that were written last, by what a decoding depends on. */
function rememberedIds() {
  /** @type {Map<string, number[]>} */
  const ids = new Map();
  return {
    get: (/** @type {string} */ key) => ids.get(key),
    put(/** @type {string} */ key, /** @type {number[]} */ written) {
      ids.set(key, written);
      if (ids.size > REMEMBERED) ids.delete([...ids.keys()][0]);
    },
  };
}

/**
 * The tensors of a reply by their addresses; one that was not computed is left out.
 * @param {string[]} select
 * @param {Tensors} values  by name
 * @param {(name: string) => GraphOutput} outputOf
 * @param {TraceRequest["dtype"]} dtype
 */
function selectedTensors(select, values, outputOf, dtype) {
  /** @type {Record<string, Tensor>} */
  const tensors = {};
  for (const address of select) {
    const name = address.replace(COARSE, "");
    if (values[name]) tensors[address] = tensorOf(outputOf(name), values[name], address !== name || dtype === "uint8");
  }
  return tensors;
}

/** The tokens of candidates. @param {Record<string, Tensor>} tensors @param {Tokenizer} tokenizer */
function piecesOf(tensors, tokenizer) {
  const ids = new Set(Object.entries(tensors).flatMap(([name, { data }]) => (name.endsWith(CANDIDATES) ? [...data] : [])));
  return Object.fromEntries([...ids].map((id) => [String(id), { text: tokenizer.token(id).text, special: tokenizer.token(id).special }]));
}

/** What a decoding depends on. @param {DecodeRequest} request */
const runKey = ({ select: _, dtype: __, candidates: ___, ...run }) => keyOf({ trace: run });

/** @param {AsyncGenerator<SearchStep, void, void>} steps */
async function lastOf(steps) {
  let last = null;
  for await (const step of steps) last = step;
  return /** @type {SearchStep} */ (last);
}

/**
 * @param {string[]} select  addresses
 * @param {(name: string) => boolean} isComputed
 */
function namesOf(select, isComputed) {
  const names = [...new Set(select.map((address) => address.replace(COARSE, "")))];
  const index = names.findIndex((name) => !isComputed(name));
  if (index >= 0) throw new Problem("unknown-tensor", { field: `select[${index}]`, detail: `select[${index}] names no tensor that this page computes` });
  return names;
}

/**
 * @param {OrtTensor} logprobs  (1, T, V)
 * @param {number[]} ids
 */
function likelihood({ dims, data }, ids) {
  const vocabulary = dims[2];
  const logprobs = ids.map((id, row) => data[row * vocabulary + id]);
  const ranks = logprobs.map((chosen, row) => {
    let rank = 1;
    for (let id = row * vocabulary; id < (row + 1) * vocabulary; id++) if (data[id] > chosen) rank++;
    return rank;
  });
  return { logprobs, ranks };
}

/**
 * @param {GraphOutput} output
 * @param {OrtTensor} tensor  with the batch axis
 * @param {boolean} coarse  in 8 bits
 * @returns {Tensor}
 */
function tensorOf({ dims, over }, { type, dims: lengths, data }, coarse) {
  const axes = { dims, over, shape: lengths.slice(1) };
  if (coarse) return { ...axes, dtype: "uint8", data: Uint8Array.from(data, (/** @type {number} */ value) => roundedToEven(value * 255)) };
  if (type === "bool") return { ...axes, dtype: "bool", data: Uint8Array.from(data) };
  if (type === "int64") return { ...axes, dtype: "int32", data: Int32Array.from(data, Number) };
  return { ...axes, dtype: "float32", data: Float32Array.from(data) };
}

/** As NumPy rounds. @param {number} value */
function roundedToEven(value) {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

// The fields of a request that depend on the model: direction, tokens, how to decode.

/** Tokens more than the source that are written at most, as in the paper. */
const BEYOND_SOURCE = 50;
const METHODS = ["greedy", "beam", "sample"];
const MAX_BEAMS = 16;

/**
 * @param {LocalModel} model
 * @param {Tokenizer} tokenizer
 */
function createRequestReader(model, tokenizer) {
  const [pad, bos, eos] = ["<pad>", "<bos>", "<eos>"].map((text) => tokenizer.control(text));
  /** Ids that are never written. */
  const never = new Set(tokenizer.controls.filter((id) => id !== eos.id));

  /** @param {string} field @param {string} text @param {TokenReply[]} before */
  function fitting(field, text, before) {
    const textTokens = tokenizer.encode(text);
    const tokens = [...before, ...textTokens, eos];
    if (!textTokens.some(({ start, end }) => end > start)) throw new Problem("empty-text", { field, detail: `${field} is empty` });
    if (tokens.length > model.maxTokens) {
      const fits = textTokens[model.maxTokens - before.length - 2]?.end ?? 0;
      const excess = { limit: model.maxTokens, unit: "tokens", value: tokens.length, fits };
      throw new Problem("text-too-long", { field, detail: `${field} has ${tokens.length} tokens; this model reads at most ${model.maxTokens}`, excess });
    }
    return tokens;
  }

  return {
    bos,
    eos,
    never,

    /** @param {TraceRequest} request */
    direction({ source, direction }) {
      if (direction !== undefined) {
        if (!model.directions.includes(direction)) throw new Problem("unknown-direction", { field: "direction", detail: `direction must be one of ${model.directions.join(", ")}` });
        return direction;
      }
      const language = languageOf(source, model.text);
      return model.directions.find((candidate) => candidate.startsWith(`${language}-`)) ?? model.directions[0];
    },

    /** @param {TraceRequest} request @param {string} direction */
    source: ({ source }, direction) => fitting("source", source, [tokenizer.control(`<2${direction.split("-")[1]}>`)]),

    /**
     * Tokens with padding behind them, up to the length that a request has asked for.
     * @param {TokenReply[]} tokens
     * @param {TraceRequest} request
     */
    padded: (tokens, { pad_to: length }) => [...tokens, ...Array.from({ length: Math.max(0, (length ?? 0) - tokens.length) }, () => pad)],

    /** @param {TraceRequest} request @param {number} longest  of its texts, in tokens */
    checkPadding({ pad_to: length }, longest) {
      if (length !== undefined && (length < longest || length > model.maxTokens)) throw new Problem("out-of-range", { field: "pad_to", detail: `pad_to must be from ${longest} to ${model.maxTokens}` });
    },

    /** @param {string} text */
    target: (text) => fitting("target", text, []),

    /**
     * @param {TraceRequest} request
     * @param {number} length  of the source, in tokens
     * @returns {DecodePlan}
     */
    plan({ decode = {} }, length) {
      const longest = Math.min(model.maxTokens, length + BEYOND_SOURCE);
      const plan = { ...DECODE, ...decode, max_tokens: Math.min(longest, decode.max_tokens ?? longest) };
      if (!METHODS.includes(plan.method)) throw new Problem("unknown-value", { field: "decode.method", detail: `decode.method must be one of ${METHODS.join(", ")}` });
      if (plan.beam < 1 || plan.beam > MAX_BEAMS) throw new Problem("out-of-range", { field: "decode.beam", detail: `decode.beam must be from 1 to ${MAX_BEAMS}` });
      checkPrefix(plan);
      return plan;
    },
  };

  /** @param {DecodePlan} plan */
  function checkPrefix({ prefix, max_tokens: limit }) {
    if (prefix.length > limit) {
      const detail = `decode.prefix has ${prefix.length} tokens; this output has at most ${limit}`;
      throw new Problem("too-long", { field: "decode.prefix", detail, excess: { limit, unit: "tokens", value: prefix.length } });
    }
    prefix.forEach((id, index) => {
      const isWritable = tokenizer.has(id) && !never.has(id) && (id !== eos.id || index === prefix.length - 1);
      if (!isWritable) throw new Problem("unknown-token", { field: `decode.prefix[${index}]`, detail: `decode.prefix[${index}] must be the id of a token that can be written there` });
    });
  }
}
