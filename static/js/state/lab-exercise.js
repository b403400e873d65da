/** A row that is to be filled in, and whether it is right. */

import { number } from "../lib/cells.js";

/** @typedef {"right" | "wrong" | "text" | "empty"} Verdict */

/** A number is rounded to two decimals or more. */
const COARSEST = 0.005;
const ROUNDING = 1e-9;

/**
 * @param {string} text  as typed
 * @param {number} value  what is asked for
 * @returns {Verdict}  right: within the rounding of the decimals that were typed, two at least
 */
export function judged(text, value) {
  const { value: typed, wrong } = number(text);
  if (typed === null) return wrong === "empty" ? "empty" : "text";
  const decimals = /[.．]([0-9０-９]*)$/.exec(text.trim())?.[1].length ?? 0;
  const room = Math.min(0.5 * 10 ** -decimals, COARSEST);
  return Math.abs(typed - value) <= room + ROUNDING * Math.max(1, Math.abs(value)) ? "right" : "wrong";
}
