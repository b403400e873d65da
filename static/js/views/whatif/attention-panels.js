/**
 * The current head's attention before and after, and the difference; a cell of the changed one can
 * be dragged.
 */

import { isFixed } from "../../core/store/share-contents.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { trio as numbers } from "../../core/compute/computed-tensors.js";
import { attentions } from "./before-after.js";
import { changeList, panels, pointing } from "../../core/figure/matrix-difference.js";
import { throttle } from "../../lib/timing.js";
import { PACE, gesture } from "../../core/figure/change-controls.js";

/** @import { Context } from "../../core/figure/types.js" */

/** In pixels: the distance of a drag from 0 to 1, and the largest movement that is not a drag. */
const [WHOLE, STILL] = [160, 4];

/**
 * @param {Context} context  with the space beside the panel
 * @param {(query: number, key: number, weight: number, origin: "chosen" | "moved") => void} set
 */
export function attentionChanges(context, set) {
  const { store, t } = context;
  const currentComparison = () => attentions(store.get());
  const light = () => trio.mark(points.marked());
  // The list names the largest change; the highlight is the cell that the panel describes.
  const points = pointing(context, () => bare(currentComparison()), light);
  const trio = panels(context, points, names(t));
  const list = changeList(context, ({ row, col }) => points.onPick({ row, col }, "list"));
  const hint = h("p", { className: "hint-line" }, t("Drag a cell of the changed attention up or down to set its weight, or use the slider under “One cell”."));
  const element = h("div", {}, hint, trio.element);
  trio.element.append(list.element);
  trio.element.hidden = true;
  const after = /** @type {HTMLElement} */ (trio.element.querySelector(".trio-b .matrix"));
  dragging(after, (cell) => {
    const comparison = currentComparison();
    if (!comparison || isFixed(store.get())) return null;
    const { row, col } = points.marked();
    if (row === null || col === null) return null;
    const [query, key] = [comparison.rows.pairs[row].a, comparison.cols.pairs[col].a];
    const weight = comparison.b.matrix.values[row * comparison.cols.pairs.length + col];
    if (query === null || key === null || Number.isNaN(weight)) return null;
    cell(weight, (value, origin) => set(query, key, value, origin));
    return () => store.go({ query, key });
  });

  return {
    element,
    draw() {
      const comparison = currentComparison();
      // The old picture stays until the next one is loaded.
      if (!comparison) return;
      trio.element.hidden = false;
      points.forget();
      trio.draw(comparison);
      list.draw(comparison);
      light();
    },
    light,
    destroy: () => (points.stop(), trio.destroy()),
    picture: () => (currentComparison() ? trio.picture() : null),
    numbers() {
      const comparison = currentComparison();
      return comparison && numbers(comparison);
    },
  };
}

/** @param {import("../../core/store/comparison.js").Comparison | null} comparison */
const bare = (comparison) => comparison && { ...comparison, changes: [] };

/** @param {Context["t"]} t @returns {import("../../core/figure/matrix-difference.js").Names} */
const names = (t) => ({
  describe: (panel) => ({ a: t("as trained"), b: t("changed"), delta: "B − A" })[panel],
  titles: () => ({ rows: t("query (looks)"), cols: t("key (looked at)") }),
  heading: (panel, limit) => ({ a: `A ${t("as trained")}`, b: `B ${t("changed")}`, delta: `Δ = B − A, ±${two(limit)}` })[panel],
});

/** @typedef {(from: number, set: (value: number, origin: "chosen" | "moved") => void) => void} Take */

/**
 * Dragging up increases a weight, down decreases it. On touch screens, dragging scrolls; use the
 * slider.
 * @param {HTMLElement} element
 * @param {(take: Take) => (() => void) | null} begin  starts dragging the cell under the pointer;
 *   null: no cell to drag. The returned function pins the cell.
 */
function dragging(element, begin) {
  /** @type {{y: number, from: number, set: (value: number, origin: "chosen" | "moved") => void, pin: () => void, on: boolean} | null} */
  let drag = null;
  const step = gesture();
  const move = throttle((/** @type {number} */ value) => drag?.set(value, step.next()), PACE);
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const pin = begin((from, set) => (drag = { y: event.clientY, from, set, pin: () => {}, on: false }));
    if (drag && pin) drag.pin = pin;
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const up = drag.y - event.clientY;
    if (!drag.on && Math.abs(up) < STILL) return;
    if (!drag.on) {
      drag.on = true;
      drag.pin();
      element.setPointerCapture(event.pointerId);
      element.classList.add("dragged");
    }
    event.stopImmediatePropagation();
    move.later(Math.min(Math.max(drag.from + up / WHOLE, 0), 1));
  }, { capture: true });
  const end = () => {
    move.now();
    if (drag?.on) element.addEventListener("click", (event) => event.stopImmediatePropagation(), { capture: true, once: true });
    drag = null;
    step.end();
    element.classList.remove("dragged");
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
}
