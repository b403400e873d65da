/**
 * Answers requests by an exported model, as the page's worker does: `node answer_requests.js FOLDER`.
 * Each line that it reads is a list of requests; each that it writes, the list of their replies.
 */

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { local } from "../../static/js/core/store/data-sources.js";
import { openLocalModel } from "../../static/js/local/local-model.js";
import { Problem } from "../../static/js/core/wire/reply.js";

const [folder] = process.argv.slice(2);
// Not by name: only where the page's libraries are installed has TypeScript their types.
const [runtime, library] = ["onnxruntime-web/wasm", "@huggingface/tokenizers"];
const [ort, tokenizers] = await Promise.all([import(runtime), import(library)]);
ort.env.wasm.numThreads = 1;
/** @param {string} path */
const fetchFile = async (path) => {
  const content = await readFile(path);
  return new Response(new Uint8Array(content), { headers: { "content-length": String(content.length) } });
};

const model = await openLocalModel(`${folder}/`, fetchFile, () => {}, { ort, tokenizers });
/** @param {AsyncIterable<any>} lines */
async function linesOf(lines) {
  const all = [];
  for await (const line of lines) all.push(line);
  return all;
}

/** @param {any} request */
function replied(request) {
  const { path, ...body } = request;
  if (request.positions) return local(/** @type {any} */ ({ ...model, description: {} })).answer(request);
  return path ? linesOf(model.lines(path, body)) : model.trace(request);
}

/** @param {any} request */
function answer(request) {
  return replied(request).catch((problem) => {
    if (!(problem instanceof Problem)) throw problem;
    return { problem: problem.kind, detail: problem.detail, excess: problem.excess };
  });
}
const plain = (/** @type {string} */ _, /** @type {any} */ value) => (ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value), (number) => (Number.isFinite(number) ? number : String(number))) : value);
for await (const line of createInterface({ input: process.stdin })) {
  const replies = [];
  for (const request of JSON.parse(line)) replies.push(await answer(request));
  process.stdout.write(`${JSON.stringify(replies, plain)}\n`);
}
