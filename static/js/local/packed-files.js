/** The files of a model that lie in the page itself, in the place of a host: `app/handouts/handout_with_model.py` writes them. */

import { packedFile } from "../lib/unpack-bytes.js";

/** @import { PackedFile } from "../lib/unpack-bytes.js" */

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
