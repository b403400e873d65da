/** Words in the captions of the alignment view, in the colours of queries and keys. */

import { quoted } from "../../core/draw/token.js";
import { el } from "../../lib/render.js";

/** @import { Label } from "../../core/wire/tokens.js" */

/** @param {Label} written */
export const asQuery = (written) => el("span", { className: "as-query" }, quoted(written));

/** @param {Label} source */
export const asKey = (source) => el("span", { className: "as-key" }, quoted(source));
