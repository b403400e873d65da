/** Which token comes next? The choices are in the order of their ids, which gives nothing away. */

import { blockOf, nexts } from "../core/wire/attentions.js";
import { labels, languages } from "../core/wire/tokens.js";
import { plane, row } from "../core/wire/wire.js";
import { quoted } from "../core/draw/token.js";
import { two } from "../lib/numbers.js";

/** @import { Trace } from "../core/wire/wire.js" */

/** The number of candidates offered. */
const OFFERED = 5;

/** @type {import("./question.js").Kind} */
export const next = {
  name: (t) => t("Which token comes next?"),
  fits: ({ query, block }, model) => query !== null && (!model || (blockOf(model, block).writes && model.capabilities.includes("candidates"))),
  entry: () => "choice",
  shows: "before",
  words: async ({ t }) => [t("Which token does the model write next?")],
  async choices({ run, model, state }) {
    const [, tensor] = nexts(await model());
    const trace = await run(() => [tensor]);
    const ids = candidates(trace, tensor, state.query ?? 0).sort((a, b) => a - b);
    return ids.map((id) => ({ id: String(id), label: named(trace, id) }));
  },
  async reveal({ run, model, state, t, say }) {
    const [chances, tensor] = nexts(await model());
    const trace = await run(() => [chances, tensor]);
    const at = state.query ?? 0;
    const ids = candidates(trace, tensor, at);
    const likely = row(plane(trace.tensors[chances]), at);
    const shares = Object.fromEntries(ids.map((id, rank) => [String(id), likely[rank]]));
    const words = { token: named(trace, ids[0]), chance: two(likely[0]) };
    return { right: [String(ids[0])], shares, says: say(t("The model gives {token} the highest probability: {chance}."), words) };
  },
};

/**
 * The most probable next tokens of a row.
 * @param {Trace} trace
 * @param {string} tensor  of candidates
 * @param {number} at  the row
 * @returns {number[]}  ids, most probable first
 */
const candidates = (trace, tensor, at) => [...row(plane(trace.tensors[tensor]), at)].slice(0, OFFERED);

/** @param {Trace} trace @param {number} id */
function named(trace, id) {
  const piece = trace.pieces?.[id] ?? { text: String(id), special: false };
  const [, to] = languages(trace.direction);
  return quoted(labels([{ ...piece, id, start: 0, end: 0 }], to)[0]);
}
