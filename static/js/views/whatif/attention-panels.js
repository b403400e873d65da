/**
 * The current head's attention before and after, and the difference; a cell of the changed one can
 * be dragged.
 */

import { isFixed } from "../../core/store/share-contents.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { trio as numbers } from "../../core/compute/computed-tensors.js";
import { attentions } from "./before-after.js";
import { changeList, panels, pointing } from "../../core/figure/comparison.js";
import { throttle } from "../../lib/timing.js";
import { PACE, gesture } from "./change-controls.js";

/** @import { Context } from "../../core/figure/types.js" */

/** In pixels: the distance of a drag from 0 to 1, and the largest movement that is not a drag. */
const [WHOLE, STILL] = [160, 4];

/**
 * @param {Context} context  with the space beside the panel
 * @param {(query: number, key: number, weight: number, origin: "chosen" | "moved") => void} set
 */
export function attentionChanges(context, set) {
  const { store, t } = context;
  const found = () => attentions(store.get());
  const light = () => trio.mark(points.marked());
  // The list names the largest change; the highlight is the cell that the panel describes.
  const points = pointing(context, () => bare(found()), light);
  const trio = panels(context, points, names(t));
  const list = changeList(context, ({ row, col }) => points.onPick({ row, col }, "list"));
  const hint = h("p", { className: "hint-line" }, t("Drag a cell of the changed attention up or down to set its weight, or use the slider under “One cell”."));
  const element = h("div", {}, hint, trio.element);
  trio.element.append(list.element);
  trio.element.hidden = true;
  const after = /** @type {HTMLElement} */ (trio.element.querySelector(".trio-b .matrix"));
  dragging(after, (cell) => {
    const shown = found();
    if (!shown || isFixed(store.get())) return null;
    const { row, col } = points.marked();
    if (row === null || col === null) return null;
    const [query, key] = [shown.rows.pairs[row].a, shown.cols.pairs[col].a];
    const weight = shown.b.matrix.values[row * shown.cols.pairs.length + col];
    if (query === null || key === null || Number.isNaN(weight)) return null;
    cell(weight, (value, origin) => set(query, key, value, origin));
    return () => store.go({ query, key });
  });

  return {
    element,
    draw() {
      const shown = found();
      // The old picture stays until the next one is loaded.
      if (!shown) return;
      trio.element.hidden = false;
      points.forget();
      trio.draw(shown);
      list.draw(shown);
      light();
    },
    light,
    destroy: () => (points.stop(), trio.destroy()),
    picture: () => (found() ? trio.picture() : null),
    numbers() {
      const shown = found();
      return shown && numbers(shown);
    },
  };
}

/** @param {import("../../core/store/comparison.js").Comparison | null} shown */
const bare = (shown) => shown && { ...shown, changes: [] };

/** @param {Context["t"]} t @returns {import("../../core/figure/comparison.js").Names} */
const names = (t) => ({
  describe: (which) => ({ a: t("as trained"), b: t("changed"), delta: "B − A" })[which],
  titles: () => ({ rows: t("query (looks)"), cols: t("key (looked at)") }),
  heading: (which, most) => ({ a: `A ${t("as trained")}`, b: `B ${t("changed")}`, delta: `Δ = B − A, ±${two(most)}` })[which],
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
  let held = null;
  const step = gesture();
  const move = throttle((/** @type {number} */ value) => held?.set(value, step.next()), PACE);
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const pin = begin((from, set) => (held = { y: event.clientY, from, set, pin: () => {}, on: false }));
    if (held && pin) held.pin = pin;
  });
  element.addEventListener("pointermove", (event) => {
    if (!held) return;
    const up = held.y - event.clientY;
    if (!held.on && Math.abs(up) < STILL) return;
    if (!held.on) {
      held.on = true;
      held.pin();
      element.setPointerCapture(event.pointerId);
      element.classList.add("dragged");
    }
    event.stopImmediatePropagation();
    move.later(Math.min(Math.max(held.from + up / WHOLE, 0), 1));
  }, { capture: true });
  const end = () => {
    move.now();
    if (held?.on) element.addEventListener("click", (event) => event.stopImmediatePropagation(), { capture: true, once: true });
    held = null;
    step.end();
    element.classList.remove("dragged");
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
}
