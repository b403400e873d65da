/** Token labels as elements, each with its language; special tokens are marked. */

import { numbered } from "../wire/tokens.js";
import { el } from "../../lib/render.js";

/** @import { Step, Label } from "../wire/tokens.js" */

/**
 * A token, with its language.
 * @param {Label} label
 * @param {string} [className]
 */
export function token(label, className = "") {
  const { space, special, template, lang } = label;
  const dot = space && el("span", { className: "space", "data-term": space }, space);
  return el(
    "span",
    { className: ["token", special && "special", template && "template", className].filter(Boolean).join(" "), lang, "data-term": special ? label.word : undefined },
    dot,
    numbered(label),
  );
}

/**
 * A token quoted in a sentence, without the dot for its space.
 * @param {Label} label
 */
export const quoted = (label) => token({ ...label, space: "" });

/**
 * A decoder row: the token that it has read, and the one that it writes.
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

/**
 * A row quoted in a sentence, without the dots for its spaces.
 * @param {Step} row
 */
export const quotedStep = ({ reads, writes, ...rest }) => step({ ...rest, reads: reads && { ...reads, space: "" }, writes: { ...writes, space: "" } });
