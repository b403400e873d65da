/**
 * Tensors as a table for spreadsheets and data frames: one row per number, with the index on every
 * axis and, if an axis follows tokens, the token's text.
 *
 * Lines end in CRLF and quotes are doubled (RFC 4180). The file begins with a byte order mark,
 * because Excel misreads Chinese without one.
 */

/** @import { Tensor } from "../core/wire/safetensors.js" */

/** @typedef {Pick<import("../core/wire/safetensors.js").Trace, "tensors"> & {tokens: Record<string, {text: string}[]>}} Trace  a trace, or tensors computed from one */

export const MARK = "\ufeff";
/** All axes in output order; a file has only those that its tensors have. */
const AXES = ["layer", "head", "station", "query", "key", "query_term", "key_term", "row", "column", "channel", "feature", "hidden", "rank", "vocab"];
/** A spreadsheet interprets a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/**
 * @param {Trace} trace
 * @param {string[]} names  of the tensors to include
 * @returns {string}
 */
export function csv(trace, names) {
  const tensors = names.map((name) => ({ name, ...trace.tensors[name] }));
  const axes = AXES.filter((axis) => tensors.some(({ dims }) => dims.includes(axis)));
  const followed = new Set(tensors.flatMap(({ over }) => Object.keys(over)));
  const columns = axes.flatMap((axis) => (followed.has(axis) ? [axis, `${axis}_token`] : [axis]));
  const lines = [["tensor", ...columns, "value"].join(",")];
  for (const tensor of tensors) rows(trace, tensor, columns, lines);
  return `${MARK}${lines.join("\r\n")}\r\n`;
}

/**
 * @param {Trace} trace
 * @param {Tensor & {name: string}} tensor
 * @param {string[]} columns
 * @param {string[]} lines  output
 */
function rows(trace, { name, dims, over, shape, dtype, data }, columns, lines) {
  const axes = columns.map((column) => dims.indexOf(column.replace("_token", "")));
  const texts = columns.map((column) => {
    const side = over[column.replace("_token", "")];
    return column.endsWith("_token") && side ? tokens(trace, side) : null;
  });
  const steps = shape.map((_, i) => shape.slice(i + 1).reduce((product, size) => product * size, 1));
  const format = ["bool", "int32", "float64"].includes(dtype) ? String : shortest;
  // uint8 is value · 255
  const unit = dtype === "uint8" ? 255 : 1;
  data.forEach((value, offset) => {
    const cells = axes.map((axis, i) => {
      if (axis < 0) return "";
      const index = Math.floor(offset / steps[axis]) % shape[axis];
      const tokenTexts = texts[i];
      if (tokenTexts) return tokenTexts[index];
      return columns[i].endsWith("_token") ? "" : index;
    });
    lines.push(`${name},${cells.join(",")},${format(unit === 1 ? value : Math.fround(value / unit))}`);
  });
}

/** @param {Trace} trace @param {string} side */
function tokens(trace, side) {
  const sideTokens = trace.tokens[side] ?? [];
  return sideTokens.map(({ text }) => quoted(text));
}

/**
 * Quote a text for a cell; one that a spreadsheet would interpret as a formula gets an apostrophe.
 * @param {string} text
 */
export function quoted(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Format a number with the fewest digits that identify it in float32.
 * @param {number} value
 */
export function shortest(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}

/** Spreadsheet cells: parsing typed numbers, and copying and pasting tables. */

const LARGEST = 1e6;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** A comma that may be one of thousands, which is refused rather than guessed. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2},\d{3}$/;

/** @typedef {string[][]} Cells  as typed, row by row */
/** @typedef {{value: number, wrong: null} | {value: null, wrong: "empty" | "text" | "large"}} Read */

/**
 * Parse typed text: 0.5, 0,5, −2, 1/3, 2e-3, also in full-width digits.
 * @param {string} text
 * @returns {Read}
 */
export function number(text) {
  if (PLAIN.test(text)) return bounded(Number(text)); // the usual case, and much faster
  const signs = text.normalize("NFKC").replace(/[−–]/g, "-").replace(/\s/g, "");
  const plain = THOUSANDS.test(signs) ? signs : signs.replace(/^([+-]?\d*),(\d+)$/, "$1.$2");
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
  const separator = ["\t", ",", ";"].find((candidate) => text.includes(candidate)) ?? /\s+/;
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
