/** The highlighted row, column and cell of a matrix, and the tooltip of the hovered cell. */

import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { box } from "../draw/geometry.js";

/** @import { Geometry, Place } from "../draw/geometry.js" */

export function createMatrixHighlight() {
  const [row, col, cell] = ["row", "col", "cell"].map((which) =>
    h("div", { className: `mark ${which}`, hidden: true }),
  );
  const tip = h("div", { className: "tip", hidden: true, role: "presentation" });
  return {
    elements: [row, col, cell, tip],

    /** @param {Geometry} geometry @param {Place} place */
    show(geometry, place) {
      const inRows = place.row !== null && place.row < geometry.rows;
      const inCols = place.col !== null && place.col < geometry.cols;
      lay(row, inRows && box(geometry, { ...place, col: null }));
      lay(col, inCols && box(geometry, { ...place, row: null }));
      lay(cell, inRows && inCols && box(geometry, place));
    },

    /**
     * @param {Geometry | null} geometry
     * @param {Place | null} place
     * @param {(cell: {row: number, col: number}) => import("../../lib/render.js").Child[]} says
     */
    tell(geometry, place, says) {
      const { row = null, col = null } = place ?? {};
      tip.hidden = row === null || col === null || !geometry;
      if (row === null || col === null || !geometry) return;
      render(tip, says({ row, col }));
      // Outside the row, so that its other cells stay visible, and towards the middle.
      const { left, top, width, height } = box(geometry, { row, col });
      const [end, below] = [col >= geometry.cols / 2, row < 2];
      tip.classList.toggle("end", end);
      tip.classList.toggle("below", below);
      tip.style.left = `${end ? left + width : left}px`;
      tip.style.top = `${below ? top + height : top}px`;
    },
  };
}

/** @param {HTMLElement} mark @param {ReturnType<typeof box> | false} where */
function lay(mark, where) {
  mark.hidden = !where;
  for (const [side, length] of Object.entries(where || {})) {
    mark.style.setProperty(side, `${length}px`);
  }
}
