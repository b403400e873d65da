/** Requests about training runs. */

import { completed } from "./model.js";
import { json, tensors } from "./reply.js";

/** @import { ModelInfo } from "./model.js" */
/** @typedef {Record<string, string | number | null>} Options  as `POST /api/runs` takes them */
/** @typedef {"queued" | "starting" | "running" | "paused" | "finished" | "stopped" | "failed"} RunState */
/** @typedef {{unit: string, shortest: number, usual: number, most: number, example: string[]}} Task */
/**
 * @typedef {object} Offered  what this server can train
 * @property {number} training  number of running runs
 * @property {number} waiting
 * @property {number} minutes
 * @property {Options} defaults
 * @property {Record<string, Task>} tasks
 * @property {Record<string, {low: number, high: number}>} ranges
 */
/**
 * @typedef {object} Snapshot
 * @property {number} step
 * @property {number | null} loss  null: no longer a number
 * @property {number} accuracy
 * @property {number} seconds
 * @property {string[]} written  the answer to each probe
 */
/**
 * @typedef {object} RunInfo
 * @property {string} id
 * @property {RunState} state
 * @property {string | null} why
 * @property {number | null} place
 * @property {number} step
 * @property {Options} options
 * @property {number} learning_rate
 * @property {{id: string, step: number} | null} parent
 * @property {number} events
 * @property {ModelInfo | null} model
 * @property {{source: string, target: string}[]} probes
 * @property {Snapshot[]} snapshots
 */
/** @typedef {{id: string, url: string, key: string}} Created */
/** @typedef {{id: string, name: string, key: string, url: string}} Kept  key: what deletes it */

const JSON_TYPE = "application/json";

/** @param {import("./connection.js").Connection} connection */
export function trainingRuns({ ask, read, send, follow }) {
  const path = (/** @type {string} */ id) => `/api/runs/${encodeURIComponent(id)}`;
  return {
    /** @returns {Promise<Offered>} */
    offeredRuns: () => read("/api/runs"),

    /** @param {Options} options @returns {Promise<Created>} */
    startRun: async (options) => json(await send("/api/runs", options, JSON_TYPE)),

    /** @param {string} id @returns {Promise<RunInfo>} */
    async readRun(id) {
      const told = await read(path(id));
      return { ...told, model: told.model && completed(told.model) };
    },

    /**
     * Events from number `since` on, then new ones as they happen.
     * @param {string} id
     * @param {number} since
     * @param {AbortSignal} signal
     * @returns {AsyncGenerator<any, void, void>}
     */
    runEvents: (id, since, signal) => follow(`${path(id)}/events?since=${since}`, signal),

    /** @param {string} id @param {number} step @param {number} probe @param {AbortSignal} [signal] */
    async runSnapshot(id, step, probe, signal) {
      const headers = { Accept: "application/octet-stream" };
      return tensors(await ask(`${path(id)}/snapshots/${step}?probe=${probe}`, { headers, signal }));
    },

    /** @param {string} id @param {string} key @param {object} change @returns {Promise<RunInfo>} */
    changeRun: async (id, key, change) =>
      json(await send(path(id), change, JSON_TYPE, undefined, { method: "PATCH", headers: { "Run-Key": key } })),

    /** @param {string} id @param {{step: number, options: Options}} from @returns {Promise<Created>} */
    forkRun: async (id, from) => json(await send(`${path(id)}/fork`, from, JSON_TYPE)),

    /** @param {string} id @param {string} key @param {{step: number, name?: string}} what @returns {Promise<Kept>} */
    keepRun: async (id, key, what) =>
      json(await send(`${path(id)}/keep`, what, JSON_TYPE, undefined, { headers: { "Run-Key": key } })),

    /** @param {string} id @param {string} key  as it was told when the model was kept */
    async deleteModel(id, key) {
      await ask(`/api/models/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Model-Key": key } });
    },
  };
}
