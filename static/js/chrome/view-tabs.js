/** Where the figure stands: tabs for the views, the kind of attention, and what is said above. */

import { blocks } from "../data/attentions.js";
import { h } from "../lib/dom.js";
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
  for (const list of document.querySelectorAll(".views")) {
    const name = `view-${list.id}`;
    /** @type {Element[]} */
    let made = [];
    const fill = () => {
      made.forEach((label) => label.remove());
      made = figure.offer().map(({ id, name: says }) => choice(name, id, says(t)));
      list.append(...made);
    };
    fill();
    store.subscribe(figure.offer, fill);
    choose(list, ({ link }) => view(link.view).id, (id) => store.go({ view: id }), store, figure.offer);
  }
}

/** @param {Desk} desk */
function kinds({ store, t }) {
  const go = (/** @type {string} */ block) => store.go({ block, query: null, key: null });
  for (const list of document.querySelectorAll(".blocks")) {
    choose(list, ({ link }) => link.block, go, store);
    const fill = () => {
      const { model, link } = store.get();
      const all = blocks(model);
      if (!all.length) return;
      const there = radios(list).map(({ value }) => value);
      if (String(there) !== String(all.map(({ id }) => id))) {
        radios(list).forEach((radio) => labelOf(radio).remove());
        list.append(...all.map(({ id }) => choice(`block-${list.id}`, id, blockName(id, t))));
      }
      const { blocks: suits = () => true } = view(link.view);
      radios(list).forEach((radio, i) => {
        radio.disabled = !suits(all[i]);
        radio.checked = radio.value === link.block;
      });
    };
    store.subscribe(({ model, link }) => [model, link.view], fill);
    fill();
  }
}

/** @param {string} name @param {string} value @param {string} says */
function choice(name, value, says) {
  return h(
    "label",
    {},
    h("input", { type: "radio", name, value, className: "hidden" }),
    h("span", {}, says),
  );
}

/** @param {Element} list @returns {HTMLInputElement[]} */
const radios = (list) => [...list.querySelectorAll("input")];
/** @param {HTMLInputElement} radio @returns {HTMLElement} */
const labelOf = (radio) => /** @type {HTMLElement} */ (radio.closest("label"));

/**
 * @param {Element} list
 * @param {(page: Page) => string} present
 * @param {(value: string) => void} go
 * @param {import("../state/store.js").Store} store
 * @param {() => unknown[]} [offer]  what there is to choose; absent: always the same
 */
function choose(list, present, go, store, offer = () => []) {
  const show = () => {
    for (const radio of radios(list)) {
      const chosen = radio.value === present(store.get());
      if (chosen && !radio.checked) reveal(list, labelOf(radio));
      radio.checked = chosen;
    }
  };
  list.addEventListener("change", (event) =>
    go(/** @type {HTMLInputElement} */ (event.target).value),
  );
  store.subscribe((page) => [present(page), ...offer()], show);
  show();
}

/** A list that is wider than its window moves so that a choice stands in its middle. @param {Element} list @param {Element} label */
function reveal(list, label) {
  const [outer, inner] = [list, label].map((element) => element.getBoundingClientRect());
  list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
