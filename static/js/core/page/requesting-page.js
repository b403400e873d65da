/** A page that shows what it requests: its language, its theme, and a line for what went wrong. */

import { Problem } from "../wire/problem.js";
import { createAsker } from "../wire/retry.js";
import { find } from "../../lib/dom.js";
import { createPageContext } from "./page-context.js";
import { trouble } from "../figure/problem-line.js";
import { bindTheme } from "./theme-switch.js";

/** @typedef {Awaited<ReturnType<typeof openPage>>} RequestingPage */

/**
 * @param {Window} window
 * @param {import("../wire/api.js").Api} api
 * @param {{plotly: string, catalog: string}} addresses
 */
export async function openPage(window, api, { plotly, catalog }) {
  const messages = await api.catalog(catalog);
  const page = createPageContext(window, { plotly, messages, live: find("#announce") });
  const asker = createAsker();
  let again = () => {};
  const failed = trouble(page, () => again());
  document.querySelector("#problem")?.replaceWith(failed.element);
  bindTheme(window, /** @type {HTMLButtonElement} */ (find("#theme")), page.restyle);

  /**
   * Send a request in place of the last one, and say why it failed, with a button that sends it again.
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} question
   * @param {(found: T) => void} told
   */
  async function ask(question, told) {
    const found = await asker.ask(question, failed.show);
    if (found === null) return;
    fail(found instanceof Problem ? found : null, () => void ask(question, told));
    if (!(found instanceof Problem)) told(found);
  }

  /** @param {Problem | null} problem @param {() => void} retry */
  function fail(problem, retry) {
    again = retry;
    failed.show(problem);
  }

  return { page, ask, fail };
}
