/** The lab as a request, and the cells that cannot be sent. */

import { number } from "../lib/csv.js";
import { CLIP, VECTORS, inRows, sizes } from "./matrices.js";

/** @import { Lab } from "./matrices.js" */

/**
 * Why cells are invalid, by matrix, row and column.
 * @param {Lab} lab
 * @returns {Record<string, Record<string, "empty" | "text" | "large" | "id" | "flag" | "share">>}
 *    keys are "row,col"; label smoothing has a single cell
 */
export function wrongs(lab) {
  const { vocab } = sizes(lab);
  /** @type {ReturnType<typeof wrongs>} */
  const found = {};
  for (const [name, cells] of Object.entries(lab.matrices)) {
    cells.forEach((row, i) =>
      row.forEach((text, j) => {
        const { value, wrong } = number(text);
        const id = name === "targets" && value !== null && !(Number.isInteger(value) && value >= 0 && value < vocab);
        const flag = name === "padding" && value !== null && value !== 0 && value !== 1;
        if (wrong || id || flag) (found[name] ??= {})[`${i},${j}`] = wrong ?? (id ? "id" : "flag");
      }),
    );
  }
  if (lab.matrices.targets && !isShare(number(lab.smoothing).value)) found.smoothing = { "": "share" };
  return found;
}

/** @param {number | null} value */
const isShare = (value) => value !== null && value >= 0 && value <= 1;

/**
 * @param {Lab} lab  without invalid cells
 * @returns {Record<string, unknown>}  as POST /api/lab takes it
 */
export function request(lab) {
  const values = Object.entries(lab.matrices).map(([name, cells]) => {
    const rows = VECTORS.has(name) ? inRows(lab, name) : cells; // head by head, in either convention
    const numbers = rows.map((row) => row.map((text) => number(text).value ?? 0));
    return [name, VECTORS.has(name) ? numbers.flat() : numbers];
  });
  const { pi, padding, targets, ...matrices } = Object.fromEntries(values);
  const { convention, heads, scoring, mask, window, relative, norm } = lab;
  return {
    ...matrices,
    convention,
    heads,
    scoring,
    ...(mask === "none" ? {} : { mask }),
    ...(mask.includes("window") ? { window } : {}),
    ...(padding ? { padding: padding.map(Boolean) } : {}),
    ...(relative === "sinusoidal" ? { positions: relative } : {}),
    ...(pi ? { relative: { [relative]: Object.fromEntries(pi.map((/** @type {number} */ one, /** @type {number} */ i) => [String(i - CLIP), one])), clip: CLIP } } : {}),
    ...(norm === "none" ? {} : norm === "residual" ? { residual: true } : { norm }),
    ...(targets ? { targets, shift: lab.shift && sizes(lab).n > 1, label_smoothing: number(lab.smoothing).value ?? 0 } : {}),
  };
}
