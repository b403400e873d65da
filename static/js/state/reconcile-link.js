/**
 * What follows from a change of the page, worked out before anyone hears of it: the status of what
 * the link asks for, the nearest place that the model has, a pin whose token is gone. Pure
 * functions of the page and of the one before.
 */

import { blockOf, blocks, extent } from "../data/attentions.js";
import { inForce } from "../data/request.js";
import { REQUEST_KEYS } from "./link.js";
import { known, remembered } from "./two-runs.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./link.js").State} State */
/** @typedef {import("../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {Pick<import("./types.js").View, "blocks" | "settle">} Rules  of a view */
/** @typedef {(id: string) => Rules} Views */
/** @typedef {Pick<ModelInfo, "texts" | "attentions">} Table */

/**
 * @param {Views} [viewOf]
 * @param {(page: Page) => string} [opens]  the view that opens where the link's own is not offered
 * @returns {import("./store.js").Settle}
 */
export function settler(viewOf = () => ({}), opens = ({ link }) => link.view) {
  return (wanted, previous) => {
    const page = opened(wanted, previous, opens(wanted));
    const asked = requested(page, previous);
    const link = fitted(asked, viewOf);
    const settled = link === page.link ? asked : { ...asked, link };
    const { settle } = viewOf(link.view);
    return remembered(settle ? { ...settled, link: settle(settled, previous) } : settled);
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
 * A link that asks for another trace waits for it where it is not known, or has nothing to ask.
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
 * A link that still waits may mean a place that is yet to come.
 * @param {Page} page
 * @param {Views} viewOf
 */
function fitted({ link, model, trace, status }, viewOf) {
  if (!model) return link;
  if (status === "ready" && trace) return kept(nearest(link, model, viewOf), model, trace);
  return blocks(model).some(({ id }) => id === link.block) ? suited(link, model, viewOf(link.view)) : link;
}

/**
 * The nearest block, layer and head that the model has.
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
 * A block that is not there, or that the view is not for, is the last one that is.
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

/** A pin is of a block; one that was not said may be any. @param {State} link */
const unpinned = ({ block }) => (block ? { query: null, key: null } : {});

/**
 * Without a pin whose token is gone.
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
