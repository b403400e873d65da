/** The lab's state as a link: cells between "_", rows between "*". */

import { CHOICES, MOST, NAMES, fitted, sizes } from "./matrices.js";

/** @import { Lab } from "./matrices.js" */

/**
 * @param {Lab} lab
 * @returns {string}  a query
 */
export function format(lab) {
  const { matrices, tokens, memoryTokens, heads, window, shift, fractions, order, hidden, ...words } = lab;
  const query = new URLSearchParams({ ...words, heads: String(heads), window: String(window), shift: String(Number(shift)) });
  query.set("tokens", tokens.join("\n"));
  if (matrices.memory) query.set("memory_tokens", memoryTokens.join("\n"));
  if (fractions) query.set("fractions", "1");
  if (order.length) query.set("order", order.join("_"));
  const asked = Object.entries(hidden);
  if (asked.length) query.set("hidden", asked.map(([step, row]) => `${step}*${row}`).join("_"));
  for (const [name, cells] of Object.entries(matrices)) query.set(name, cells.map((row) => row.map(escaped).join("_")).join("*"));
  return String(query);
}

/**
 * @param {string} text  a query
 * @param {Lab} otherwise  the defaults
 * @returns {Lab}
 */
export function parse(text, otherwise) {
  const query = new URLSearchParams(text);
  if (!query.has("x") || !query.has("w_q")) return otherwise;
  const matrices = Object.fromEntries(
    NAMES.filter((name) => query.has(name)).map((name) => [name, (query.get(name) ?? "").split("*").map((row) => row.split("_").map(unescaped))]),
  );
  const even = Object.values(matrices).every((cells) => cells.every((row) => row.length === cells[0].length && row.length <= MOST * 4));
  const chosen = Object.entries(CHOICES).map(([name, values]) => {
    const said = query.get(name) ?? "";
    return [name, values.includes(said) ? said : values[0]];
  });
  const heads = between(query.get("heads"), 1, 4);
  const lab = {
    ...otherwise,
    ...Object.fromEntries(chosen),
    convention: query.get("convention") === "column" ? "column" : "row",
    heads,
    window: between(query.get("window"), 1, MOST),
    shift: query.get("shift") !== "0",
    smoothing: query.get("smoothing") ?? "0",
    fractions: query.get("fractions") === "1",
    order: permutation(query.get("order")),
    hidden: hiddenSteps(query.get("hidden")),
    tokens: query.get("tokens")?.split("\n") ?? [],
    memoryTokens: query.get("memory_tokens")?.split("\n") ?? [],
    matrices: { ...otherwise.matrices, ...matrices },
  };
  const kept = /** @type {Lab} */ ({ ...lab, matrices });
  const missing = ["w_k", "w_v"].some((name) => !matrices[name]);
  if (!even || missing || !Number.isInteger(sizes(kept).k) || sizes(kept).k < 1) return otherwise;
  const { n, m, d, k, f, vocab } = sizes(kept);
  const [most, top] = [MOST, (/** @type {number} */ size) => Math.min(size, MOST)];
  return fitted(kept, { n: top(n), m: top(m), d: top(d), k: Math.min(k, most), f: top(f), vocab: top(vocab) });
}

/** Escape the separators in a cell, whatever was typed into it. @param {string} cell */
const escaped = (cell) => cell.replace(/[%_*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
/** @param {string} cell */
const unescaped = (cell) => cell.replace(/%(25|5f|2a)/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

/** @param {string | null} text @returns {number[]}  empty where it is no order of tokens */
function permutation(text) {
  const order = (text ?? "").split("_").map(Number);
  return text && [...order].sort((a, b) => a - b).every((place, i) => place === i) ? order : [];
}

/** @param {string | null} text @returns {Record<string, number>} */
function hiddenSteps(text) {
  const pairs = [...(text ?? "").matchAll(/([a-z.]{1,20})\*(\d)(?:_|$)/g)];
  return Object.fromEntries(pairs.map(([, step, row]) => [step, Number(row)]));
}

/** @param {string | null} text @param {number} least @param {number} most */
const between = (text, least, most) => Math.min(Math.max(Math.round(Number(text)) || least, least), most);
