/**
 * A notebook's kernel behind a handout: it answers what a server would, and its variables and the
 * figure follow each other. notebook-frame.js, which puts the handout into the notebook, relays both
 * over a port.
 */

import { DEFAULTS } from "../core/store/link.js";
import { changes } from "../core/store/interventions.js";

/** @import { PageServices } from "../workspace/main-figure.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Change } from "../core/store/interventions.js" */
/**
 * The state that a notebook sees.
 * @typedef {object} KernelState
 * @property {string} text
 * @property {string} block
 * @property {number | null} layer  null: the page chooses it
 * @property {number | null} head
 * @property {[number, number] | null} pinned  query and key
 * @property {Change[]} changes
 */
/** @typedef {{port: MessagePort, state: KernelState, models: object[]}} Greeting  models: empty if there is none to run */
/** @typedef {{id: number, status: number, type: string, body: ArrayBuffer}} Reply */

/**
 * Wait for the port of the frame that contains this page. Whoever sends it must know the nonce with
 * which the page was made.
 * @param {string} nonce
 * @returns {Promise<Greeting>}
 */
export function greeted(nonce) {
  return new Promise((resolve) => {
    /** @param {MessageEvent} event */
    function hear({ source, data, ports: [port] }) {
      if (source !== window.parent || data?.headlight !== nonce || !port) return;
      window.removeEventListener("message", hear);
      resolve({ port, state: data.state, models: data.models });
    }
    window.addEventListener("message", hear);
    window.parent.postMessage({ headlight: nonce }, "*");
  });
}

/**
 * A function in place of `fetch` that asks the kernel.
 * @param {Greeting} greeting
 * @param {(path: RequestInfo | URL) => Promise<Response>} read  reads what the page itself contains
 * @returns {typeof globalThis.fetch}
 */
export function kernelFetch({ port, models }, read) {
  /** @type {Map<number, (reply: Reply) => void>} */
  const open = new Map();
  let count = 0;
  port.addEventListener("message", ({ data: { reply } }) => {
    if (!reply) return;
    open.get(reply.id)?.(reply);
    open.delete(reply.id);
  });
  port.start();
  return async (path, { method = "GET", headers = {}, body, signal } = {}) => {
    const requestPath = String(path);
    if (requestPath.startsWith("/api/shares/")) return read(path);
    if (requestPath === "/api/models") return Response.json(models);
    if (!models.length) throw new TypeError("no model");
    const id = ++count;
    const accept = /** @type {Record<string, string>} */ (headers).Accept ?? "*/*";
    /** @type {Reply} */
    const reply = await new Promise((resolve, reject) => {
      open.set(id, resolve);
      signal?.addEventListener("abort", () => (open.delete(id), reject(signal.reason)), { once: true });
      port.postMessage({ ask: { id, path: requestPath, method, accept, body: body ?? null } });
    });
    return new Response(reply.body, { status: reply.status, headers: { "Content-Type": reply.type } });
  };
}

/** @param {Page} page @returns {KernelState} */
const stateOf = ({ link }) => ({
  text: link.source,
  block: link.block,
  layer: link.layer,
  head: link.head,
  pinned: link.query === null || link.key === null ? null : [link.query, link.key],
  changes: changes(link),
});

/**
 * The part of a link that a kernel's state determines.
 * @param {KernelState} state
 * @param {import("../core/store/link.js").State} link
 */
export const linkOf = ({ text, block, layer, head, pinned, changes: list }, link) => ({
  source: text,
  block: block || link.block,
  layer: layer ?? link.layer,
  head: head ?? link.head,
  query: pinned?.[0] ?? null,
  key: pinned?.[1] ?? null,
  interventions: list.length ? list : DEFAULTS.interventions,
});

/**
 * Let the figure and the kernel's state follow each other.
 * @param {PageServices} services
 * @param {Greeting} greeting
 */
export function bindKernel({ store }, { port, state: first }) {
  let sentState = "";

  /** @param {KernelState} state */
  function follow(state) {
    sentState = JSON.stringify(state);
    store.go(linkOf(state, store.get().link), "pushed");
  }

  // A change that the model refuses never becomes the kernel's.
  function report() {
    if (store.get().status !== "ready") return;
    const state = stateOf(store.get());
    if (JSON.stringify(state) === sentState) return;
    sentState = JSON.stringify(state);
    port.postMessage({ state });
  }

  port.addEventListener("message", ({ data: { state } }) => {
    if (state) follow(state);
  });
  follow(first);
  store.subscribe(({ link, status }) => [link, status], report);
  report();
}
