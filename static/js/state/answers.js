/** Has every question of the present view answered, and nothing else. */

import { Problem } from "../data/problem.js";
import { createAsker } from "../data/asker.js";
import { held } from "./frozen.js";
import { keyOf } from "./questions.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./questions.js").Question} Question */
/** @typedef {Page["answers"]} Answers */

/** Answers that nobody asks for any more are kept while there are few. */
const KEPT = 32;

/**
 * @param {import("./store.js").Store} store
 * @param {Pick<import("./sources.js").Source, "answer">} source
 * @param {(page: Page) => Question[]} asks
 */
export function bindAnswers(store, source, asks) {
  /** @type {Map<string, import("../data/asker.js").Asker>} */
  const open = new Map();

  /** @param {Question} question @param {string} key */
  async function ask(question, key) {
    const asker = createAsker();
    open.set(key, asker);
    const found = await asker.ask((signal) => source.answer(question, signal));
    if (found === null) return;
    open.delete(key);
    const kept = Object.entries(store.get().answers).slice(1 - KEPT);
    store.set({ answers: { ...Object.fromEntries(kept), [key]: found } });
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
        const found = held(page, question);
        if (found) frozen[key] = found;
        else void ask(question, key);
      }
      if (answers !== page.answers || Object.keys(frozen).length)
        store.set({ answers: { ...answers, ...frozen } });
    },
  };
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
