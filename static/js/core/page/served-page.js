/** A page of the server: its requests, its language and theme, and a line for what went wrong. */

import { find } from "../../lib/dom.js";
import { problemLine } from "../figure/figure-status.js";
import { createApi } from "../wire/api.js";
import { createAsker } from "../wire/connection.js";
import { Problem } from "../wire/reply.js";
import { bindTheme, createPageContext } from "./page-context.js";

/**
 * @param {object} addresses
 * @param {string} addresses.catalog
 * @param {string} [addresses.plotly]  absent: not available
 * @param {import("../wire/api.js").Api} [api]  absent: of this page's server
 */
export async function openPage({ catalog, plotly }, api = createApi()) {
  const page = createPageContext(window, { plotly, messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  return { api, page };
}

/** @typedef {Awaited<ReturnType<typeof openRequestingPage>>} RequestingPage */

/** A page that shows what it requests, and says why a request failed. @param {{catalog: string, plotly: string}} addresses */
export async function openRequestingPage(addresses) {
  const { api, page } = await openPage(addresses);
  const asker = createAsker();
  let again = () => {};
  const failed = problemLine(page, () => again());
  document.querySelector("#problem")?.replaceWith(failed.element);

  /**
   * Send a request in place of the last one, and say why it failed, with a button that sends it again.
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} question
   * @param {(reply: T) => void} onReply
   */
  async function ask(question, onReply) {
    const reply = await asker.ask(question, failed.show);
    if (reply === null) return;
    fail(reply instanceof Problem ? reply : null, () => void ask(question, onReply));
    if (!(reply instanceof Problem)) onReply(reply);
  }

  /** @param {Problem | null} problem @param {() => void} retry */
  function fail(problem, retry) {
    again = retry;
    failed.show(problem);
  }

  return { api, page, ask, fail };
}
