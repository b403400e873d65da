/**
 * What follows from a change of the page, worked out before anyone hears of it: the status of what
 * the link asks for, the nearest layer and head that the model has, a pin whose token is gone. Pure
 * functions of the page and of the one before.
 */

import { BLOCK, extent } from "../data/blocks.js";
import { REQUEST_KEYS } from "./link.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./link.js").State} State */
/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {Pick<import("./contract.js").View, "blocks" | "settle">} Rules  of the view that is open */

/**
 * @param {(id: string) => Rules} [viewOf]
 * @param {(page: Page) => string} [opens]  the view that opens where the link's own is not offered
 * @returns {import("./store.js").Settle}
 */
export function settler(viewOf = () => ({}), opens = ({ link }) => link.view) {
  return (wanted, previous) => {
    const page = opened(wanted, previous, opens(wanted));
    const { blocks, settle } = viewOf(page.link.view);
    const asked = requested(page, previous);
    const link = fitted({ ...asked, link: suited(page.link, blocks) });
    const settled = link === page.link ? asked : { ...asked, link };
    return settle ? { ...settled, link: settle(settled, previous) } : settled;
  };
}

/**
 * Where a view is not offered the page shows another, and keeps which was asked for until one moves on.
 * @param {Page} page
 * @param {Page} previous
 * @param {string} id
 * @returns {Page}
 */
function opened(page, previous, id) {
  const { link, unoffered } = page;
  if (id !== link.view) return { ...page, link: { ...link, view: id }, unoffered: link.view };
  return unoffered && link.view !== previous.link.view ? { ...page, unoffered: null } : page;
}

/**
 * A link that asks for another trace waits for it, or has nothing to ask.
 * @param {Page} page
 * @param {Page} previous
 * @returns {Page}
 */
function requested(page, previous) {
  const asks = REQUEST_KEYS.some((key) => page.link[key] !== previous.link[key]);
  if (!asks || page.trace !== previous.trace) return page;
  return { ...page, status: page.link.source.trim() ? "waiting" : "empty", problem: null };
}

/**
 * A view that is not for the kind of attention at hand shows its first one.
 * @param {State} link
 * @param {State["block"][]} [blocks]
 * @returns {State}
 */
function suited(link, blocks) {
  if (!blocks || blocks.includes(link.block)) return link;
  return { ...link, block: blocks[0], query: null, key: null };
}

/** @param {Page} page  A link that still waits may mean a place that is yet to come. */
function fitted({ link, model, trace, status }) {
  return status === "ready" && model && trace ? kept(nearest(link, model), trace) : link;
}

/**
 * The nearest layer and head that the model has.
 * @param {State} link
 * @param {Pick<ModelInfo, "layers" | "heads">} model
 * @returns {State}
 */
export function nearest(link, model) {
  const { layers, heads } = extent(model, link.block);
  const [layer, head] = [Math.min(link.layer, layers - 1), Math.min(link.head, heads - 1)];
  return layer === link.layer && head === link.head ? link : { ...link, layer, head };
}

/**
 * Without a pin whose token is gone.
 * @param {State} link
 * @param {Pick<Trace, "tokens">} trace
 * @returns {State}
 */
export function kept(link, { tokens }) {
  const { query, key } = BLOCK[link.block];
  const fits = (link.query ?? 0) < tokens[query].length && (link.key ?? 0) < tokens[key].length;
  return fits ? link : { ...link, query: null, key: null };
}
