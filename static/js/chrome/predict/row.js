/** Fill in a row: of a step of attention by hand, or of a head's weights. */

import { attention, axes, place } from "../../data/attentions.js";
import { row as rowOf } from "../../data/wire.js";
import { quoted } from "../../draw/token.js";
import { parse } from "../../state/lab-link.js";
import { preset } from "../../state/lab-presets.js";
import { request } from "../../state/lab-request.js";

/** @typedef {import("./question.js").Kind} Kind */
/** @typedef {import("./question.js").Asked} Asked */

/** @type {Kind} */
export const row = {
  entry: "numbers",
  choices: (asked) => (asked.question.page === "lab" ? named(asked) : tokens(asked)),
  async reveal(asked) {
    const numbers = asked.question.page === "lab" ? await byHand(asked) : await weights(asked);
    return { right: [], numbers, says: [] };
  },
};

/** @param {Asked} asked */
const lab = ({ question }) => parse(question.link, preset("identity"));

/** @param {Asked} asked  The lab's first head. @returns {Promise<number[]>} */
async function byHand(asked) {
  const { step = "weights", row: at = 0 } = asked.question;
  const { steps, dims } = await asked.compute(request(lab(asked)));
  return (dims[step][0] === "head" ? steps[step][0] : steps[step])[at];
}

/** The labels of the row: tokens, or channels of a vector. @param {Asked} asked */
async function named(asked) {
  const { tokens, memoryTokens, matrices } = lab(asked);
  const { step = "weights" } = asked.question;
  const over = matrices.memory ? memoryTokens : tokens;
  const names = ["scores", "weights"].includes(step) ? over : matrices.w_v[0].map((_, i) => String(i + 1));
  return names.map((name, i) => ({ id: String(i), label: name || String(i + 1) }));
}

/** @param {Asked} asked */
async function tokens({ run, model, state }) {
  const trace = await run(() => []);
  return axes(await model(), trace, state.block).cols.map(({ writes }, i) => ({ id: String(i), label: quoted(writes) }));
}

/** @param {Asked} asked @returns {Promise<number[]>} */
async function weights({ run, model, state }) {
  const trace = await run((known) => ["weights", "mask"].map((name) => place(known, state, name)));
  const matrix = attention(await model(), trace, state);
  return matrix ? [...rowOf(matrix, state.query ?? 0)].map((one) => one || 0) : [];
}
