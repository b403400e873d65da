/** The page's side of the worker that runs the model (pages/model-worker.js). */

import { Problem } from "../core/wire/reply.js";

/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @import { Trace } from "../core/wire/safetensors.js" */
/** @import { Loading } from "./local-model.js" */
/** @typedef {{id: number, reply?: any, line?: any, loading?: Loading, problem?: {kind: string, detail: string, field: string, excess: any}, error?: string}} Told */
/** @typedef {{open?: string, request?: object, stream?: {path: string, body: object}, lab?: {folder: string, request: object}}} Message  lab: attention by hand, and the folder of its stages */
/** @typedef {{resolve: (reply: any) => void, reject: (error: unknown) => void, hear?: (line: any) => void}} Waiting */

/**
 * A model whose worker starts at the first request to it.
 * @param {ModelInfo} description
 * @param {() => ReturnType<typeof createWorkerModel>} start
 * @returns {import("../core/store/data-sources.js").RunningModel}
 */
export function startedLater(description, start) {
  /** @type {ReturnType<typeof createWorkerModel> | null} */
  let model = null;
  const started = () => (model ??= start());
  return {
    description,
    trace: (request, signal) => started().trace(request, signal),
    lines: (path, body, signal) => started().lines(path, body, signal),
  };
}

/**
 * A worker as a function that asks it.
 * @param {Pick<Worker, "addEventListener" | "postMessage">} worker
 * @param {(loading: Loading) => void} [onLoading]
 */
function createAsker(worker, onLoading = () => {}) {
  /** @type {Map<number, Waiting>} */
  const waiting = new Map();
  let count = 0;

  worker.addEventListener("message", ({ data }) => {
    const { id, reply, line, loading, problem, error } = /** @type {Told} */ (data);
    const request = waiting.get(id);
    if (loading) return request && onLoading(loading); // files still come after one of them has failed
    if (line) return request?.hear?.(line);
    waiting.delete(id);
    if (problem) request?.reject(new Problem(problem.kind, problem));
    else if (error !== undefined) request?.reject(new Problem("unexpected", { detail: error }));
    else request?.resolve(reply);
  });
  worker.addEventListener("error", (event) => {
    for (const { reject } of waiting.values()) reject(new Problem("unexpected", { detail: event.message || "this browser cannot run the model" }));
    waiting.clear();
  });

  /**
   * @param {Message} message
   * @param {AbortSignal} [signal]
   * @param {(line: any) => void} [hear]  of a stream
   * @returns {Promise<any>}
   */
  return (message, signal, hear) => {
    const id = ++count;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, hear });
      signal?.addEventListener("abort", () => {
        waiting.delete(id);
        worker.postMessage({ id, cancel: true });
        reject(signal.reason);
      }, { once: true });
      worker.postMessage({ id, ...message });
    });
  };
}

/** A worker of a site. */
export const startWorker = () => new Worker("model-worker.js", { type: "module" });

/** The stages of attention by hand, beside the page. */
const STAGES = "lab/";

/**
 * Attention by hand in a site, in a worker that starts at the first request.
 * @returns {(request: object, signal?: AbortSignal) => Promise<import("../lab/steps.js").Answer>}  as POST /api/lab replies
 */
export function createSiteLab() {
  /** @type {ReturnType<typeof createAsker> | null} */
  let ask = null;
  return (request, signal) => (ask ??= createAsker(startWorker()))({ lab: { folder: STAGES, request } }, signal);
}

/**
 * @param {Pick<Worker, "addEventListener" | "postMessage">} worker
 * @param {string} folder  the address of the exported model
 * @param {ModelInfo} description
 * @param {(loading: Loading | null) => void} onLoading  null: everything has come
 */
export function createWorkerModel(worker, folder, description, onLoading) {
  const ask = createAsker(worker, onLoading);
  const opened = ask({ open: folder }).then(() => onLoading(null));
  opened.catch(() => onLoading(null));
  return {
    description,
    opened,

    /** @param {object} request  as the API takes it @param {AbortSignal} [signal] @returns {Promise<Trace>} */
    async trace(request, signal) {
      await opened;
      return ask({ request }, signal);
    },

    /**
     * Lines of a long computation as they arrive.
     * @param {string} path  of the API
     * @param {object} body
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<any, void, void>}
     */
    async *lines(path, body, signal) {
      await opened;
      const controller = new AbortController();
      const stop = AbortSignal.any([controller.signal, ...(signal ? [signal] : [])]);
      /** @type {any[]} */
      const waitingLines = [];
      let wake = () => {};
      let ended = false;
      const done = ask({ stream: { path, body } }, stop, (line) => {
        waitingLines.push(line);
        wake();
      }).finally(() => {
        ended = true;
        wake();
      });
      done.catch(() => {});
      try {
        while (!ended || waitingLines.length) {
          if (waitingLines.length) yield waitingLines.shift();
          else await new Promise((resolve) => (wake = () => resolve(undefined)));
        }
        await done;
      } finally {
        if (!ended) controller.abort();
      }
    },
  };
}
