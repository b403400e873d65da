/**
 * The cell that arrow keys or a click reached, whether or not the link can pin it. It is announced
 * to screen readers; Escape unpins it.
 */

import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Place } from "../../core/draw/geometry.js" */
/** @typedef {{row: number, col: number}} Cell */

/**
 * @param {Context} context
 * @param {() => void} light  called when the cell changes
 */
export function createKeyCell({ keys, announce, t }, light) {
  /** @type {Cell | null} */
  let at = null;
  const stop = keys.listen(({ key }) => {
    if (key !== "Escape" || !at) return;
    at = null;
    light();
    announce(t("Unpinned."));
  });
  return {
    at: () => at,
    /**
     * @param {Place} place  a missing row or column stays as it is
     * @param {string} name  of the matrix
     * @param {(cell: Cell) => import("../../lib/render.js").Child[]} tip
     */
    move({ row, col }, name, tip) {
      at = { row: row ?? at?.row ?? 0, col: col ?? at?.col ?? 0 };
      light();
      announce(`${name}: ${words(tip(at))}`);
    },
    stop,
  };
}

/** The text of a tooltip. @param {import("../../lib/render.js").Child[]} children */
function words(children) {
  const line = h("p", {});
  render(line, ...children);
  return line.textContent ?? "";
}
