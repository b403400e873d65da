/** Check the numbers of a row that the reader fills in. */

import { number } from "../lib/csv.js";

/** @typedef {"right" | "wrong" | "text" | "empty"} Verdict */

/** Numbers are rounded to at least two decimals. */
const COARSEST = 0.005;
const ROUNDING = 1e-9;

/**
 * @param {string} text  as typed
 * @param {number} value  the correct value
 * @returns {Verdict}  right: equal when rounded to the typed decimals, at least two
 */
export function judged(text, value) {
  const { value: typed, wrong } = number(text);
  if (typed === null) return wrong === "empty" ? "empty" : "text";
  const decimals = /[.．]([0-9０-９]*)$/.exec(text.trim())?.[1].length ?? 0;
  const room = Math.min(0.5 * 10 ** -decimals, COARSEST);
  return Math.abs(typed - value) <= room + ROUNDING * Math.max(1, Math.abs(value)) ? "right" : "wrong";
}
