/** Opens an exported model (docs/site.md): its files are fetched, its graphs opened once. */

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
 * @param {(loading: Loading) => void} onLoading
 * @param {Libraries} [libraries]
 */
export async function openLocalModel(folder, onLoading, { ort, tokenizers } = /** @type {any} */ (globalThis)) {
  const files = loader(folder, onLoading);
  const [graphs, tokenizer, weights, encoder, decoder] = await Promise.all(["graphs.json", "tokenizer.json", WEIGHTS, "encoder.onnx", "decoder.onnx"].map(files));
  const described = JSON.parse(new TextDecoder().decode(graphs));
  const pieces = JSON.parse(new TextDecoder().decode(tokenizer));
  /** @param {Uint8Array} graph */
  const open = (graph) => ort.InferenceSession.create(graph, { executionProviders: ["wasm"], externalData: [{ path: WEIGHTS, data: weights }] });
  /** @type {{encoder: GraphDescription, decoder: GraphDescription}} */
  const { encoder: reads, decoder: writes } = described.graphs;
  const sizes = sizesOf(described);
  const passes = createPasses(ort, { encoder: { session: await open(encoder), description: reads }, decoder: { session: await open(decoder), description: writes }, ...sizes });
  const text = createTokenizer(new tokenizers.Tokenizer(pieces, {}), pieces.model.vocab, described.text);
  const { id, digest, directions, max_tokens: maxTokens } = described;
  return createRun({ id, digest, directions, maxTokens, text: described.text, outputs: { encoder: reads.outputs, decoder: writes.outputs } }, text, passes);
}

/** @param {any} described  graphs.json */
function sizesOf({ heads, widths, means }) {
  return { heads, widths, means: Object.fromEntries(Object.entries(means).map(([name, values]) => [name, Float32Array.from(/** @type {number[]} */ (values))])) };
}

/**
 * Fetches files; reports how many bytes of all have come.
 * @param {string} folder
 * @param {(loading: Loading) => void} onLoading
 */
function loader(folder, onLoading) {
  let [loaded, of] = [0, 0];
  return async (/** @type {string} */ name) => {
    const response = await fetch(folder + name);
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
