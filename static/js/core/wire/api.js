/** The requests that the server accepts. Every failure is thrown as a Problem. */

import { Problem, connectionProblem, json, sound, tensors, unpacked } from "./reply.js";
import { connect } from "./connection.js";
import { completed } from "./model-description.js";
import { learningPath } from "./request.js";
import { assignments, collections, headSurveys, rooms, studies, trainingRuns } from "./requests-by-subject.js";
import { sharedData } from "./frozen-replies.js";
import { readSafetensors } from "./safetensors.js";

/** @import { ZooReply, ZooExampleReply } from "./schemas.d.ts" */
/** @import { Trace } from "./safetensors.js" */
/** @import { ModelInfo } from "./model-description.js" */
/** @import { Connection } from "./connection.js" */
/** @import { Question, Kept, Answer } from "../store/view-requests.js" */
/** @typedef {{variant: string, length: number, d_model: number, positions: Float32Array, similarity: Float32Array}} Positions */
/** @typedef {{id: string, state: Record<string, unknown>, created: string, model: ModelInfo, asks: Kept[], trace: Trace, about?: import("./schemas.d.ts").About | null}} Share */
/** @typedef {ReturnType<typeof createApi>} Api */

const BINARY = "application/octet-stream";

/** @param {typeof globalThis.fetch} [fetchReply]  absent: to this page's server */
export function createApi(fetchReply) {
  const connection = connect(fetchReply);
  const api = { ...pageFiles(connection), ...models(connection), ...zoo(connection), ...runs(connection), ...shares(connection), ...sharedData(connection), ...collections(connection), ...assignments(connection), ...studies(connection), ...trainingRuns(connection), ...headSurveys(connection), ...rooms(connection) };
  return {
    ...api,
    pace: connection.pace,
    clock: connection.clock,

    /** @param {Question} question @param {AbortSignal} [signal] @returns {Promise<Answer>} */
    answer(question, signal) {
      if ("trace" in question) return api.trace(question.trace, signal);
      if ("parameters" in question) return api.parameters(question.parameters, signal);
      if ("learning" in question) return api.learning(question.learning, signal);
      return api.positions(question.positions, signal);
    },
  };
}

/** @param {Connection} connection */
function pageFiles({ ask, read, send }) {
  return {
    /**
     * The catalog of another language; if it cannot be loaded, the page is in English.
     * @param {string} url
     * @returns {Promise<import("../../lib/i18n.js").Messages>}
     */
    catalog: (url) => (url ? read(url).catch(() => ({})) : Promise.resolve({})),

    /**
     * The glossary; if it cannot be loaded, terms have no explanations.
     * @param {string} url
     * @returns {Promise<import("../page/glossary.js").Glossary>}
     */
    glossary: (url) => (url ? read(url).catch(() => ({})) : Promise.resolve({})),

    /**
     * The server's reply as a file.
     * @param {string} path
     * @param {{body?: object, accept?: string}} [options]  without a body, a GET request
     */
    async file(path, { body, accept = "*/*" } = {}) {
      const headers = { Accept: accept };
      return (await (body ? send(path, body, accept) : ask(path, { headers }))).blob().catch(connectionProblem);
    },
  };
}

/** @param {Connection} connection */
function models({ ask, read }) {
  /** @type {Promise<ModelInfo[]> | null} */
  let models = null;
  return {
    /** @returns {Promise<ModelInfo[]>}  the first is the default; read once */
    models() {
      models ??= read("/api/models").then((descriptions) => descriptions.map(completed));
      models.catch(() => (models = null));
      return models;
    },

    /** @param {{model: string, select: string[]}} selection @param {AbortSignal} [signal] */
    async parameters({ model, select }, signal) {
      const path = `/api/models/${encodeURIComponent(model)}/parameters`;
      const query = new URLSearchParams({ select: select.join(",") });
      const response = await ask(`${path}?${query}`, { headers: { Accept: BINARY }, signal });
      return (await tensors(response)).tensors;
    },

    /**
     * A sentence at every saved step of the training.
     * @param {{model: string, example: number}} sample
     * @param {AbortSignal} [signal]
     * @returns {Promise<import("../../views/training/training-history.js").Learned>}
     */
    async learning(sample, signal) {
      const response = await ask(learningPath(sample), { headers: { Accept: BINARY }, signal });
      return /** @type {any} */ (await tensors(response));
    },
  };
}

/** @param {Connection} connection */
function zoo({ read }) {
  return {
    /** @returns {Promise<ZooReply>}  tasks, and what was measured of the models that learned them */
    zoo: () => read("/api/zoo"),

    /**
     * An example with its right answer.
     * @param {string} task
     * @param {{length?: number, seed?: number}} choice
     * @param {AbortSignal} [signal]
     * @returns {Promise<ZooExampleReply>}
     */
    zooExample(task, { length, seed = 0 }, signal) {
      const query = new URLSearchParams({ seed: String(seed), ...(length !== undefined && { length: String(length) }) });
      return read(`/api/zoo/${task}/example?${query}`, signal);
    },

    /**
     * The right answer for a typed text.
     * @param {string} task
     * @param {string} source
     * @param {AbortSignal} [signal]
     * @returns {Promise<ZooExampleReply>}
     */
    zooAnswer: (task, source, signal) => read(`/api/zoo/${task}/answer?${new URLSearchParams({ source })}`, signal),
  };
}

/** @param {Connection} connection */
function runs({ read, send, lines }) {
  return {
    /**
     * @param {object} request  as the API takes it
     * @param {AbortSignal} [signal]
     */
    async trace(request, signal) {
      const response = await send("/api/trace", request, BINARY, signal);
      return tensors(response);
    },

    /**
     * All heads of a long text, pooled.
     * @param {object} request  as the API takes it
     * @param {AbortSignal} [signal]
     * @param {(progress: import("./long-texts.js").Progress) => void} [onProgress]  absent: no progress is requested
     */
    async overview(request, signal, onProgress) {
      if (!onProgress) return tensors(await send("/api/overview", request, BINARY, signal));
      let file = null;
      for await (const { progress, end } of lines("/api/overview", request, signal)) {
        if (progress) onProgress(progress);
        if (end) file = unpacked(end.file);
      }
      if (!file) throw new Problem("offline");
      const whole = file;
      return sound(() => readSafetensors(whole));
    },

    /**
     * A window of one head's weights.
     * @param {object} request  as the API takes it
     * @param {AbortSignal} [signal]
     */
    async tile(request, signal) {
      const { tensors: windows } = await tensors(await send("/api/tile", request, BINARY, signal));
      const [tile] = Object.values(windows);
      if (!tile) throw new Problem("garbled");
      return tile;
    },

    /**
     * Attention by hand.
     * @param {object} matrices  as the API takes them
     * @param {AbortSignal} [signal]
     * @returns {Promise<{steps: Record<string, any>, dims: Record<string, string[]>}>}
     */
    lab: async (matrices, signal) => json(await send("/api/lab", matrices, "application/json", signal)),

    /**
     * Why scores are divided by √dₖ.
     * @param {number} keys
     * @param {number} seed
     * @param {AbortSignal} [signal]
     * @returns {Promise<import("./schemas.d.ts").ScalingsReply>}
     */
    scaling: (keys, seed, signal) => read(`/api/lab/scaling?keys=${keys}&seed=${seed}`, signal),

    /**
     * @param {{variant: string, length: number, d_model: number}} table
     * @param {AbortSignal} [signal]
     * @returns {Promise<Positions>}
     */
    async positions({ variant, length, d_model }, signal) {
      const query = new URLSearchParams({
        variant,
        length: String(length),
        d_model: String(d_model),
      });
      const reply = await read(`/api/positions?${query}`, signal);
      return sound(() => ({
        variant,
        length,
        d_model,
        positions: Float32Array.from(reply.positions.flat()),
        similarity: Float32Array.from(reply.similarity.flat()),
      }));
    },

    lines,
  };
}

/** @param {Connection} connection */
function shares({ ask, send }) {
  return {
    /**
     * @param {{state: object, select?: string[], asks?: Kept[], tiles?: object[], about?: import("./schemas.d.ts").About}} body
     * @returns {Promise<{id: string, url: string, edit_key: string | null, expires: string | null}>}
     */
    share: async (body) => json(await send("/api/shares", body, "application/json")),

    /**
     * @param {string} id
     * @param {string} key  the edit key from when the share was created, as typed
     */
    async deleteShare(id, key) {
      const headers = { "Edit-Key": encodeURIComponent(key.trim()) };
      await ask(`/api/shares/${encodeURIComponent(id)}`, { method: "DELETE", headers });
    },

    /**
     * A share of attention by hand.
     * @param {string} id
     * @returns {Promise<import("../../lab/lab-link.js").LabShare>}
     */
    readLabShare: async (id) => json(await ask(`/api/shares/${encodeURIComponent(id)}`, { headers: { Accept: "application/json" } })),
  };
}
