/** Spreadsheet cells: parsing typed numbers, and copying and pasting tables. */

const LARGEST = 1e6;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @typedef {string[][]} Cells  as typed, row by row */
/** @typedef {{value: number, wrong: null} | {value: null, wrong: "empty" | "text" | "large"}} Read */

/**
 * Parse typed text: 0.5, −2, 1/3, 2e-3, also in full-width digits.
 * @param {string} text
 * @returns {Read}
 */
export function number(text) {
  if (PLAIN.test(text)) return bounded(Number(text)); // the usual case, and much faster
  const plain = text.normalize("NFKC").replace(/[−–]/g, "-").replace(/\s/g, "");
  if (!plain) return { value: null, wrong: "empty" };
  const parts = plain.split("/");
  if (parts.length > 2 || !parts.every((part) => PLAIN.test(part))) return { value: null, wrong: "text" };
  const value = parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
  if (Number.isNaN(value) || (parts.length === 2 && !Number(parts[1]))) return { value: null, wrong: "text" };
  return bounded(value);
}

/** @param {number} value @returns {Read} */
const bounded = (value) => (Math.abs(value) > LARGEST ? { value: null, wrong: "large" } : { value, wrong: null });

/**
 * Split pasted text into cells, at tabs if there are any, else at commas, semicolons or spaces.
 * @param {string} text
 * @returns {Cells}
 */
export function pasted(text) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  const separator = ["\t", ",", ";"].find((one) => text.includes(one)) ?? /\s+/;
  return lines.map((line) => (separator === "\t" ? line : line.trim()).split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
}

/** Format cells for pasting into a spreadsheet. @param {Cells} cells */
export const copied = (cells) => cells.map((row) => row.join("\t")).join("\n");

/**
 * Turn rows into columns.
 * @template T
 * @param {T[][]} rows
 * @returns {T[][]}
 */
export const transposed = (rows) => rows[0].map((_, col) => rows.map((row) => row[col]));
