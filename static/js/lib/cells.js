/** Cells of a spreadsheet: the numbers that are typed into them, and tables as sheets copy them. */

const LARGEST = 1e6;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** @typedef {string[][]} Cells  as typed, row by row */
/** @typedef {{value: number, wrong: null} | {value: null, wrong: "empty" | "text" | "large"}} Read */

/**
 * What somebody typed: 0.5, −2, 1/3, 2e-3; full-width digits too.
 * @param {string} text
 * @returns {Read}
 */
export function number(text) {
  if (PLAIN.test(text)) return bounded(Number(text)); // as nearly always, and much faster
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
 * A table out of a sheet: cells between tabs, else between commas, or semicolons, or blanks.
 * @param {string} text
 * @returns {Cells}
 */
export function pasted(text) {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  const separator = ["\t", ",", ";"].find((one) => text.includes(one)) ?? /\s+/;
  return lines.map((line) => (separator === "\t" ? line : line.trim()).split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
}

/** The same the other way. @param {Cells} cells */
export const copied = (cells) => cells.map((row) => row.join("\t")).join("\n");

/**
 * Rows as columns.
 * @template T
 * @param {T[][]} rows
 * @returns {T[][]}
 */
export const transposed = (rows) => rows[0].map((_, col) => rows.map((row) => row[col]));
