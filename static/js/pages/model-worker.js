/**
 * A worker that runs the model, so that the page never stops. `ort` and `tokenizers`, the libraries,
 * are made global by the file's first lines (app/site/site_files.py).
 */

import { Problem } from "../core/wire/problem.js";
import { openLocalModel } from "../local/local-model.js";

/** @typedef {{id: number, open?: string, request?: object, cancel?: boolean}} Asked */

/** @type {ReturnType<typeof openLocalModel> | null} */
let model = null;
/** @type {Map<number, AbortController>} */
const running = new Map();

self.addEventListener("message", async ({ data }) => {
  const { id, open, request, cancel } = /** @type {Asked} */ (data);
  if (cancel) return running.get(id)?.abort();
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (open) model = openLocalModel(open, (path) => fetch(path), (progress) => self.postMessage({ id, progress }), /** @type {any} */ (globalThis));
    const run = await /** @type {ReturnType<typeof openLocalModel>} */ (model);
    const reply = request ? await run.trace(/** @type {any} */ (request), controller.signal) : true;
    self.postMessage({ id, reply });
  } catch (error) {
    if (error instanceof Problem) self.postMessage({ id, problem: { ...error, kind: error.kind } });
    else self.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(id);
  }
});
