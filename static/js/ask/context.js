/** What a reader must see to answer a question where no figure shows it: the texts that it is about. */

import { blockOf, blocks, typed } from "../core/wire/attentions.js";
import { languages } from "../core/wire/tokens.js";
import { el } from "../lib/render.js";
import { labTables } from "./lab-row.js";
import { KINDS } from "./kinds.js";
import { isStated } from "./number.js";

/** @import { Described } from "../lib/render.js" */

/**
 * The sentence, and as much of what was written as the kind presupposes: no more, since that would
 * give the answer away.
 * @param {import("./question.js").Asked} asked
 * @returns {Promise<(string | Described)[]>}  empty if the words say everything
 */
export async function contextOf(asked) {
  const { question, state, run } = asked;
  if (isStated(question)) return [];
  if (question.page === "lab") return question.words ? [] : labTables(asked);
  const [model, trace] = await Promise.all([asked.model(), run(() => [])]);
  const [from, to] = languages(trace.direction ?? "");
  const sentence = (/** @type {string} */ text) => el("span", { lang: from }, text);
  const written = (/** @type {string} */ text) => [" → ", el("span", { lang: to }, text)];
  const { shows } = KINDS[question.kind];
  if (shows !== "before") return [sentence(state.source), ...(shows === "all" ? written(trace.output.text) : [])];
  const { query } = state.block ? blockOf(model, state.block) : blocks(model)[blocks(model).length - 1];
  const { end } = trace.tokens[query][state.query ?? 0];
  const until = (/** @type {string} */ text) => `${[...text].slice(0, end).join("")} …`;
  return query === typed(model) ? [sentence(until(state.source))] : [sentence(state.source), ...written(until(trace.output.text))];
}
