/**
 * The model of a site: opened once the first picture is drawn, from a run that came with the page. A
 * browser that cannot run the model keeps that run.
 */

import { aligningHead } from "../core/store/highlight.js";
import { frozen, local } from "../core/store/data-sources.js";
import { REQUEST_KEYS, mergeStates } from "../core/store/link.js";
import { OPTIONS } from "../views/index.js";
import { whole } from "./model-files.js";
import { createWorkerModel, startWorker, startedLater } from "./worker-model.js";

/** @import { Api } from "../core/wire/api.js" */
/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { RunningModel, Source } from "../core/store/data-sources.js" */
/** @import { State } from "../core/store/link.js" */
/** @import { Loading } from "./local-model.js" */

/** The run that a page has before its model: its name as a share. */
export const OPENING = "opening";
/** A module with an instruction of WebAssembly SIMD, which ONNX Runtime needs. */
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

export const hasSimd = () => typeof WebAssembly === "object" && WebAssembly.validate(SIMD);

/** The address of a sentence at every saved step of a training, and the parts of its file's name. */
const LEARNING = /^\/api\/models\/([^/]+)\/learning\/(\d+)$/;

/**
 * A function in place of `fetch` that has the opening's run, and how a model was learned, at their
 * addresses beside the page.
 * @param {typeof globalThis.fetch} send
 * @param {string} [file]  of the opening's run
 * @returns {typeof globalThis.fetch}
 */
export const fetchFromSite = (send, file) => async (path, options) => {
  if (file && path === `/api/shares/${OPENING}`) return send(file, options);
  const learned = LEARNING.exec(String(path));
  if (!learned) return send(path, options);
  const response = await send(`${learned[1]}/learning-${learned[2]}.bin`, options);
  return response.ok ? new Response(await whole(new Uint8Array(await response.arrayBuffer()))) : response;
};

/** The address of a model's files. @param {ModelInfo} description */
export const folderOf = ({ id }) => `${id}/`;

/** A small model, which is loaded when it is chosen. @param {ModelInfo} description */
export const loadedWhenChosen = (description) => startedLater(description, () => createWorkerModel(startWorker(), folderOf(description), description, () => {}));

/** A worker that starts later; until then, what is posted waits. @param {Promise<Worker>} started */
const lateWorker = (started) => ({
  addEventListener: (/** @type {string} */ type, /** @type {(event: any) => void} */ listener) => void started.then((worker) => worker.addEventListener(type, listener)),
  postMessage: (/** @type {object} */ message) => void started.then((worker) => worker.postMessage(message)),
});

/**
 * @param {Api} api  of `fetchFromSite`
 * @param {{folder: string, description: ModelInfo, smallModels?: RunningModel[], initial: State, requested: Partial<State>, started: Promise<Worker>, onLoading: (loading: Loading | null) => void}} parts
 *   initial: the state of the opening; started: the worker, once it may start
 */
export function createSiteModel(api, { folder, description, smallModels = [], initial, requested, started, onLoading }) {
  const model = createWorkerModel(lateWorker(started), folder, description, onLoading);
  const running = local({ ...model, learning: api.learning }, ...smallModels);
  const isOpening = REQUEST_KEYS.every((key) => JSON.stringify(mergeStates(initial, requested)[key]) === JSON.stringify(initial[key]));
  const opening = frozen({ ...api, ...running, pace: api.pace }, { id: OPENING, initial, requested, options: OPTIONS });
  const without = frozen({ ...api, models: async () => [], answer: running.answer }, { id: OPENING, initial, requested: { options: requested.options }, options: OPTIONS });

  /** The opening's run is no share: nothing is said of one. @param {State} link @returns {Promise<Partial<Page>>} */
  async function open(link) {
    const { share: _, ...opened } = await opening.open?.(link) ?? {};
    const isFree = requested.layer === undefined && requested.head === undefined;
    const head = isFree && opened.link ? aligningHead(description, opened.link) : null;
    return { ...opened, link: { ...link, ...opened.link, ...head } };
  }

  return {
    isOpening,
    /** Fails if this browser cannot run the model, or it did not come. */
    opened: model.opened,
    /** @type {Source} */
    source: isOpening ? { ...opening, open, models: running.models } : running,
    /** Without the model: only the opening's run. @type {Source} */
    without,
  };
}
