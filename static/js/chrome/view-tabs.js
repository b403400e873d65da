/** Where the figure stands: tabs for the views, the kind of attention, and what is said above. */

import { blockOf, blocks } from "../data/attentions.js";
import { find } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { radios } from "../parts/controls.js";
import { blockName } from "../state/model-part-names.js";
import { view } from "../views/index.js";
import { bindUnfrozen } from "./missing-from-share.js";
import { bindUnoffered } from "./view-not-offered.js";
import { bindScreen } from "./figure-height.js";

/** @typedef {import("./types.js").Desk} Desk */
/** @typedef {import("../state/store.js").Page} Page */

/** @param {Desk} desk */
export function bindStage(desk) {
  bindUnfrozen(desk);
  bindUnoffered(desk);
  bindScreen(desk.figure);
  tabs(desk);
  kinds(desk);
}

/**
 * What stands around a view: its stylesheets read it off the root.
 * @param {import("../state/types.js").View} view
 */
export function surround({ id, frame: { rail, inspector, caption } }) {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { view: id, rail });
  dataset.inspector = inspector ? "yes" : "no";
  dataset.caption = caption ? "yes" : "no";
}

/** A tab for each view that is offered. @param {Desk} desk */
function tabs({ store, t, figure }) {
  const slice = (/** @type {Page} */ { link }) => [view(link.view).id, ...figure.offer()];
  const offered = () => ({ names: Object.fromEntries(figure.offer().map(({ id, name }) => [id, name(t)])) });
  choose(".views", store, slice, offered, ({ link }) => view(link.view).id, (id) => ({ view: id }));
}

/** The kinds of attention that the model has. @param {Desk} desk */
function kinds({ store, t }) {
  const slice = (/** @type {Page} */ { model, link }) => [model, link.view, link.block];
  const there = () => {
    const { model, link } = store.get();
    const { blocks: suits = () => true } = view(link.view);
    const names = Object.fromEntries(blocks(model).map(({ id }) => [id, blockName(id, t)]));
    return { names, fixed: (/** @type {string} */ id) => !suits(blockOf(model, id)) };
  };
  choose(".blocks", store, slice, there, ({ link }) => link.block, (block) => ({ block, query: null, key: null }));
}

/**
 * Radio buttons, in each place for them on the page.
 * @param {string} places
 * @param {import("../state/store.js").Store} store
 * @param {(page: Page) => unknown} slice  what they go by
 * @param {() => {names: Record<string, string>, fixed?: (id: string) => boolean}} options  fixed: which
 *   cannot be chosen
 * @param {(page: Page) => string} present
 * @param {(id: string) => Partial<import("../state/link.js").State>} patch
 */
function choose(places, store, slice, options, present, patch) {
  for (const list of document.querySelectorAll(places)) {
    const legend = find("legend", list);
    const show = () => {
      const before = list.querySelector(":checked");
      const { names, fixed } = options();
      render(list, legend, radios(`choice-${list.id}`, names, present(store.get()), fixed));
      const now = list.querySelector(":checked");
      if (now && now !== before) reveal(list, /** @type {Element} */ (now.closest("label")));
    };
    list.addEventListener("change", ({ target }) => store.go(patch(/** @type {HTMLInputElement} */ (target).value)));
    store.subscribe(slice, show);
    show();
  }
}

/** A list that is wider than its window moves so that a choice stands in its middle. @param {Element} list @param {Element} label */
function reveal(list, label) {
  const [outer, inner] = [list, label].map((element) => element.getBoundingClientRect());
  list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
