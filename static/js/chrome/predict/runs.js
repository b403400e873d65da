/** Questions about what the model writes: the next token, and the translation without a head. */

import { nexts, place } from "../../data/attentions.js";
import { labels, languages } from "../../data/tokens.js";
import { plane, row } from "../../data/wire.js";
import { quoted } from "../../draw/token.js";
import { two } from "../../lib/numbers.js";
import { el } from "../../lib/render.js";

/** @typedef {import("./question.js").Kind} Kind */
/** @typedef {import("../../data/wire.js").Trace} Trace */

/** The number of candidates offered. */
const OFFERED = 5;

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

/**
 * Which token comes next? The choices are in the order of their ids, which gives nothing away.
 * @type {Kind}
 */
export const next = {
  entry: "choice",
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

/** What happens if this head is off? @type {Kind} */
export const off = {
  entry: "choice",
  choices: async ({ t }) => [
    { id: "same", label: t("The translation stays the same") },
    { id: "changes", label: t("The translation changes") },
  ],
  async reveal({ run, model, state, t, say }) {
    const zero = { at: place(await model(), state), head: state.head, do: "zero" };
    const before = await run(() => []);
    const after = await run(() => [], { interventions: [zero] });
    const [, to] = languages(before.direction);
    const text = (/** @type {Trace} */ one) => el("b", { lang: to }, one.output.text);
    const same = before.output.text === after.output.text;
    const says = same
      ? say(t("With the head off, the model still writes {before}"), { before: text(before) })
      : say(t("With the head on: {before} With the head off: {after}"), { before: text(before), after: text(after) });
    return { right: [same ? "same" : "changes"], says };
  },
};
