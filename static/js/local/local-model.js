/** Opens an exported model (docs/site.md): its files are fetched, its graphs opened once. */

import { createDerived, createSummaries } from "./derived-tensors.js";
import { createPasses } from "./graph-passes.js";
import { createRun } from "./local-run.js";
import { createTokenizer } from "./tokenizer.js";

/** @import { GraphDescription } from "./graph-changes.js" */
/** @import { Ort } from "./graph-passes.js" */
/** @typedef {{loaded: number, of: number}} Loading  bytes */
/** @typedef {Ort & {InferenceSession: {create: (graph: Uint8Array, options: object) => Promise<any>}, env: {wasm: Record<string, any>}}} Runtime */
/** @typedef {{ort: Runtime, tokenizers: {Tokenizer: new (json: object, config: object) => import("./tokenizer.js").Pieces}}} Libraries */

const WEIGHTS = "weights.safetensors";

/**
 * @param {string} folder  its address, which ends in a slash
 * @param {(path: string) => Promise<Response>} read
 * @param {(loading: Loading) => void} onLoading
 * @param {Libraries} libraries
 */
export async function openLocalModel(folder, read, onLoading, { ort, tokenizers }) {
  const files = loader(folder, read, onLoading);
  const [description, tokenizer, weights] = await Promise.all([files("graphs.json").then(jsonOf), files("tokenizer.json").then(jsonOf), files(WEIGHTS)]);
  const { id, digest, directions, max_tokens: maxTokens, text, heads, widths, means } = description;
  const externalData = [{ path: WEIGHTS, data: weights }];
  const opened = Object.entries(/** @type {Record<string, GraphDescription>} */ (description.graphs)).map(async ([name, graph]) => {
    const session = await ort.InferenceSession.create(await files(`${name}.onnx`), { executionProviders: ["wasm"], externalData });
    return { session, description: graph, heads: heads[name], widths: { ...widths, channel: widths.channel[name] } };
  });
  const [reader, writer] = await Promise.all(opened);
  const numbers = Object.entries(/** @type {Record<string, number[]>} */ (means)).map(([name, values]) => [name, Float32Array.from(values)]);
  const typed = createTokenizer(new tokenizers.Tokenizer(tokenizer, {}), tokenizer.model.vocab, text);
  const passes = createPasses(ort, { reader, writer, means: Object.fromEntries(numbers) }, typed.control("<pad>").id);
  const summarised = createSummaries(ort, description.patterns, async (name) => ort.InferenceSession.create(await files(`${name}.onnx`), { executionProviders: ["wasm"] }));
  const derived = createDerived(ort, description.derived ?? {}, async (name) => ort.InferenceSession.create(await files(`${name}.onnx`), { executionProviders: ["wasm"], externalData }));
  return createRun({ id, digest, directions, maxTokens, heads, text, read: reader.description.outputs, written: writer.description.outputs }, typed, passes, summarised, derived);
}

/** @param {Uint8Array} bytes */
const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/**
 * Fetches files; reports how many bytes of all have come.
 * @param {string} folder
 * @param {(path: string) => Promise<Response>} read
 * @param {(loading: Loading) => void} onLoading
 */
function loader(folder, read, onLoading) {
  let [loaded, of] = [0, 0];
  return async (/** @type {string} */ name) => {
    const response = await read(folder + name);
    if (!response.ok || !response.body) throw new Error(`${name}: ${response.status}`);
    of += Number(response.headers.get("content-length") ?? 0);
    /** @type {Uint8Array[]} */
    const parts = [];
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      loaded += part.value.length;
      onLoading({ loaded, of: Math.max(of, loaded) });
    }
    return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (parts)).arrayBuffer());
  };
}
