/** ONNX Runtime's WebAssembly: compressed in a site, where a host may not compress it. */

/** @import { Runtime } from "./local-model.js" */

const WASM = "ort-wasm.bin";
const GZIP = [0x1f, 0x8b];
const MOST_THREADS = 4;

/**
 * How many threads run the model. Half of the cores, since a thread that waits for a busy core makes
 * all others wait; more than one needs memory that threads share, which browsers give to isolated pages.
 * @param {{crossOriginIsolated?: boolean, navigator: {hardwareConcurrency: number}}} scope
 */
export const threads = ({ crossOriginIsolated, navigator }) => (crossOriginIsolated ? Math.max(1, Math.min(MOST_THREADS, Math.floor(navigator.hardwareConcurrency / 2))) : 1);

/**
 * @param {Runtime} ort
 * @param {(path: string) => Promise<Response>} read
 */
export async function openRuntime(ort, read) {
  const response = await read(WASM);
  if (!response.ok) throw new Error(`${WASM}: ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  ort.env.wasm.numThreads = threads(globalThis);
  ort.env.wasm.wasmBinary = await whole(bytes);
}

/** A file of a site as it was before it was compressed. @param {Uint8Array<ArrayBuffer>} bytes */
export const whole = async (bytes) => (isGzip(bytes) ? decompressed(bytes) : bytes);

/** Whether it is still compressed: a host that says so has it decompressed already. @param {Uint8Array} bytes */
const isGzip = (bytes) => GZIP.every((byte, index) => bytes[index] === byte);

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function decompressed(bytes) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
