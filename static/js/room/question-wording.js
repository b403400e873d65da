/** How a question reads on this page: for the files of answers, which say it in words. */

import { KINDS } from "../ask/question-kinds.js";
import { wordsOf } from "../ask/own-questions.js";
import { answerSources, ask } from "../ask/question.js";
import { h } from "../lib/dom.js";
import { render } from "../lib/render.js";

/** Milliseconds for which asking waits for the words. */
const PATIENCE = 2_000;
/** Letters of a question and of a choice that the server takes. */
const [MAX_WORDS, MAX_CHOICE] = [2_000, 300];

/** @param {import("../lib/render.js").Child | import("../lib/render.js").Child[]} parts */
function plainText(parts) {
  const element = h("p");
  render(element, parts);
  return (element.textContent ?? "").trim();
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {import("../ask/question.js").Question} about
 * @returns {Promise<import("../core/wire/schemas.d.ts").Wording | undefined>}  undefined: they took too long
 */
export async function wordingOf(page, api, presented, about) {
  const kind = KINDS[about.kind];
  const ownWords = (about.scene && presented.wording?.(about.scene)?.words.map(({ textContent }) => textContent).join("")) || wordsOf(about);
  if (!kind) return ownWords ? { words: ownWords.slice(0, MAX_WORDS), choices: {} } : undefined;
  const inquiry = ask(page, answerSources(api, about.share), about);
  const words = Promise.all([ownWords || kind.words(inquiry).then(plainText), kind.choices(inquiry)]).catch(() => null);
  const wording = await Promise.race([words, new Promise((/** @type {(value: null) => void} */ resolve) => setTimeout(() => resolve(null), PATIENCE))]);
  if (!wording) return undefined;
  // The words of cells are those of the question's axes.
  const choices = (about.kind === "point" ? [] : wording[1]).map(({ id, label }) => [id, plainText(label).slice(0, MAX_CHOICE)]);
  return { words: wording[0].trim().slice(0, MAX_WORDS), choices: Object.fromEntries(choices) };
}
