/** Why the cell with the focus cannot be used: on top of the page, so that nothing moves. */

import { h, write } from "../../lib/dom.js";

/** Pixels between the table and the note. */
const GAP = 6;

/**
 * @param {HTMLElement} table
 * @param {(cell: Element) => string} why  "": it can be used, or is not a cell
 */
export function createCellNote(table, why) {
  // Screen readers read the description of the cell instead.
  const element = h("p", { className: "cell-note", popover: "manual", "aria-hidden": "true" });

  /** Show the note below the table, or hide it. */
  function refresh() {
    const { activeElement: cell, defaultView: view } = table.ownerDocument;
    const words = cell && table.contains(cell) ? why(cell) : "";
    if (!element.isConnected || !view) return;
    element.togglePopover(Boolean(words));
    if (!cell || !words) return;
    write(element, words);
    const { left } = cell.getBoundingClientRect();
    const low = view.visualViewport?.height ?? view.innerHeight; // above the keyboard of a phone
    const top = Math.min(table.getBoundingClientRect().bottom + GAP, low - element.offsetHeight - GAP);
    const start = Math.max(GAP, Math.min(left, view.innerWidth - element.offsetWidth - GAP));
    // It scrolls with the page.
    Object.assign(element.style, { left: `${start + view.scrollX}px`, top: `${top + view.scrollY}px` });
  }
  table.addEventListener("focusin", refresh);
  table.addEventListener("focusout", () => element.isConnected && element.togglePopover(false));
  return { element, refresh };
}
