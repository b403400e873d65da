/** Where the figure stands: tabs for the views, the kind of attention, and what is said above. */

import { h } from "../lib/dom.js";
import { view } from "../views/index.js";
import { bindUnfrozen } from "./not-frozen.js";
import { bindUnoffered } from "./not-offered.js";
import { bindScreen } from "./screen.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("../state/store.js").Page} Page */

/** @param {Desk} desk */
export function bindStage(desk) {
  bindUnfrozen(desk);
  bindUnoffered(desk);
  bindScreen(desk.figure);
  document.querySelectorAll(".views").forEach((list) => tabs(desk, list));
  blocks(desk.store);
}

/**
 * What stands around a view: its stylesheets read it off the root.
 * @param {import("../state/contract.js").View} view
 */
export function surround({ id, blocks, frame: { rail, inspector, caption } }) {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { view: id, rail });
  dataset.inspector = inspector ? "yes" : "no";
  dataset.caption = caption ? "yes" : "no";
  for (const radio of document.querySelectorAll(".blocks input")) {
    const { value } = /** @type {HTMLInputElement} */ (radio);
    radio.toggleAttribute("disabled", blocks !== undefined && !blocks.includes(/** @type {any} */ (value)));
  }
}

/**
 * A tab for each view that is offered.
 * @param {Desk} desk
 * @param {Element} list
 */
function tabs({ store, t, figure }, list) {
  const name = `view-${list.id}`;
  /** @type {Element[]} */
  let made = [];
  function fill() {
    made.forEach((label) => label.remove());
    made = figure.offer().map(({ id, name: says }) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name, value: id, className: "hidden" }),
        h("span", {}, says(t)),
      ),
    );
    list.append(...made);
  }
  fill();
  store.subscribe(figure.offer, fill);
  const go = (/** @type {string} */ id) => store.go({ view: id });
  choose(list, name, ({ link }) => view(link.view).id, go, store, figure.offer);
}

/** @param {import("../state/store.js").Store} store */
function blocks(store) {
  const go = (/** @type {string} */ block) =>
    store.go({
      block: /** @type {import("../state/link.js").State["block"]} */ (block),
      query: null,
      key: null,
    });
  for (const list of document.querySelectorAll(".blocks"))
    choose(list, `block-${list.id}`, ({ link }) => link.block, go, store);
}

/**
 * @param {Element} list
 * @param {string} name  of the radio buttons
 * @param {(page: Page) => string} present
 * @param {(value: string) => void} go
 * @param {import("../state/store.js").Store} store
 * @param {() => unknown[]} [offer]  what there is to choose; absent: always the same
 */
function choose(list, name, present, go, store, offer = () => []) {
  const show = () => {
    for (const radio of list.querySelectorAll("input")) {
      radio.name = name;
      const chosen = radio.value === present(store.get());
      if (chosen && !radio.checked) reveal(list, /** @type {Element} */ (radio.closest("label")));
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
