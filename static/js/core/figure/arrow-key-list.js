/**
 * A list of buttons that is one stop of Tab: the arrow keys, Home and End move within it. A sentence
 * of twenty words would otherwise be twenty stops before the figure.
 */

import { LIST_STEPS, isPlainKey, within } from "./pointing.js";

/**
 * @param {HTMLElement} list  what is in it may change
 * @param {string} [item]  selector of what can have the focus
 */
export function makeOneStop(list, item = "button") {
  const items = () => /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll(item)]).filter(({ disabled }) => !disabled);
  /** @type {HTMLElement | null} */
  let last = null;
  list.dataset.oneStop = "";

  function reach() {
    const all = items();
    const stop = all.find((button) => button === last) ?? all.find((button) => button.getAttribute("aria-pressed") === "true") ?? all[0];
    for (const button of all) if (button.tabIndex !== (button === stop ? 0 : -1)) button.tabIndex = button === stop ? 0 : -1;
  }

  list.addEventListener("focusin", ({ target }) => {
    last = /** @type {HTMLElement} */ (target).closest(item);
    reach();
  });
  list.addEventListener("keydown", (event) => {
    const all = items();
    const index = all.findIndex((button) => button === event.target);
    if (index < 0 || !isPlainKey(event) || !(event.key in LIST_STEPS)) return;
    event.preventDefault();
    event.stopPropagation();
    all[within(Math.max(index + LIST_STEPS[event.key], 0), all.length)].focus();
  });
  new MutationObserver(reach).observe(list, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
  reach();
}
