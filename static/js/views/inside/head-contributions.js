/** What each head adds to a logit: one row per attention, one column per head. */

import { onArrows } from "../../core/figure/arrow-keys.js";
import { change, four, plus } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { foldedRows } from "./folding.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Sum } from "../../core/compute/logit-lens.js" */
/** @typedef {{block: string, layer: number, head: number}} At */
/** @typedef {(value: number) => Record<string, string>} Paint  a cell's style */

/**
 * @param {Context} context
 * @param {(at: At) => void} pick
 */
export function headTable({ t }, pick) {
  const element = h("table", { className: "head-sums" });
  const lines = () => [...element.querySelectorAll("tbody tr:not(.layers-hidden)")].map((line) => [...line.querySelectorAll("button")]);

  onArrows(element, (down, right, { target }) => {
    const cells = lines();
    const row = cells.findIndex((line) => line.includes(/** @type {any} */ (target)));
    const col = cells[row]?.indexOf(/** @type {any} */ (target)) ?? -1;
    if (col < 0) return false;
    const next = cells[row + down]?.[col + right];
    reach(next)?.focus();
    return true;
  });

  /** Make one cell the only one reachable by Tab. @param {HTMLButtonElement | undefined} button */
  function reach(button) {
    if (button) for (const one of lines().flat()) one.tabIndex = one === button ? 0 : -1;
    return button;
  }

  return {
    element,

    /** @param {string} label @param {Sum} sum @param {Paint} paint @param {At} present @param {Parameters<typeof foldedRows>[2]} fold */
    draw(label, sum, paint, present, fold) {
      element.ariaLabel = label;
      render(element, headRows(t, sum, fold, (at, n, value) => headCell(t, at, n, value, { paint, present, pick })));
      const buttons = lines().flat();
      const focused = buttons.find((one) => one === document.activeElement);
      reach(focused ?? buttons.find((one) => one.ariaPressed === "true") ?? buttons[0]);
    },
  };
}

/**
 * @param {Context["t"]} t
 * @param {Sum} sum
 * @param {Parameters<typeof foldedRows>[2]} fold
 * @param {(at: At, n: number, value: number) => import("../../lib/render.js").Described} cell
 */
function headRows(t, { heads }, fold, cell) {
  /** Self-attention comes first in a layer. */
  const kinds = [t("self"), t("cross")];
  const names = heads[0].values[0].map((_, n) => el("th", { scope: "col" }, String(n + 1)));
  const rows = foldedRows(t, heads[0].values.length, fold, names.length + 2, (layer) =>
    heads.map(({ block, values }, n) =>
      el(
        "tr",
        { className: n === heads.length - 1 ? `${block} last` : block },
        n === 0 && el("th", { scope: "rowgroup", rowSpan: heads.length }, t("Layer {n}", { n: layer + 1 })),
        el("th", { scope: "row", className: "kind" }, kinds[n]),
        values[layer].map((value, head) => el("td", {}, cell({ block, layer, head }, n, value))),
      ),
    ),
  );
  return [el("thead", {}, el("tr", {}, el("th", { colSpan: 2, className: "kind" }, t("Head")), names)), el("tbody", {}, rows)];
}

/**
 * @param {Context["t"]} t
 * @param {At} at
 * @param {number} n  index among the layer's attentions
 * @param {number} value
 * @param {{paint: Paint, present: At, pick: (at: At) => void}} how
 */
function headCell(t, at, n, value, { paint, present, pick }) {
  const { block, layer, head } = at;
  const where = { layer: layer + 1, head: head + 1, value: plus(value, four) };
  const says = n ? t("Layer {layer}, cross-attention, head {head}: {value}", where) : t("Layer {layer}, self-attention, head {head}: {value}", where);
  const here = block === present.block && layer === present.layer && head === present.head;
  const props = { type: "button", title: says, "aria-label": says, "aria-pressed": here, "data-value": value.toFixed(6) };
  return el("button", { ...props, style: paint(value), onclick: () => pick(at) }, change(value));
}
