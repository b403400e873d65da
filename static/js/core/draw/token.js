/** Token labels as elements, each with its language; special tokens are marked. */

import { el } from "../../lib/dom.js";
import { bareWord, isRightToLeft, plainLabel, plainStep } from "../wire/tokens.js";
import { s } from "./svg.js";

/** @import { Label, Step } from "../wire/tokens.js" */

/**
 * A token, with its language.
 * @param {Label} label
 * @param {string} [className]
 */
export function token(label, className = "") {
  const { space, special, template, lang } = label;
  const dot = space && el("span", { className: "space", "data-term": space }, space);
  return el(
    isRightToLeft(label) ? "bdi" : "span",
    { className: ["token", special && "special", template && "template", className].filter(Boolean).join(" "), lang, "data-term": special ? label.word : undefined },
    dot,
    bareWord(label),
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
export function step({ reads, writes, position, short }) {
  if (position !== undefined)
    return el(
      "span",
      { className: "step" },
      el("span", { className: "at" }, String(position)),
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
export const quotedStep = ({ reads, writes, ...fields }) => step({ ...fields, reads: reads && { ...reads, space: "" }, writes: { ...writes, space: "" } });

// Token labels in SVG: each word with its language, the token that is read in a fainter colour.

/**
 * A token label as an SVG text. A single word is put into the <text> itself, which halves the
 * number of elements to lay out.
 * @param {import("../wire/tokens.js").Step} step
 * @param {Pick<import("../page/page-context.js").Theme, "muted">} theme
 * @param {Record<string, string | number>} attributes
 */
export function nameText(step, theme, attributes) {
  const { reads, writes } = step;
  if (reads || writes.special) return s("text", attributes, ...lettering(step, theme));
  return s("text", { ...attributes, lang: writes.lang }, plainStep(step));
}

/**
 * @param {import("../wire/tokens.js").Step} step
 * @param {Pick<import("../page/page-context.js").Theme, "muted">} theme
 * @returns {SVGTSpanElement[]}
 */
export function lettering(step, { muted }) {
  const { reads, writes, short } = step;
  const fill = writes.special ? muted : null;
  if (!reads) return [s("tspan", { lang: writes.lang, fill }, plainStep(step))];
  const read = short ? [] : [s("tspan", { lang: reads.lang, fill: muted }, plainLabel(reads))];
  return [
    ...read,
    s("tspan", { fill: muted }, short ? "→ " : " → "),
    s("tspan", { lang: writes.lang, fill }, plainLabel(writes)),
  ];
}
