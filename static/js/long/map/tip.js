/** The tooltip of the hovered cell. */

import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";

/** Within this distance from the top, in pixels, it is shown below the pointer. */
const TOP = 60;

export function createTip() {
  const element = h("div", { className: "tip", hidden: true, role: "presentation" });
  return {
    element,
    hide: () => void (element.hidden = true),

    /**
     * @param {import("../../lib/render.js").Child[]} words
     * @param {import("./map-window.js").Point} point  in pixels of the cells
     * @param {import("./map-picture.js").Frame} frame
     */
    show(words, { x, y }, { left, top, width }) {
      render(element, words);
      element.hidden = false;
      const [end, below] = [x > width / 2, y < TOP];
      element.classList.toggle("end", end);
      element.classList.toggle("below", below);
      element.style.left = `${left + x + (end ? -8 : 8)}px`;
      element.style.top = `${top + y + (below ? 14 : -4)}px`;
    },
  };
}
