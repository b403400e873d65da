/**
 * The run that the view Decoding shows: the page's own or, for a decoder, one that continues the text
 * to its end.
 */

import { outputKind } from "../../core/wire/output.js";
import { plan, said } from "../../core/store/decode-options.js";
import { answer, traced } from "../../core/store/view-requests.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Question } from "../../core/store/view-requests.js" */

/** How many tokens a decoder writes if the link does not say: as many as the server. */
export const LENGTH = 20;

/** Whether the model continues a text. @param {Pick<Page, "model">} page */
export const continues = ({ model }) => outputKind(model) === "text";

/**
 * Decoding options with the length of the continuation.
 * @param {Pick<Page, "model" | "link">} page
 * @param {unknown} [decode]
 * @returns {unknown}  the same for a model that does not continue a text
 */
export function decodeOf(page, decode = page.link.decode) {
  if (!continues(page)) return decode;
  const known = plan(decode);
  return said({ ...known, max_tokens: known.max_tokens ?? Math.max(LENGTH, known.prefix.length) });
}

/**
 * The run with the whole continuation.
 * @param {Page} page
 * @param {string[]} select
 * @returns {Question}
 */
export const continued = (page, select) => traced(page, { decode: decodeOf(page), pad_to: null, select });

/**
 * The run that is shown.
 * @param {Page} page
 * @param {string[]} select  of a continuation
 * @returns {Trace | null}  null: loading, or failed
 */
export function shownRun(page, select) {
  if (!continues(page)) return page.trace;
  const found = answer(page, continued(page, select));
  return found && "output" in found ? /** @type {Trace} */ (found) : null;
}

/** The step that the link selects. @param {Page} page @returns {number | null} */
export const stepOf = (page) => (continues(page) ? page.link.options.nth : page.link.query);

/**
 * The part of a link that selects a step.
 * @param {Page} page
 * @param {number} at
 * @returns {Partial<import("../../core/store/link.js").State>}
 */
export const atStep = (page, at) =>
  continues(page) ? { options: { ...page.link.options, nth: at } } : { query: at, key: null };
