/** Files of a model in the page: ONNX Runtime's WebAssembly, and those that lie in a handout. */

import { packedFile } from "../lib/unpack-bytes.js";

/** @import { PackedFile } from "../lib/unpack-bytes.js" */
/** @import { Runtime } from "./local-model.js" */

// ONNX Runtime's WebAssembly: compressed in a site, where a host may not compress it.

const WASM = "ort-wasm.bin";
const GZIP = [0x1f, 0x8b];
const MOST_THREADS = 4;

/**
 * How many threads run the model. Half of the cores, since a thread that waits for a busy core makes
 * all others wait; more than one needs memory that threads share, which browsers give to isolated pages.
 * @param {{crossOriginIsolated?: boolean, navigator: {hardwareConcurrency: number}}} scope
 */
const threads = ({ crossOriginIsolated, navigator }) => (crossOriginIsolated ? Math.max(1, Math.min(MOST_THREADS, Math.floor(navigator.hardwareConcurrency / 2))) : 1);

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

// The files of a model that lie in the page itself, in the place of a host:
// `app/handouts/service.py` writes them.

/** @param {ParentNode} root @returns {Record<string, PackedFile>}  by name */
export function filesOf(root) {
  const elements = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("script[data-file]"));
  return Object.fromEntries([...elements].map(({ dataset, textContent }) => [dataset.file ?? "", { text: textContent ?? "", width: Number(dataset.width) }]));
}

/**
 * A function in place of `fetch` that reads them.
 * @param {Record<string, PackedFile>} files
 * @returns {(path: string) => Promise<Response>}
 */
export const readerOf = (files) => async (path) => {
  if (!Object.hasOwn(files, path)) throw new Error(`${path} is not in this file`);
  const bytes = await packedFile(files[path]);
  return new Response(bytes, { headers: { "Content-Length": String(bytes.length) } });
};

/**
 * Start the worker that lies in the page, and give it the other files.
 * @param {Record<string, PackedFile>} files
 * @param {string} name  of the worker's script
 */
export async function startPackedWorker(files, name) {
  const { [name]: script, ...otherFiles } = files;
  const address = URL.createObjectURL(new Blob([await packedFile(script)], { type: "text/javascript" }));
  const worker = new Worker(address);
  worker.postMessage({ files: otherFiles });
  return worker;
}
