/** Token labels in SVG: each word with its language, the token that is read in a fainter colour. */

import { s } from "./svg.js";
import { plain, plainStep } from "../wire/tokens.js";

/**
 * A token label as an SVG text. A single word is put into the <text> itself, which halves the
 * number of elements to lay out.
 * @param {import("../wire/tokens.js").Step} step
 * @param {Pick<import("./theme.js").Theme, "muted">} theme
 * @param {Record<string, string | number>} attributes
 */
export function nameText(step, theme, attributes) {
  const { reads, writes } = step;
  if (reads || writes.special) return s("text", attributes, ...lettering(step, theme));
  return s("text", { ...attributes, lang: writes.lang }, plainStep(step));
}

/**
 * @param {import("../wire/tokens.js").Step} step
 * @param {Pick<import("./theme.js").Theme, "muted">} theme
 * @returns {SVGTSpanElement[]}
 */
export function lettering(step, { muted }) {
  const { reads, writes, short } = step;
  const fill = writes.special ? muted : null;
  if (!reads) return [s("tspan", { lang: writes.lang, fill }, plainStep(step))];
  const read = short ? [] : [s("tspan", { lang: reads.lang, fill: muted }, plain(reads))];
  return [
    ...read,
    s("tspan", { fill: muted }, short ? "→ " : " → "),
    s("tspan", { lang: writes.lang, fill }, plain(writes)),
  ];
}
