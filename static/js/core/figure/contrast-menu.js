/** A menu of tokens to contrast a written one with, for a sentence that asks why. */

import { el } from "../../lib/render.js";
import { labels, plain } from "../wire/tokens.js";

/** @typedef {{id: number, text: string, special: boolean}} Piece  a token of the vocabulary */

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {string} lang  of the tokens
 * @param {{value: string, tokens: {value: string, piece: Piece}[], onChoice: (value: string) => void}} choice
 */
export const contrastMenu = (t, lang, { value, tokens, onChoice }) =>
  el(
    "select",
    { className: "contrast-menu", "aria-label": t("Word to contrast with"), value, lang, onchange: (/** @type {Event} */ { target }) => onChoice(/** @type {HTMLSelectElement} */ (target).value) },
    tokens.map(({ value, piece }) => el("option", { key: value, value }, plain(labels([{ ...piece, start: 0, end: 0 }], lang)[0]))),
  );
