/** The index of the views. To add a view, write its folder and add a line here. */

import { alignment } from "./alignment/view.js";
import { flow } from "./flow/view.js";
import { attention } from "./attention/view.js";
import { compare } from "./compare/view.js";
import { decoding } from "./decoding/view.js";
import { heads } from "./heads/view.js";
import { inside } from "./inside/view.js";
import { lines } from "./lines/view.js";
import { positions } from "./positions/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { training } from "./training/view.js";
import { whatif } from "./whatif/view.js";
import { worksheet } from "./worksheet/view.js";
import { blocks } from "../data/attentions.js";
import { isLong } from "../data/long-texts.js";
import { PAGE } from "../state/options.js";

/**
 * @typedef {object} Group  views that serve one purpose
 * @property {string} id
 * @property {(t: import("../lib/i18n.js").Translate) => string} name
 * @property {(t: import("../lib/i18n.js").Translate) => string} about  the purpose, in a few words
 * @property {import("../state/types.js").View[]} views
 */

/** @type {Group[]} */
export const GROUPS = [
  {
    id: "read",
    name: (t) => t("Read"),
    about: (t) => t("what each word looks at"),
    views: [decoding, alignment, lines, attention],
  },
  {
    id: "compute",
    name: (t) => t("Compute"),
    about: (t) => t("every number, step by step"),
    views: [worksheet, qkv, space, positions],
  },
  { id: "explain", name: (t) => t("Explain"), about: (t) => t("what the heads do"), views: [heads, flow, inside, training] },
  { id: "experiment", name: (t) => t("Experiment"), about: (t) => t("change it"), views: [compare, whatif] },
];

/** All views, in the order in which they are offered. */
export const VIEWS = GROUPS.flatMap(({ views }) => views);

/** All options that a link may contain. */
export const OPTIONS = Object.freeze(Object.assign({}, PAGE, ...VIEWS.map((view) => view.options)));

/**
 * @param {string} id
 * @returns {import("../state/types.js").View}  the first if there is no such view
 */
export function view(id) {
  return VIEWS.find((view) => view.id === id) ?? attention;
}

/**
 * @param {Pick<import("../state/store.js").Page, "model"> & Partial<Pick<import("../state/store.js").Page, "trace">>} page
 * @returns {import("../state/types.js").View[]}  those for which the model has the capabilities and
 *   an attention; of a long text those that can show it
 */
export function offered({ model, trace }) {
  if (!model) return VIEWS;
  if (isLong(trace)) return VIEWS.filter(({ long }) => long);
  const able = (/** @type {string} */ one) => model.capabilities.includes(one);
  return VIEWS.filter(({ capabilities = [], blocks: suits = () => true }) => capabilities.every(able) && blocks(model).some(suits));
}

/**
 * The view that opens if the link's view is not offered.
 * @param {import("../state/types.js").Offer} [offer]
 * @returns {(page: import("../state/store.js").Page) => string}  its id; the link's own view if
 *   that is offered
 */
export function nearestView(offer = offered) {
  return (page) => {
    const [wanted, there] = [view(page.link.view), offer(page)];
    if (there.includes(wanted)) return page.link.view;
    const away = (/** @type {import("../state/types.js").View} */ one) => Math.abs(VIEWS.indexOf(one) - VIEWS.indexOf(wanted));
    return there.reduce((best, one) => (away(one) < away(best) ? one : best)).id;
  };
}
