/**
 * Tensors as a table for spreadsheets and data frames: a row a number, with the index of every axis
 * and, where an axis follows tokens, the token's text.
 *
 * Lines end in CRLF and quotes are doubled (RFC 4180). The file begins with a byte order mark,
 * without which Excel takes Chinese for something else.
 */

/** @typedef {Pick<import("../data/wire.js").Trace, "tensors"> & {tokens: Record<string, {text: string}[]>}} Trace  or what is worked out of one */
/** @typedef {import("../data/wire.js").Tensor} Tensor */

export const MARK = "\ufeff";
/** In the order of the paper's tensors; a file has those that its tensors have. */
const AXES = ["layer", "head", "station", "query", "key", "row", "column", "channel", "feature", "hidden", "rank", "vocab"];
/** A cell that begins so is a formula to a spreadsheet. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;

/**
 * @param {Trace} trace
 * @param {string[]} names  of its tensors
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
 * @param {string[]} lines  they are put here
 */
function rows(trace, { name, dims, over, shape, dtype, data }, columns, lines) {
  const axes = columns.map((column) => dims.indexOf(column.replace("_token", "")));
  const texts = columns.map((column) => {
    const side = over[column.replace("_token", "")];
    return column.endsWith("_token") && side ? tokens(trace, side) : null;
  });
  const steps = shape.map((_, i) => shape.slice(i + 1).reduce((product, size) => product * size, 1));
  const say = ["bool", "int32", "float64"].includes(dtype) ? String : shortest;
  // 8 bits are value · 255.
  const unit = dtype === "uint8" ? 255 : 1;
  data.forEach((value, at) => {
    const cells = axes.map((axis, i) => {
      if (axis < 0) return "";
      const index = Math.floor(at / steps[axis]) % shape[axis];
      const found = texts[i];
      if (found) return found[index];
      return columns[i].endsWith("_token") ? "" : index;
    });
    lines.push(`${name},${cells.join(",")},${say(unit === 1 ? value : Math.fround(value / unit))}`);
  });
}

/** @param {Trace} trace @param {string} side */
function tokens(trace, side) {
  const found = trace.tokens[side] ?? [];
  return found.map(({ text }) => quoted(text));
}

/**
 * A text as a cell; one that a spreadsheet would take for a formula begins with an apostrophe.
 * @param {string} text
 */
export function quoted(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The fewest digits that are the same number in float32.
 * @param {number} value
 */
export function shortest(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}
