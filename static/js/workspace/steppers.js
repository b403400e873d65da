/**
 * Small controls in place of the map: step to another layer or head, and a menu of kinds of
 * attention.
 */

import { blockOf, blocks, extent } from "../core/wire/attentions.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { blockName } from "../core/store/model-part-names.js";
import { view } from "../views/index.js";

/** @import { Desk } from "./types.js" */

/**
 * One step back or forward, cyclically.
 * @param {Pick<Desk, "store">} desk
 */
export function bindSteppers({ store }) {
  for (const which of /** @type {const} */ (["layer", "head"])) {
    const bar = find(`.stepper[data-of="${which}"]`);
    for (const button of bar.querySelectorAll("button"))
      button.addEventListener("click", () => step(store, which, Number(button.dataset.step)));
    const show = () => (find("output", bar).textContent = String(store.get().link[which] + 1));
    store.subscribe(({ link }) => link[which], show);
    show();
  }
}

/**
 * @param {Desk["store"]} store
 * @param {"layer" | "head"} which
 * @param {number} by
 */
export function step(store, which, by) {
  const { model, link } = store.get();
  const count = model ? extent(model, link.block)[`${which}s`] : 0;
  if (count) store.go({ [which]: (link[which] + by + count) % count });
}

/**
 * A menu of the kinds of attention that the view can show; hidden if there is only one.
 * @param {Desk} desk
 */
export function bindKinds({ store, t }) {
  const menu = /** @type {HTMLSelectElement} */ (find("#kind"));
  menu.addEventListener("change", () => store.go({ block: menu.value, query: null, key: null }));

  function show() {
    const { model, link } = store.get();
    const { blocks: suits = () => true } = view(link.view);
    const offered = blocks(model).filter(({ id }) => suits(blockOf(model, id)));
    render(menu, offered.map(({ id }) => el("option", { value: id }, blockName(id, t))));
    menu.value = link.block;
    menu.hidden = offered.length < 2;
  }
  store.subscribe(({ model, link }) => [model, link.view, link.block], show);
  show();
}
