/** The only file that touches the network. Every failure is thrown as a Problem. */

import { Problem, connectionProblem, failure, json, sound, split } from "./reply.js";

/** How often a busy server asks to be sent a sentence: its replies say for how long to leave it to others. */

const HEADER = "Headlight-Pace";

/** @typedef {ReturnType<typeof createPace>} Pace */

/** @param {() => number} [now]  in milliseconds */
export function createPace(now = () => performance.now()) {
  let until = 0;
  let busy = false;
  return {
    /** Take the pace from a reply; the newest counts. @param {Pick<Response, "headers">} reply  to a POST */
    hear({ headers }) {
      const seconds = Number(headers.get(HEADER)) || 0;
      busy = seconds > 0;
      until = now() + seconds * 1000;
    },

    /** Whether the server asked for it last time. */
    busy: () => busy,

    /** The milliseconds after which to send the next sentence. */
    left: () => Math.max(0, until - now()),
  };
}

/** The server's clock, in seconds, from the `Date` of its replies: that of a phone may be wrong. */
export function createServerClock(now = () => Date.now()) {
  let ahead = 0;
  return {
    /** @param {Pick<Response, "headers">} reply */
    hear({ headers }) {
      const time = Date.parse(headers.get("Date") ?? "");
      if (Number.isFinite(time)) ahead = time + HALF_SECOND - now();
    },
    now: () => (now() + ahead) / 1000,
  };
}

/** A `Date` is cut to whole seconds. */
const HALF_SECOND = 500;

/** @typedef {ReturnType<typeof connect>} Connection */
/** @typedef {{limit: number, unit: string, value?: number, fits?: number}} Excess  more than is taken at most; fits: code points within the limit */

const URN = "urn:headlight:";
const LINES = "application/x-ndjson";
const EVENTS = "text/event-stream";
/** Distinguishes the pages of a class behind one address, so that each gets its turn. */
const PAGE = pageToken();

/** A random token that survives a reload, if the browser allows storage. */
function pageToken() {
  const fresh = crypto.getRandomValues(new Uint32Array(2)).join("-");
  try {
    const token = sessionStorage.getItem("client") ?? fresh;
    sessionStorage.setItem("client", token);
    return token;
  } catch {
    return fresh;
  }
}

/** @param {typeof globalThis.fetch} [fetchReply]  absent: to this page's server */
export function connect(fetchReply = (...request) => fetch(...request)) {
  const pace = createPace();
  const clock = createServerClock();
  /** @param {string} path @param {RequestInit} [init] */
  async function ask(path, init) {
    const response = await fetchReply(path, init).catch(connectionProblem);
    if (init?.method === "POST") pace.hear(response);
    clock.hear(response);
    if (!response.ok) throw await problem(response);
    return response;
  }
  /** @param {string} path @param {AbortSignal} [signal] */
  const read = async (path, signal) => json(await ask(path, { signal }));
  /**
   * @param {string} path @param {object} body @param {string} accept @param {AbortSignal} [signal]
   * @param {{method?: string, headers?: Record<string, string>}} [options]
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
   * Yield the lines of a reply as they arrive; leaving the loop cancels the work on the server.
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<any, void, void>}  one document per line; a Problem is thrown if the
   *   stream reports an error or ends in the middle of a line
   */
  const lines = async function* (path, body, signal) {
    yield* documents(await send(path, body, LINES, signal));
  };

  /**
   * The same for events of work that runs independently; leaving the loop does not stop that work.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<any, void, void>}
   */
  const follow = async function* (path, signal) {
    yield* documents(await ask(path, { headers: { Accept: LINES }, signal }));
  };

  /**
   * Server-sent events; leaving the loop closes the stream.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<any, void, void>}  the data of each event; null for a comment, which
   *   only shows that the connection is alive
   */
  const events = async function* (path, signal) {
    const response = await ask(path, { headers: { Accept: EVENTS }, signal });
    if (!response.body) return;
    for await (const line of split(response.body)) {
      if (line.startsWith(":")) yield null;
      if (line.startsWith("data:")) yield sound(() => JSON.parse(line.slice("data:".length)));
    }
  };

  /** @param {Response} response @returns {AsyncGenerator<any, void, void>} */
  async function* documents(response) {
    if (!response.body) return;
    for await (const line of split(response.body)) {
      const document = sound(() => JSON.parse(line));
      if (document.error) throw problemFrom(document.error);
      yield document;
    }
  }

  return { ask, read, send, lines, follow, events, pace, clock };
}

/** @param {Response} response */
async function problem(response) {
  const document = await response.json().catch(() => ({}));
  return problemFrom(document, Number(response.headers.get("Retry-After")) || null);
}

/**
 * @param {any} document  in the format of RFC 9457
 * @param {number | null} [retryAfter]  in seconds
 */
function problemFrom(document, retryAfter = null) {
  return new Problem(String(document.type ?? "").replace(URN, "") || "internal", {
    detail: document.detail,
    field: document.field,
    retryAfter,
    excess: document.limit === undefined ? null : document,
  });
}

// Sending requests: a newer request cancels the older one, a late reply is dropped, a busy server
// is retried, and every failure is returned as a Problem.

/** How often to retry; a busy server, which says when it will have time, is retried until it answers. */
const TRIES = 3;
/**
 * The longest wait before a retry, in seconds; if the server asks for more, the page says so and
 * offers to try again.
 */
const PATIENCE = 30;

/** @typedef {ReturnType<typeof createAsker>} Asker */

/** Send one request at a time. */
export function createAsker() {
  let controller = new AbortController();
  return {
    /** Cancel the current request; its reply is ignored. */
    stop: () => controller.abort(),

    /**
     * @template T
     * @param {(signal: AbortSignal) => Promise<T>} question  called once per attempt
     * @param {(problem: Problem) => void} [meanwhile]  called with each problem that is retried
     * @returns {Promise<T | Problem | null>}  null: cancelled
     */
    async ask(question, meanwhile = () => {}) {
      controller.abort();
      const { signal } = (controller = new AbortController());
      for (let triesLeft = TRIES; ; ) {
        const answer = await attempt(question, signal);
        if (signal.aborted) return null;
        if (!(answer instanceof Problem) || !answer.retryAfter) return answer;
        if (triesLeft === 0 || answer.retryAfter > PATIENCE) return answer.final();
        if (answer.kind !== "busy") triesLeft--;
        meanwhile(answer);
        await pause(answer.retryAfter * 1000, signal);
        if (signal.aborted) return null;
      }
    },
  };
}

/** @template T @param {(signal: AbortSignal) => Promise<T>} question @param {AbortSignal} signal */
async function attempt(question, signal) {
  try {
    return await question(signal);
  } catch (error) {
    return signal.aborted ? null : failure(error);
  }
}

/** @param {number} milliseconds @param {AbortSignal} signal  Ends it early. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });
}

/**
 * Requests of which the next waits until the last is answered.
 * @param {(busy: boolean) => void} turned  told before a request, and when it is answered
 * @returns {<T>(request: () => Promise<T>) => Promise<T | Problem | null>}  null: another is under way
 */
export function createRequestLock(turned) {
  let busy = false;
  return async (request) => {
    if (busy) return null;
    turned((busy = true));
    const answer = await request().catch(failure);
    turned((busy = false));
    return answer;
  };
}
