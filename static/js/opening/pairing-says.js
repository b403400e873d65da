/** What a written word looks at, in one sentence. */

import { numbered } from "../core/wire/tokens.js";
import { el } from "../lib/render.js";
import { seen } from "./opening-content.js";

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "say" | "t">} page
 * @param {import("./opening-content.js").Opening} shown
 * @param {number} at  the written word
 * @param {boolean} glossed  whether its gloss is told
 */
export function lookingFrom({ say, t }, shown, at, glossed) {
  const { label, gloss } = shown.written[at];
  const { kind, keys } = seen(shown.written[at]);
  const words = {
    one: t("Here: while writing {word}, it looks at {key}."),
    most: t("Here: while writing {word}, it looks most at {key}."),
    both: t("Here: while writing {word}, it looks equally at {key} and {other}."),
    spread: t("Here: while writing {word}, it looks equally at several words."),
    special: t("Here: while writing {word}, it looks only at special tokens."),
  }[kind];
  const named = (/** @type {import("../core/wire/tokens.js").Label} */ one, /** @type {string} */ className) => el("span", { className, lang: one.lang }, numbered(one));
  const [key, other] = keys.map((i) => named(shown.source[i], "as-key"));
  const meaning = glossed && gloss ? el("i", { className: "meaning", lang: shown.source[0]?.lang }, ` (${gloss})`) : "";
  return say(words, { word: el("span", {}, named(label, "as-query"), meaning), key, other });
}
