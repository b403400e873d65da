/**
 * The consequences of a change of the page, computed before listeners are called: the status of the
 * link's request, the nearest existing place of the model, pins whose token is gone. Pure functions
 * of the page and the previous one.
 */

import { blockOf, blocks, extent } from "../wire/attentions.js";
import { inForce } from "../wire/request.js";
import { REQUEST_KEYS } from "./link.js";
import { known, remembered } from "./two-runs.js";

/** @import { Page } from "./store.js" */
/** @import { State } from "./link.js" */
/** @import { ModelInfo } from "../wire/model.js" */
/** @import { Trace } from "../wire/wire.js" */
/** @typedef {Pick<import("../figure/types.js").View, "blocks" | "settle">} Rules  of a view */
/** @typedef {(id: string) => Rules} Views */
/** @typedef {Pick<ModelInfo, "texts" | "attentions">} Table */

/**
 * @param {Views} [viewOf]
 * @param {(page: Page) => string} [opens]  the view that opens if the link's view is not offered
 * @returns {import("./store.js").Settle}
 */
export function settler(viewOf = () => ({}), opens = ({ link }) => link.view) {
  return (wanted, previous) => {
    const page = opened(wanted, previous, opens);
    const asked = requested(page, previous);
    const link = fitted(asked, viewOf);
    const settled = link === page.link ? asked : { ...asked, link };
    const { settle } = viewOf(link.view);
    return remembered(settle ? { ...settled, link: settle(settled, previous) } : settled);
  };
}

/**
 * If a view is not offered, the page shows another one, and remembers the requested one until the
 * reader moves on.
 * If it comes to be offered before that, as with another text, it opens.
 * @param {Page} page
 * @param {Page} previous
 * @param {(page: Page) => string} opens
 * @returns {Page}
 */
function opened(page, previous, opens) {
  const { link, unoffered } = page;
  const id = opens(page);
  if (unoffered && link.view === previous.link.view && page.trace !== previous.trace) {
    const again = { ...page, link: { ...link, view: unoffered } };
    if (opens(again) === unoffered) return { ...again, unoffered: null };
  }
  if (id !== link.view) return { ...page, link: { ...link, view: id }, unoffered: link.view };
  return unoffered && link.view !== previous.link.view ? { ...page, unoffered: null } : page;
}

/**
 * A link to a different trace waits for it unless it is known or there is nothing to request.
 * @param {Page} page
 * @param {Page} previous
 * @returns {Page}
 */
function requested(page, previous) {
  const asks = REQUEST_KEYS.some((key) => page.link[key] !== previous.link[key]) || inForce(page.link) !== inForce(previous.link);
  if (!asks || page.trace !== previous.trace) return page;
  if (!page.link.source.trim()) return { ...page, status: "empty", problem: null };
  const run = known(page);
  return run ? { ...page, trace: run.trace, model: run.model, status: "ready", problem: null } : { ...page, status: "waiting", problem: null };
}

/**
 * While a link is waiting, its place may not exist yet.
 * @param {Page} page
 * @param {Views} viewOf
 */
function fitted({ link, model, trace, status }, viewOf) {
  if (!model) return link;
  if (status === "ready" && trace) return kept(nearest(link, model, viewOf), model, trace);
  return blocks(model).some(({ id }) => id === link.block) ? suited(link, model, viewOf(link.view)) : link;
}

/**
 * The model that the link is about; null: it is not known yet, since the link waits for it while the
 * last model's trace is shown.
 * @param {Pick<Page, "link" | "model" | "models" | "status">} page
 */
export const modelOfLink = ({ link, model, models, status }) => (status === "ready" || model?.id === (link.model ?? models[0]?.id) ? model : null);

/**
 * The nearest existing block, layer and head.
 * @param {State} link
 * @param {Table} model
 * @param {Views} [viewOf]
 * @returns {State}
 */
export function nearest(link, model, viewOf = () => ({})) {
  const moved = suited(link, model, viewOf(link.view));
  const { layers, heads } = extent(model, moved.block);
  const [layer, head] = [Math.min(link.layer, layers - 1), Math.min(link.head, heads - 1)];
  return layer === link.layer && head === link.head ? moved : { ...moved, layer, head };
}

/**
 * A block that does not exist, or to which the view does not apply, is replaced by the last one
 * that fits.
 * @param {State} link
 * @param {Table} model
 * @param {Rules} view
 * @returns {State}
 */
function suited(link, model, { blocks: suits = () => true }) {
  const open = blocks(model).filter(suits);
  const block = open.find(({ id }) => id === link.block) ?? open.at(-1);
  return !block || block.id === link.block ? link : { ...link, block: block.id, ...unpinned(link) };
}

/** A pin belongs to a block, unless the link names none. @param {State} link */
const unpinned = ({ block }) => (block ? { query: null, key: null } : {});

/**
 * Remove a pin whose token is gone.
 * @param {State} link
 * @param {Table} model
 * @param {Pick<Trace, "tokens">} trace
 * @returns {State}
 */
export function kept(link, model, { tokens }) {
  const { query, key } = blockOf(model, link.block);
  const within = (/** @type {number | null} */ at, /** @type {string} */ text) => (at ?? 0) < (tokens[text]?.length ?? 0);
  return within(link.query, query) && within(link.key, key) ? link : { ...link, query: null, key: null };
}
