/** The kinds of questions. To add one, write its file and add it here. */

import { change } from "./change.js";
import { head } from "./head.js";
import { looks } from "./looks.js";
import { next } from "./next.js";
import { number } from "./number.js";
import { off } from "./off.js";
import { row } from "./row.js";

/** @type {Record<string, import("./question.js").Kind>} */
export const KINDS = { looks, head, next, off, change, row, number };

/**
 * The kinds that can be asked about what a link shows, for a menu.
 * @param {import("../core/store/link.js").State} state
 * @param {import("../core/wire/model.js").ModelInfo | null} model
 * @returns {string[]}
 */
export const offeredKinds = (state, model) => Object.keys(KINDS).filter((id) => KINDS[id].fits(state, model));
