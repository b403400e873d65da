/** A presenter's remote in projector mode: while a tour is open, its keys move through the tour. */

import { REMOTE, TURNS, alone } from "../core/figure/arrow-keys.js";

/** Elements that use arrows themselves. */
const WRITES = "input:not([type=radio], [type=checkbox]), textarea, select";

/**
 * @param {Pick<import("../workspace/types.js").Desk, "store">} desk
 * @param {{open: () => boolean, turn: (by: number) => void}} tour
 */
export function bindRemote({ store }, { open, turn }) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const by = TURNS[key];
    if (!by || !open() || !store.get().link.options.projector) return;
    if (!alone(event) || document.querySelector("dialog[open]")) return;
    if (!REMOTE[key] && target instanceof Element && target.closest(WRITES)) return;
    event.preventDefault();
    event.stopPropagation();
    turn(by);
  }
  // Handled before the keys of the figure and the page.
  window.addEventListener("keydown", pressed, { capture: true });
}
