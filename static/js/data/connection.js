/** The one file that touches the network. Whatever goes wrong comes out as a Problem. */

import { Problem } from "./problem.js";
import { cut, json, sound, split } from "./reply.js";

/** @typedef {ReturnType<typeof connect>} Connection */
/** @typedef {{limit: number, unit: string, value?: number}} Excess  more than is taken at most */

const URN = "urn:headlight:";
const LINES = "application/x-ndjson";
/** Tells the pages of a class behind one address apart, so that each has its turn. */
const PAGE = pageToken();

/** A random token that a reload keeps, where the browser lets a page keep anything. */
function pageToken() {
  const fresh = crypto.getRandomValues(new Uint32Array(2)).join("-");
  try {
    const kept = sessionStorage.getItem("client") ?? fresh;
    sessionStorage.setItem("client", kept);
    return kept;
  } catch {
    return fresh;
  }
}

/** @param {typeof globalThis.fetch} fetch */
export function connect(fetch) {
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
  /**
   * @param {string} path @param {object} body @param {string} accept @param {AbortSignal} [signal]
   * @param {{method?: string, headers?: Record<string, string>}} [more]
   */
  const send = (path, body, accept, signal, { method = "POST", headers = {} } = {}) =>
    ask(path, {
      method,
      headers: {
        "Content-Type": "application/json",
        Accept: accept,
        "Headlight-Client": PAGE,
        ...headers,
      },
      body: JSON.stringify(body),
      signal,
    });

  /**
   * What the server says a line at a time, as it says it; leaving the loop stops the work.
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<any, void, void>}  documents, one a line; a Problem is thrown where
   *   the stream says that it failed, or ends in the middle of a line
   */
  const lines = async function* (path, body, signal) {
    yield* said(await send(path, body, LINES, signal));
  };

  /**
   * The same of what happens on the server by itself; leaving the loop ends nothing there.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<any, void, void>}
   */
  const follow = async function* (path, signal) {
    yield* said(await ask(path, { headers: { Accept: LINES }, signal }));
  };

  /** @param {Response} response @returns {AsyncGenerator<any, void, void>} */
  async function* said(response) {
    if (!response.body) return;
    for await (const line of split(response.body)) {
      const document = sound(() => JSON.parse(line));
      if (document.error) throw told(document.error);
      yield document;
    }
  }

  return { ask, read, send, lines, follow };
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
