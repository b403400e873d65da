/** A request of the API, answered by the graphs: tokens, decoding, a trace. */

import { Problem } from "../core/wire/problem.js";
import { keyOf } from "../core/store/view-requests.js";
import { stepReader, stepWords } from "./decoding-lines.js";
import { DECODE, scoreOf, searchSteps } from "./decoding-search.js";
import { checkChanges } from "./graph-changes.js";
import { languageOf } from "./text-folding.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { TokenReply } from "../core/wire/schemas.d.ts" */
/** @import { Tensor, Trace } from "../core/wire/wire.js" */
/** @import { TextRules } from "./text-folding.js" */
/** @import { Tokenizer } from "./tokenizer.js" */
/** @import { DecodePlan, SearchStep } from "./decoding-search.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { OrtTensor, Passes, ReadSource } from "./graph-passes.js" */
/**
 * @typedef {object} LocalModel
 * @property {string} id
 * @property {string} digest
 * @property {string[]} directions
 * @property {number} maxTokens
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
 * @property {"float32" | "uint8"} [dtype]
 */
/** @typedef {TraceRequest & {candidates?: number}} DecodeRequest */

/** Tokens more than the source that are written at most, as in the paper. */
const BEYOND_SOURCE = 50;
/** Candidates of a step, if the request does not say how many. */
const CANDIDATES_TOLD = 10;
const COARSE = ":uint8";
const CANDIDATES = ".candidates";

/**
 * @param {LocalModel} model
 * @param {Tokenizer} tokenizer
 * @param {Passes} passes
 */
export function createRun(model, tokenizer, passes) {
  const [bos, eos] = ["<bos>", "<eos>"].map((text) => tokenizer.control(text));
  const never = new Set(tokenizer.controls.filter((id) => id !== eos.id));
  const outputs = new Map([...model.read, ...model.written].map((output) => [output.name, output]));
  const isOfReader = (/** @type {string} */ name) => model.read.some((output) => output.name === name);
  /** What was written for a request last: another view asks for the same run. @type {{key: string, ids: number[]} | null} */
  let lastWritten = null;

  /** @param {TraceRequest} request */
  function directionOf({ source, direction }) {
    if (direction !== undefined) {
      if (!model.directions.includes(direction)) throw new Problem("unknown-direction", { field: "direction", detail: `direction must be one of ${model.directions.join(", ")}` });
      return direction;
    }
    const language = languageOf(source, model.text);
    return model.directions.find((candidate) => candidate.startsWith(`${language}-`)) ?? model.directions[0];
  }

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

  /**
   * @param {TraceRequest} request
   * @param {number} length  of the source, in tokens
   * @returns {DecodePlan}
   */
  function planOf({ decode = {} }, length) {
    const longest = Math.min(model.maxTokens, length + BEYOND_SOURCE);
    const plan = { ...DECODE, ...decode, max_tokens: Math.min(longest, decode.max_tokens ?? longest) };
    if (plan.prefix.length > plan.max_tokens) {
      const detail = `decode.prefix has ${plan.prefix.length} tokens; this output has at most ${plan.max_tokens}`;
      throw new Problem("too-long", { field: "decode.prefix", detail, excess: { limit: plan.max_tokens, unit: "tokens", value: plan.prefix.length } });
    }
    plan.prefix.forEach((id, index) => {
      const isWritable = tokenizer.has(id) && !never.has(id) && (id !== eos.id || index === plan.prefix.length - 1);
      if (!isWritable) throw new Problem("unknown-token", { field: `decode.prefix[${index}]`, detail: `decode.prefix[${index}] must be the id of a token that can be written there` });
    });
    return plan;
  }

  /** @param {ReadSource} read @param {DecodePlan} plan @param {Change[]} changes @param {AbortSignal} [signal] */
  const searched = (read, plan, changes, signal) => searchSteps(stepReader(passes, read, changes, { bos: bos.id, never }), plan, eos.id, signal);

  /**
   * What is read and changed for a request.
   * @param {TraceRequest} request
   * @param {string[]} names  of tensors
   */
  async function begun(request, names) {
    const { interventions = [] } = request;
    const changes = Array.isArray(interventions) ? interventions : [interventions];
    checkChanges(changes, [...outputs.values()], ["source", "target"]);
    const direction = directionOf(request);
    const source = fitting("source", request.source, [tokenizer.control(`<2${direction.split("-")[1]}>`)]);
    const plan = planOf(request, source.length);
    const read = await passes.read(source.map(({ id }) => id), changes, names.filter((name) => isOfReader(name)));
    return { changes, direction, source, plan, read };
  }

  return {
    /**
     * A long computation, line by line.
     * @param {string} path  of the API
     * @param {any} body
     * @param {AbortSignal} [signal]
     */
    lines(path, body, signal) {
      if (path === "/api/decode") return decoded(body, signal);
      throw new Problem("unsupported", { detail: "this needs a server" });
    },

    /**
     * @param {TraceRequest} request
     * @param {AbortSignal} [signal]
     * @returns {Promise<Trace>}
     */
    async trace(request, signal) {
      const { select = [], dtype } = request;
      const names = namesOf(select, outputs);
      const { changes, direction, source, plan, read } = await begun(request, names);
      const typed = request.target === undefined ? null : fitting("target", request.target, []);
      const key = runKey(request);
      const wrote = typed?.map(({ id }) => id) ?? (lastWritten?.key === key ? lastWritten.ids : (await lastOf(searched(read, plan, changes, signal))).written[0].ids);
      if (!typed) lastWritten = { key, ids: wrote };
      const spelled = typed ? { text: request.target ?? "", tokens: typed } : tokenizer.written(wrote);
      signal?.throwIfAborted();
      const target = [bos, ...spelled.tokens.slice(0, -1)];
      const fetched = ["logprobs", ...names.filter((name) => !isOfReader(name))];
      const scored = await passes.write(read, [target.map(({ id }) => id)], null, changes, fetched);
      const values = { ...read.tensors, ...scored };
      /** @type {Record<string, Tensor>} */
      const tensors = {};
      for (const address of select) {
        const name = address.replace(COARSE, "");
        if (values[name]) tensors[address] = tensorOf(/** @type {GraphOutput} */ (outputs.get(name)), values[name], address !== name || dtype === "uint8");
      }
      const output = { ...spelled, ...likelihood(scored.logprobs, wrote), finished: wrote.at(-1) === eos.id, continues: 0, rows: [] };
      const score = scoreOf({ ids: wrote, logprob: output.logprobs.reduce((/** @type {number} */ sum, /** @type {number} */ logprob) => sum + logprob, 0) }, plan.length_penalty);
      return { id: `${model.digest.slice(0, 12)} ${key}`, model: model.id, direction, tokens: { source, target }, output: { ...output, score }, tensors, pieces: piecesOf(tensors) };
    },
  };

  /**
   * The lines of a decoding, one for each step.
   * @param {DecodeRequest} request
   * @param {AbortSignal} [signal]
   */
  async function* decoded(request, signal) {
    const { changes, direction, source, plan, read } = await begun(request, []);
    yield { start: { model: model.id, direction, tokens: { source }, decode: plan, max_tokens: plan.max_tokens } };
    const words = stepWords(tokenizer, plan.length_penalty, request.candidates ?? CANDIDATES_TOLD);
    let index = 0;
    let written = null;
    for await (const step of searched(read, plan, changes, signal)) {
      written = step.written[0];
      yield { step: words.step(index++, step) };
    }
    if (written) lastWritten = { key: runKey(request), ids: written.ids };
    if (written) yield { end: { output: words.output(written) } };
  }

  /** The tokens of candidates. @param {Record<string, Tensor>} tensors */
  function piecesOf(tensors) {
    const ids = new Set(Object.entries(tensors).flatMap(([name, { data }]) => (name.endsWith(CANDIDATES) ? [...data] : [])));
    return Object.fromEntries([...ids].map((id) => [String(id), { text: tokenizer.token(id).text, special: tokenizer.token(id).special }]));
  }
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
 * @param {Map<string, GraphOutput>} outputs
 */
function namesOf(select, outputs) {
  const names = [...new Set(select.map((address) => address.replace(COARSE, "")))];
  const index = names.findIndex((name) => !outputs.has(name));
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
