/** The items of a collection: each a picture until it is opened. */

import { liven } from "../learn/figures.js";

/** @typedef {{element: HTMLElement, picture: string, open: () => Promise<void>}} Item  picture: its address; "": none */

/** @import { LiveFigures } from "../learn/live-figures.js" */

/** @param {Parameters<typeof liven>[0]} desk @param {LiveFigures} figures @returns {Item[]} */
export function bindItems(desk, figures) {
  return [...document.querySelectorAll("#items > .item")].map((one) => bindItem(desk, /** @type {HTMLElement} */ (one), figures));
}

/** @param {Parameters<typeof liven>[0]} desk @param {HTMLElement} element @param {LiveFigures} figures @returns {Item} */
function bindItem(desk, element, figures) {
  const figure = /** @type {HTMLElement | null} */ (element.querySelector(".live"));
  const start = /** @type {HTMLButtonElement | null} */ (element.querySelector(".start"));
  const picture = element.querySelector("img");
  let opened = false;

  async function open() {
    if (!figure || !start || opened || figures.of(figure)) return;
    opened = true;
    start.dataset.busy = "yes";
    opened = await liven(desk, figure, figures);
    delete start.dataset.busy;
  }

  start?.addEventListener("click", open);
  // A link whose picture cannot be drawn can still be opened, which says why.
  picture?.addEventListener("error", () => element.classList.add("no-picture"));
  return { element, picture: picture?.src ?? "", open };
}
