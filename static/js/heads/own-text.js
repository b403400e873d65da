/** A text of the reader's: sent from the form, followed until it is indexed, and deleted. */

import { Problem, failure } from "../core/wire/reply.js";
import { find } from "../lib/dom.js";
import { keep, readStored } from "../lib/browser.js";
import { whileBusy } from "../lib/timing.js";
import { wording } from "../core/figure/problem-wording.js";

/** @import { CorpusReply } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

const POLL_MS = 500;
const nameOf = (/** @type {string} */ id) => `corpus-${id}`;

const disk = (/** @type {Translate} */ t) => t("The server could not write to its disk. Try again later.");

/** @type {Record<string, (t: Translate) => string>} */
const WHY = {
  unreadable: (t) => t("The model can read none of these sentences: they may be too long for it."),
  "too-slow": (t) => t("Measuring took longer than the server allows. Send fewer sentences."),
  stopped: (t) => t("The server was restarted meanwhile. Send the text again."),
  "storage-full": disk,
  "storage-unavailable": disk,
};

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{model: string, corpus: string, ready: boolean, lang: string}} at
 */
export function bindOwnText(page, api, { model, corpus, ready, lang }) {
  const address = (/** @type {string} */ id) => `?${new URLSearchParams({ lang, ...(id && { corpus: id }) })}`;
  if (ready) return bindDeletion(page, api, corpus, address(""));
  if (!document.querySelector("#own-text")) return;
  const { t } = page;
  const form = /** @type {HTMLFormElement} */ (find("#text-form"));
  const progress = find("#text-progress");
  const [status, bar, cancel] = [find("p", progress), /** @type {HTMLProgressElement} */ (find("progress", progress)), find("button", progress)];
  const line = find("#text-problem");
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
  let followedId = "";

  /** @param {string} words */
  function fail(words) {
    followedId = "";
    [form.hidden, progress.hidden, line.hidden, line.textContent] = [false, true, !words, words];
  }

  /** @param {CorpusReply} told */
  function show({ state, done, of, given: sentenceCount }) {
    [form.hidden, progress.hidden, line.hidden] = [true, false, true];
    if (state === "running" && of) bar.value = done / of;
    else bar.removeAttribute("value");
    status.textContent = state === "queued" ? t("Waiting for the server: {n} sentences.", { n: sentenceCount }) : t("Measuring: {done} of {all} sentences.", { done, all: of });
  }

  /** @param {string} id */
  async function follow(id) {
    followedId = id;
    cancel.hidden = !readStored(nameOf(id));
    while (followedId === id) {
      const corpusState = await api.corpus(id).catch(failure);
      if (followedId !== id) return;
      if (corpusState instanceof Problem) return fail(wording(t, corpusState));
      if (corpusState.state === "done") return window.location.assign(address(id));
      if (corpusState.state === "failed") return fail((WHY[corpusState.why ?? ""] ?? (() => t("Measuring failed. It has been logged; try again.")))(t));
      show(corpusState);
      await new Promise((after) => setTimeout(after, POLL_MS));
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const send = /** @type {HTMLButtonElement} */ (find("button", form));
    const [text, split, title] = ["text", "split", "title"].map((name) => field(name).value);
    const created = await whileBusy(() => api.sendCorpus({ model, text, split: split === "lines" ? "lines" : "sentences", title }).catch(failure), send);
    if (created instanceof Problem) return fail(wording(t, created));
    keep(nameOf(created.id), created.key);
    show(created);
    await follow(created.id);
  });
  field("file").addEventListener("change", async () => {
    const [file] = field("file").files ?? [];
    if (!file) return;
    field("text").value = await file.text();
    field("title").value ||= file.name.slice(0, 100);
  });
  cancel.addEventListener("click", async () => {
    const id = followedId;
    fail("");
    const failed = await api.deleteCorpus(id, readStored(nameOf(id)) ?? "").catch(failure);
    if (failed instanceof Problem) fail(wording(t, failed));
    else keep(nameOf(id), null);
  });
  form.hidden = false;
  if (corpus) void follow(corpus);
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {string} corpus
 * @param {string} after  where to go then
 */
function bindDeletion({ t }, api, corpus, after) {
  const [line, key] = [find("#delete-text"), readStored(nameOf(corpus))];
  if (!key) return;
  line.hidden = false;
  find("button", line).addEventListener("click", async () => {
    const failed = await api.deleteCorpus(corpus, key).catch(failure);
    if (failed instanceof Problem) return void (find("span", line).textContent = wording(t, failed));
    keep(nameOf(corpus), null);
    window.location.assign(after);
  });
}
