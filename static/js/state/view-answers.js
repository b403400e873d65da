/** Has every question of the present view answered, and nothing else. */

import { Problem } from "../data/problem.js";
import { createAsker } from "../data/retry.js";
import { held, heldParameters } from "./share-contents.js";
import { seen } from "./two-runs.js";
import { keyOf } from "./view-requests.js";
import { size } from "./tensor-cache.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./view-requests.js").Question} Question */
/** @typedef {Page["answers"]} Answers */

/** Answers that nobody asks for any more are kept while they are few and small. */
const KEPT = { answers: 32, bytes: 64 * 2 ** 20 };

/**
 * @param {import("./store.js").Store} store
 * @param {Pick<import("./data-sources.js").Source, "answer">} source
 * @param {(page: Page) => Question[]} asks
 * @param {(question: Question) => boolean} [awaited]  whether a run that is on its way may answer it
 */
export function bindAnswers(store, source, asks, awaited = () => false) {
  /** @type {Map<string, import("../data/retry.js").Asker>} */
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

    /** Asks what is asked now, and ends what is not any more. */
    follow() {
      const page = store.get();
      if (!page.trace || page.status !== "ready") return;
      const asked = new Map(asks(page).map((question) => [keyOf(question), question]));
      for (const [key, asker] of open) {
        if (asked.has(key)) continue;
        open.delete(key);
        asker.stop();
      }
      // What went wrong for a moment is asked again where it is asked for again.
      const answers = without(page.answers, (key, problem) => problem.passing && !asked.has(key));
      /** @type {Answers} */
      const frozen = {};
      for (const [key, question] of asked) {
        if (answers[key] || open.has(key)) continue;
        const found = held(page, question) ?? heldParameters(page, question) ?? seen(page, question);
        if (found) frozen[key] = found;
        else if (!awaited(question)) void ask(question, key);
      }
      if (answers !== page.answers || Object.keys(frozen).length)
        store.set({ answers: { ...answers, ...frozen } });
    },
  };
}

/**
 * The newest answers that fit, and all that are still asked for.
 * @param {Answers} answers  oldest first
 * @param {Set<string>} wanted
 * @param {number} more  bytes that are to come
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

/** How much memory an answer's tensors take. @param {Answers[string]} answer */
function bytes(answer) {
  return size(/** @type {Partial<import("../data/wire.js").Trace>} */ (answer).tensors ?? {});
}

/**
 * @param {Answers} answers
 * @param {(key: string, problem: Problem) => boolean} goes  which problems are left out
 * @returns {Answers}  the same where none is
 */
export function without(answers, goes) {
  const entries = Object.entries(answers);
  const left = entries.filter(([key, one]) => !(one instanceof Problem && goes(key, one)));
  return left.length === entries.length ? answers : Object.fromEntries(left);
}
