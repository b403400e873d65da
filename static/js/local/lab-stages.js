/**
 * Attention by hand in the page: the exported stages of model/lab/stages.py, in the order in which
 * model/lab/compute.py has them. Requests are those of the lab's figure, which are valid.
 */

import { transposed } from "../lib/csv.js";

/** @import { Answer } from "../lab/steps.js" */
/** @import { Ort, OrtSession, OrtTensor } from "./graph-passes.js" */
/** @typedef {Record<string, {inputs: string[], outputs: Record<string, string[]>}>} StageDescriptions  outputs: their axes, in order */
/** @typedef {Record<string, OrtTensor>} LabTensors */
/** @typedef {Record<string, any>} LabRequest  as POST /api/lab takes it */

const MATRICES = ["x", "memory", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "w_vocab"];
/** As exported: a fused layer norm would have ε as a float32. */
const OPTIONS = { executionProviders: ["wasm"], graphOptimizationLevel: "disabled" };
/** Of a request that has none: added to the variance by layer norms. */
const EPSILON = 1e-5;
/** Steps that there are only with relative positions. */
const RELATIVE = ["scored", "position"];

/**
 * @param {Ort} ort
 * @param {StageDescriptions} stages
 * @param {(stage: string) => Promise<OrtSession>} open
 * @returns {(request: LabRequest) => Promise<Answer>}
 */
export function createLab(ort, stages, open) {
  /** @type {Record<string, Promise<OrtSession>>} */
  const sessions = {};

  /** @param {string} stage @param {LabTensors} inputs */
  async function run(stage, inputs) {
    const session = await (sessions[stage] ??= open(stage));
    return session.run(Object.fromEntries(stages[stage].inputs.map((name) => [name, inputs[name]])));
  }

  return async (requested) => {
    const request = inRows(requested);
    const inputs = tensorsOf(ort, request);
    /** @type {Answer} */
    const answer = { steps: {}, dims: {} };

    /** Run a stage and keep its steps. @param {string} stage @param {LabTensors} changed @param {string} [place] */
    async function step(stage, changed, place = "") {
      const results = await run(stage, { ...inputs, ...changed });
      for (const [name, dims] of Object.entries(stages[stage].outputs)) {
        if (RELATIVE.includes(name) && !request.relative) continue;
        answer.steps[place + name] = nested(results[name]);
        answer.dims[place + name] = dims;
      }
      return results;
    }

    /**
     * A sublayer with its residual and norm, as far as requested.
     * @param {OrtTensor} x
     * @param {(x: OrtTensor) => Promise<OrtTensor>} sublayer
     * @param {string} [place]
     * @param {string} [letters]  before γ and β
     */
    async function added(x, sublayer, place = "", letters = "") {
      const { norm, residual } = request;
      const normed = async (/** @type {OrtTensor} */ rows) =>
        (await step("norm", { x: rows, gamma: inputs[`${letters}gamma`], beta: inputs[`${letters}beta`] }, place)).norm;
      if (!norm && !residual) return sublayer(x);
      const output = await sublayer(norm === "pre" ? await normed(x) : x);
      const sum = (await step("residual", { x, output }, place)).residual;
      return norm === "post" ? normed(sum) : sum;
    }

    const { allowed } = await run(request.mask?.includes("causal") ? "causal-mask" : "mask", inputs);
    const attention = `attention-${request.scoring}-${request.relative?.multiply ? "multiply" : "add"}`;
    let x = request.positions ? (await step("positions", {})).input : inputs.x;
    x = await added(x, async (rows) => (await step(attention, { x: rows, memory: inputs.memory ?? rows, allowed })).output);
    if (request.w_1) x = await added(x, async (rows) => (await step("feed-forward", { x: rows }, "ffn.")).output, "ffn.", "ffn_");
    if (request.w_vocab) {
      if (request.norm === "pre") x = (await step("norm", { x, gamma: inputs.ones, beta: inputs.zeros }, "final.")).norm;
      const { logits } = await step("predict", { x });
      if (request.targets) await step(request.shift ? "shifted-loss" : "loss", { logits });
    }
    return requested.convention === "column" ? inColumns(answer) : answer;
  };
}

/** The same request with every matrix in the row convention. @param {LabRequest} request @returns {LabRequest} */
function inRows(request) {
  if (request.convention !== "column") return request;
  return { ...request, ...Object.fromEntries(MATRICES.filter((name) => request[name]).map((name) => [name, transposed(request[name])])) };
}

/** @param {Answer} answer @returns {Answer} */
function inColumns({ steps, dims }) {
  const turned = Object.entries(dims).map(([name, axes]) => {
    if (axes.length < 2) return { name, step: steps[name], axes };
    const [rows, columns] = axes.slice(-2);
    const step = axes.length === 2 ? transposed(steps[name]) : steps[name].map(transposed);
    return { name, step, axes: [...axes.slice(0, -2), columns, rows] };
  });
  return { steps: Object.fromEntries(turned.map(({ name, step }) => [name, step])), dims: Object.fromEntries(turned.map(({ name, axes }) => [name, axes])) };
}

/** A tensor as nested lists, as the API has it. @param {OrtTensor} tensor */
function nested({ type, data, dims }) {
  /** @type {any[]} */
  let values = Array.from(data, type === "bool" ? Boolean : (value) => (Number.isFinite(value) ? value : null));
  for (const length of dims.slice(1).reverse()) values = Array.from({ length: values.length / length }, (_, row) => values.slice(row * length, (row + 1) * length));
  return dims.length ? values : values[0];
}

/**
 * What stages take: heads have their axis, and what a request lacks changes nothing.
 * @param {Ort} ort
 * @param {LabRequest} request  in rows
 * @returns {LabTensors}
 */
function tensorsOf(ort, request) {
  const { heads, x, w_q, w_v, memory = x } = request;
  const floats = (/** @type {Iterable<number>} */ values, /** @type {number[]} */ shape) => new ort.Tensor("float64", Float64Array.from(values), shape);
  const filled = (/** @type {number[] | undefined} */ vector, /** @type {number} */ length, value = 0) => vector ?? Array(length).fill(value);
  const matrix = (/** @type {number[][]} */ rows) => floats(rows.flat(), [rows.length, rows[0].length]);
  const [features, width, longest] = [x[0].length, w_v[0].length, Math.max(x.length, memory.length)];
  const channels = w_q[0].length / heads;
  const w_o = request.w_o ?? Array.from({ length: width }, (_, row) => filled(undefined, width).with(row, 1));
  /** @type {LabTensors} */
  const inputs = {
    x: matrix(x),
    real: new ort.Tensor("bool", Uint8Array.from(filled(request.padding, memory.length), (padded) => Number(!padded)), [memory.length]),
    window: new ort.Tensor("int64", BigInt64Array.of(BigInt(request.window ?? longest)), []),
    w_o: floats(w_o.flat(), [heads, width / heads, w_o[0].length]),
    b_o: floats(filled(request.b_o, w_o[0].length), [w_o[0].length]),
    ones: floats(filled(undefined, features, 1), [features]),
    zeros: floats(filled(undefined, features), [features]),
    epsilon: floats([request.epsilon ?? EPSILON], []),
    pi: relativeTable(floats, request.relative, longest),
  };
  if (request.memory) inputs.memory = matrix(memory);
  for (const letter of ["q", "k", "v"]) {
    const rows = request[`w_${letter}`];
    const shape = [heads, rows[0].length / heads];
    inputs[`w_${letter}`] = floats(rows.flat(), [rows.length, ...shape]);
    inputs[`b_${letter}`] = floats(filled(request[`b_${letter}`], rows[0].length), shape);
  }
  for (const name of ["w", "b"]) {
    const vector = filled(request[name], channels);
    inputs[name] = floats(vector.length === channels ? Array(heads).fill(vector).flat() : vector, [heads, channels]);
  }
  for (const letters of ["", "ffn_"]) {
    inputs[`${letters}gamma`] = floats(filled(request[`${letters}gamma`], features, 1), [features]);
    inputs[`${letters}beta`] = floats(filled(request[`${letters}beta`], features), [features]);
  }
  for (const layer of ["1", "2"].filter((number) => request[`w_${number}`])) {
    const rows = request[`w_${layer}`];
    inputs[`w_${layer}`] = matrix(rows);
    inputs[`b_${layer}`] = floats(filled(request[`b_${layer}`], rows[0].length), [rows[0].length]);
  }
  if (request.w_vocab) inputs.w_vocab = matrix(request.w_vocab);
  if (request.targets) {
    inputs.targets = new ort.Tensor("int64", BigInt64Array.from(request.targets, BigInt), [request.targets.length]);
    inputs.smoothing = floats([request.label_smoothing ?? 0], []);
  }
  return inputs;
}

/**
 * A number for each offset of a key from its query, from the least to the largest.
 * @param {(values: Iterable<number>, shape: number[]) => OrtTensor} floats
 * @param {{add?: Record<string, number>, multiply?: Record<string, number>, clip?: number} | undefined} relative
 * @param {number} length  positions
 */
function relativeTable(floats, relative, length) {
  const largest = relative ? Math.min(length - 1, relative.clip ?? length) : 0;
  const values = Array.from({ length: 2 * largest + 1 }, (_, column) => relative?.add?.[column - largest] ?? relative?.multiply?.[column - largest] ?? (relative?.multiply ? 1 : 0));
  return floats(values, [1, values.length]);
}

/**
 * @param {string} folder  the address of the stages, which ends in a slash
 * @param {(path: string) => Promise<Response>} read
 * @param {import("./local-model.js").Runtime} ort
 */
export async function openLab(folder, read, ort) {
  const file = async (/** @type {string} */ name) => {
    const response = await read(folder + name);
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return response;
  };
  const open = async (/** @type {string} */ stage) => ort.InferenceSession.create(new Uint8Array(await (await file(`${stage}.onnx`)).arrayBuffer()), OPTIONS);
  return createLab(ort, await (await file("stages.json")).json(), open);
}
