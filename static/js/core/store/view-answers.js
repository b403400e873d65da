/** Get answers to all questions of the current view, and to no others. */

import { Problem } from "../wire/problem.js";
import { createAsker } from "../wire/retry.js";
import { held, heldParameters } from "./share-contents.js";
import { seen } from "./two-runs.js";
import { contained, keyOf } from "./view-requests.js";
import { size } from "../wire/tensor-cache.js";

/** @import { Page } from "./store.js" */
/** @import { Question } from "./view-requests.js" */
/** @typedef {Page["answers"]} Answers */

/** Limits for keeping answers that are no longer needed. */
const KEPT = { answers: 32, bytes: 64 * 2 ** 20 };

/**
 * @param {import("./store.js").Store} store
 * @param {Pick<import("./data-sources.js").Source, "answer">} source
 * @param {(page: Page) => Question[]} asks
 * @param {(question: Question) => boolean} [awaited]  whether a pending run may answer it
 */
export function bindAnswers(store, source, asks, awaited = () => false) {
  /** @type {Map<string, import("../wire/retry.js").Asker>} */
  const open = new Map();

  /** @param {Question} question @param {string} key */
  async function ask(question, key) {
    const asker = createAsker();
    open.set(key, asker);
    const found = await asker.ask((signal) => source.answer(question, signal));
    if (found === null) return;
    open.delete(key);
    const page = store.get();
    const wanted = new Set(asks(page).map(keyOf));
    store.set({ answers: { ...bounded(page.answers, wanted, bytes(found)), [key]: found } });
  }

  return {
    stop: () => open.forEach((asker) => asker.stop()),

    /** Request what is needed now, and cancel what is no longer needed. */
    follow() {
      const page = store.get();
      if (!page.trace || page.status !== "ready") return;
      const asked = new Map(asks(page).map((question) => [keyOf(question), question]));
      for (const [key, asker] of open) {
        if (asked.has(key)) continue;
        open.delete(key);
        asker.stop();
      }
      // A temporary failure is forgotten, so that it is requested again when needed.
      const answers = without(page.answers, (key, problem) => problem.passing && !asked.has(key));
      /** @type {Answers} */
      const frozen = {};
      for (const [key, question] of asked) {
        if (answers[key] || open.has(key)) continue;
        const found = held(page, question) ?? heldParameters(page, question) ?? seen(page, question) ?? contained(answers, question);
        if (found) frozen[key] = found;
        else if (!awaited(question)) void ask(question, key);
      }
      if (answers !== page.answers || Object.keys(frozen).length)
        store.set({ answers: { ...answers, ...frozen } });
    },
  };
}

/**
 * Keep all answers that are still needed, and the newest others that fit.
 * @param {Answers} answers  oldest first
 * @param {Set<string>} wanted
 * @param {number} more  bytes about to be added
 * @returns {Answers}
 */
export function bounded(answers, wanted, more) {
  const free = Object.keys(answers).filter((key) => !wanted.has(key)).reverse();
  const need = Object.keys(answers).length - free.length + 1;
  const own = Object.entries(answers).filter(([key]) => wanted.has(key));
  let left = KEPT.bytes - more - own.reduce((sum, [, answer]) => sum + bytes(answer), 0);
  const kept = new Set(wanted);
  for (const key of free.slice(0, Math.max(0, KEPT.answers - need))) {
    left -= bytes(answers[key]);
    if (left < 0) break;
    kept.add(key);
  }
  return Object.fromEntries(Object.entries(answers).filter(([key]) => kept.has(key)));
}

/** The size of an answer's tensors in bytes. @param {Answers[string]} answer */
function bytes(answer) {
  return size(/** @type {Partial<import("../wire/wire.js").Trace>} */ (answer).tensors ?? {});
}

/**
 * @param {Answers} answers
 * @param {(key: string, problem: Problem) => boolean} goes  which problems to leave out
 * @returns {Answers}  the same object if none is left out
 */
export function without(answers, goes) {
  const entries = Object.entries(answers);
  const left = entries.filter(([key, one]) => !(one instanceof Problem && goes(key, one)));
  return left.length === entries.length ? answers : Object.fromEntries(left);
}
