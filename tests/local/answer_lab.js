/**
 * Answers requests of attention by hand by the exported stages, as the page's worker does: `node
 * answer_lab.js FOLDER`. It reads requests, one a line, and writes a reply for each.
 */

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { openLab } from "../../static/js/local/lab-stages.js";

const [folder] = process.argv.slice(2);
const runtime = "onnxruntime-web/wasm"; // not by name: only where it is installed has TypeScript its types
const ort = await import(runtime);
ort.env.wasm.numThreads = 1;
const lab = await openLab(`${folder}/`, async (path) => new Response(new Uint8Array(await readFile(path))), ort);
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await lab(JSON.parse(line))));
