/** The weights that a question is about, with the labels of their tokens. */

import { attention, axes, place } from "../core/wire/attentions.js";
import { row } from "../core/wire/wire.js";
import { quoted, step } from "../core/draw/token.js";

/** @import { Asked } from "./question.js" */
/** @import { Matrix } from "../core/wire/wire.js" */

/** Weights that are equal as printed count as equal. */
const ALIKE = 0.005;

/** The labels of the row and of the keys, without any weight. @param {Asked} asked */
export async function labelsAt({ run, model, state }) {
  const trace = await run((known) => [place(known, state, "mask")]);
  const found = await model();
  const { rows, cols } = axes(found, trace, state.block);
  return { trace, found, query: step(rows[state.query ?? 0]), keys: cols.map(({ writes }) => quoted(writes)) };
}

/**
 * The weights of the row in one head; 0 where a key is masked.
 * @param {Asked} asked
 * @param {number} [head]  absent: that of the link
 */
export async function weightsAt({ run, model, state }, head = state.head) {
  const trace = await run((known) => ["weights", "mask"].map((name) => place(known, state, name)));
  const matrix = /** @type {Matrix} */ (attention(await model(), trace, { ...state, head }));
  return [...row(matrix, state.query ?? 0)].map((one) => one || 0);
}

/** @param {number[]} values @returns {string[]}  where the largest are, the first one first */
export function largest(values) {
  const most = Math.max(...values);
  const first = values.indexOf(most);
  const others = values.flatMap((one, i) => (i !== first && one > most - ALIKE ? [i] : []));
  return [first, ...others].map(String);
}

/** @param {number[]} values @returns {Record<string, number>} */
export const byIndex = (values) => Object.fromEntries(values.map((one, i) => [String(i), one]));

/** The names of a head, from 1. @param {Asked} asked */
export const headNames = ({ state }) => ({ layer: state.layer + 1, head: state.head + 1 });
