/**
 * A worker that runs the model, so that the page never stops. The first lines of the file that a site
 * has make the libraries `ort` and `tokenizers` global (app/site.py).
 */

import { Problem } from "../core/wire/reply.js";
import { openLab } from "../local/lab-stages.js";
import { openLocalModel } from "../local/local-model.js";
import { openRuntime, readerOf } from "../local/model-files.js";

/** @import { Libraries } from "../local/local-model.js" */
/** @import { TraceRequest } from "../local/local-run.js" */
/** @import { Message } from "../local/worker-model.js" */
/** @typedef {Message & {id: number, files?: Record<string, import("../lib/unpack-bytes.js").PackedFile>, cancel?: boolean}} Asked  files: of a page in one file, which has no host */

const { ort, tokenizers } = /** @type {Libraries} */ (/** @type {unknown} */ (globalThis));
/** @type {(path: string) => Promise<Response>} */
let read = (path) => fetch(path);

/** @type {ReturnType<typeof openLocalModel> | null} */
let opened = null;
/** @type {ReturnType<typeof openLab> | null} */
let openedLab = null;
/** @type {Map<number, AbortController>} */
const running = new Map();

/** @param {Asked} message */
async function reply({ id, open, request, stream, lab }) {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (open) {
      await openRuntime(ort, read);
      opened = openLocalModel(open, read, (loading) => self.postMessage({ id, loading }), { ort, tokenizers });
    }
    if (lab) {
      openedLab ??= openRuntime(ort, read).then(() => openLab(lab.folder, read, ort));
      const answer = await openedLab;
      return void self.postMessage({ id, reply: await answer(lab.request) });
    }
    const model = await opened;
    if (model && stream) for await (const line of model.lines(stream.path, stream.body, controller.signal)) self.postMessage({ id, line });
    self.postMessage({ id, reply: request ? await model?.trace(/** @type {TraceRequest} */ (request), controller.signal) : true });
  } catch (error) {
    if (error instanceof Problem) self.postMessage({ id, problem: { kind: error.kind, detail: error.detail, field: error.field, excess: error.excess } });
    else self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(id);
  }
}

self.addEventListener("message", ({ data }) => {
  const message = /** @type {Asked} */ (data);
  if (message.files) read = readerOf(message.files);
  else if (message.cancel) running.get(message.id)?.abort();
  else void reply(message);
});
