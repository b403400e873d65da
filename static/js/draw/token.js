/** Tokens as elements: each in its own language, special ones told apart. */

import { numbered } from "../data/tokens.js";
import { el } from "../lib/render.js";

/** @typedef {import("../data/tokens.js").Step} Step */
/** @typedef {import("../data/tokens.js").Label} Label */

/**
 * A token, in its language.
 * @param {Label} label
 * @param {string} [className]
 */
export function token(label, className = "") {
  const { space, special, lang } = label;
  const dot = space && el("span", { className: "space", "data-term": space }, space);
  return el(
    "span",
    { className: `token ${special ? "special" : ""} ${className}`.trim(), lang, "data-term": special ? label.word : undefined },
    dot,
    numbered(label),
  );
}

/**
 * A token in a sentence of ours, where the spaces are our own.
 * @param {Label} label
 */
export const quoted = (label) => token({ ...label, space: "" });

/**
 * A decoder row: what it has read, and what it writes.
 * @param {Step} step
 */
export function step({ reads, writes, at, short }) {
  if (at !== undefined)
    return el(
      "span",
      { className: "step" },
      el("span", { className: "at" }, String(at)),
      " ",
      token(writes),
    );
  if (!reads) return token(writes);
  return el(
    "span",
    { className: "step" },
    ...(short ? [] : [token(reads, "reads")]),
    el("span", { className: "arrow" }, "→"),
    token(writes),
  );
}
