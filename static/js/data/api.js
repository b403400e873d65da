/** The one file that touches the network. Whatever goes wrong comes out as a Problem. */

import { completed } from "./model.js";
import { Problem } from "./problem.js";
import { learningPath, told as stated } from "./request.js";
import { cut, json, sound, split, tensors } from "./reply.js";
import { readBeside, readSafetensors } from "./wire.js";

/** @typedef {import("./wire.js").Trace} Trace */
/** @typedef {import("../state/link.js").State} State */
/** @typedef {import("./model.js").ModelInfo} ModelInfo */
/** @typedef {{variant: string, length: number, d_model: number, positions: Float32Array, similarity: Float32Array}} Positions */
/** @typedef {{id: string, state: Record<string, unknown>, created: string, model: ModelInfo, asks: import("../state/questions.js").Question[], trace: Trace}} Share */
/** @typedef {{limit: number, unit: string, value?: number}} Excess  more than is taken at most */
/** @typedef {ReturnType<typeof createApi>} Api */

const URN = "urn:headlight:";
const BINARY = "application/octet-stream";
const LINES = "application/x-ndjson";

/** @param {typeof globalThis.fetch} fetch */
export function createApi(fetch) {
  /** @type {Promise<ModelInfo[]> | null} */
  let models = null;
  /**
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<Response>}
   */
  async function ask(path, init) {
    const response = await fetch(path, init).catch(cut);
    if (!response.ok) throw await problem(response);
    return response;
  }
  /** @param {string} path @param {AbortSignal} [signal] */
  const read = async (path, signal) => json(await ask(path, { signal }));
  /** @param {string} path @param {object} body @param {string} accept @param {AbortSignal} [signal] */
  const send = (path, body, accept, signal) =>
    ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: accept },
      body: JSON.stringify(body),
      signal,
    });

  return {
    /**
     * What the interface says in another language; without it, it speaks English.
     * @param {string} url
     * @returns {Promise<import("../lib/i18n.js").Messages>}
     */
    catalog: (url) => (url ? read(url).catch(() => ({})) : Promise.resolve({})),

    /** @returns {Promise<ModelInfo[]>}  the first is the default; read once */
    models() {
      models ??= read("/api/models").then((told) => told.map(completed));
      models.catch(() => (models = null));
      return models;
    },

    /**
     * @param {object} request  as the API takes it
     * @param {AbortSignal} [signal]
     * @returns {Promise<Trace>}
     */
    async trace(request, signal) {
      const response = await send("/api/trace", request, BINARY, signal);
      return tensors(response);
    },

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
      const found = await read(`/api/positions?${query}`, signal);
      return sound(() => ({
        variant,
        length,
        d_model,
        positions: Float32Array.from(found.positions.flat()),
        similarity: Float32Array.from(found.similarity.flat()),
      }));
    },

    /**
     * @param {{model: string, select: string[]}} wanted
     * @param {AbortSignal} [signal]
     * @returns {Promise<Record<string, import("./wire.js").Tensor>>}
     */
    async parameters({ model, select }, signal) {
      const path = `/api/models/${encodeURIComponent(model)}/parameters`;
      const query = new URLSearchParams({ select: select.join(",") });
      const response = await ask(`${path}?${query}`, { headers: { Accept: BINARY }, signal });
      return (await tensors(response)).tensors;
    },

    /**
     * A sentence at every step of the training that was kept.
     * @param {{model: string, example: number}} wanted
     * @param {AbortSignal} [signal]
     * @returns {Promise<import("../state/training-history.js").Learned>}
     */
    async learning(wanted, signal) {
      const response = await ask(learningPath(wanted), { headers: { Accept: BINARY }, signal });
      return /** @type {any} */ (await tensors(response));
    },

    /**
     * @param {import("../state/questions.js").Question} question
     * @param {AbortSignal} [signal]
     * @returns {Promise<import("../state/questions.js").Answer>}
     */
    answer(question, signal) {
      if ("trace" in question) return this.trace(question.trace, signal);
      if ("parameters" in question) return this.parameters(question.parameters, signal);
      if ("learning" in question) return this.learning(question.learning, signal);
      return this.positions(question.positions, signal);
    },

    /**
     * @param {{state: object, select: string[], asks: import("../state/questions.js").Question[]}} body
     * @returns {Promise<{id: string, url: string}>}
     */
    share: async (body) => json(await send("/api/shares", body, "application/json")),

    /**
     * @param {string} id
     * @returns {Promise<Share>}
     */
    async readShare(id) {
      const response = await ask(`/api/shares/${encodeURIComponent(id)}`, {
        headers: { Accept: BINARY },
      });
      const file = await response.arrayBuffer().catch(cut);
      return sound(() => {
        const share = readBeside(file, "share");
        const model = completed(share.model);
        return { ...share, model, state: stated(model, share.state), trace: readSafetensors(file) };
      });
    },

    /**
     * The frozen answer to one of a share's further questions.
     * @param {Share} share
     * @param {number} n  its place among them
     * @returns {Promise<import("../state/questions.js").Answer>}
     */
    async readAnswer({ id, asks }, n) {
      const response = await ask(`/api/shares/${encodeURIComponent(id)}/asks/${n}`, {
        headers: { Accept: BINARY },
      });
      const file = await tensors(response);
      return "parameters" in asks[n] ? file.tensors : file;
    },

    /**
     * What the server says a line at a time, as it says it; leaving the loop stops the work.
     * @param {string} path
     * @param {object} body
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<any, void, void>}  documents, one a line; a Problem is thrown where
     *   the stream says that it failed, or ends in the middle of a line
     */
    async *lines(path, body, signal) {
      const response = await send(path, body, LINES, signal);
      if (!response.body) return;
      for await (const line of split(response.body)) {
        const said = sound(() => JSON.parse(line));
        if (said.error) throw told(said.error);
        yield said;
      }
    },

    /**
     * What the server answers, as a file to keep.
     * @param {string} path
     * @param {{body?: object, accept?: string}} [asked]  without a body it is read
     * @returns {Promise<Blob>}
     */
    async file(path, { body, accept = "*/*" } = {}) {
      const headers = { Accept: accept };
      return (await (body ? send(path, body, accept) : ask(path, { headers }))).blob().catch(cut);
    },
  };
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problem(response) {
  const document = await response.json().catch(() => ({}));
  return told(document, Number(response.headers.get("Retry-After")) || null);
}

/**
 * @param {any} document  as RFC 9457 has it
 * @param {number | null} [retryAfter]  in seconds
 */
function told(document, retryAfter = null) {
  return new Problem(String(document.type ?? "").replace(URN, "") || "internal", {
    detail: document.detail,
    field: document.field,
    retryAfter,
    excess: document.limit === undefined ? null : document,
  });
}
