/** The views by name: all of `view-groups.js`. */

import { attention } from "./attention/view.js";
import { GROUPS } from "./view-groups.js";
import { attentionAt, blocks, hasVectors, isBetweenTexts, place } from "../core/wire/model-description.js";
import { isLong } from "../core/wire/long-texts.js";
import { PAGE } from "../core/store/link-options.js";

/** All views, in the order in which they are offered. */
export const VIEWS = GROUPS.flatMap(({ views }) => views);

/** All options that a link may contain. */
export const OPTIONS = Object.freeze(Object.assign({}, PAGE, ...VIEWS.map((view) => view.options)));

/**
 * @param {string} id
 * @returns {import("../core/figure/types.js").View}  the first if there is no such view
 */
export function view(id) {
  return VIEWS.find((view) => view.id === id) ?? attention;
}

/**
 * @param {Pick<import("../core/store/store.js").Page, "model"> & Partial<Pick<import("../core/store/store.js").Page, "trace" | "link">>} page
 * @returns {import("../core/figure/types.js").View[]}  those for which the model has the capabilities and
 *   an attention, and the layer has q and k if it needs them; of a long text those that can show it
 */
export function offered({ model, trace, link }) {
  if (!model) return VIEWS;
  if (isLong(trace)) return VIEWS.filter(({ long }) => long);
  const able = (/** @type {string} */ capability) => model.capabilities.includes(capability);
  const weightsOnly = link !== undefined && attentionAt(model, place(model, link))?.qk === false;
  return VIEWS.filter(({ capabilities = [], blocks: suits = () => true }) =>
    capabilities.every(able) && blocks(model).some(suits) && !(weightsOnly && suits === hasVectors));
}

/**
 * Why a view is not offered for a model.
 * @param {import("../core/figure/types.js").View} view
 * @param {Pick<import("../core/store/store.js").Page, "model"> & Partial<Pick<import("../core/store/store.js").Page, "link">>} page
 * @returns {string | null}  a reason of the API; null: it is offered, or the reason is not known
 */
export function whyNot({ capabilities = [], blocks: suits = () => true }, { model, link }) {
  if (!model) return null;
  const lacking = capabilities.find((capability) => !model.capabilities.includes(capability));
  if (lacking) return model.missing?.[lacking] ?? null;
  if (suits === hasVectors && (!blocks(model).some(suits) || (link && attentionAt(model, place(model, link))?.qk === false))) return "weights-only";
  return suits === isBetweenTexts && !blocks(model).some(suits) ? "one-text" : null;
}

/**
 * The view that opens if the link's view is not offered.
 * @param {import("../core/figure/types.js").Offer} [offer]
 * @returns {(page: import("../core/store/store.js").Page) => string}  its id; the link's own view if
 *   that is offered
 */
export function nearestView(offer = offered) {
  return (page) => {
    const [current, available] = [view(page.link.view), offer(page)];
    if (available.includes(current)) return page.link.view;
    const away = (/** @type {import("../core/figure/types.js").View} */ candidate) => Math.abs(VIEWS.indexOf(candidate) - VIEWS.indexOf(current));
    return available.reduce((best, candidate) => (away(candidate) < away(best) ? candidate : best)).id;
  };
}
