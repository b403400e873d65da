/** What each head adds to a logit: a row an attention, a column a head. */

import { onArrows } from "../../parts/arrow-keys.js";
import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Sum} Sum */
/** @typedef {{block: string, layer: number, head: number}} At */
/** @typedef {(element: HTMLElement, value: number) => void} Paint */

/**
 * @param {Context} context
 * @param {(at: At) => void} pick
 */
export function headTable({ t }, pick) {
  const element = h("table", { className: "head-sums", "aria-label": t("What each head adds to the logit. Arrow keys move, Enter picks a head.") });
  /** @type {HTMLButtonElement[][]} */
  let cells = [];
  /** A layer looks at its own text first. */
  const kinds = [t("self"), t("cross")];

  onArrows(element, (down, right, { target }) => {
    const row = cells.findIndex((line) => line.includes(/** @type {any} */ (target)));
    const col = cells[row]?.indexOf(/** @type {any} */ (target)) ?? -1;
    if (col < 0) return false;
    const next = cells[row + down]?.[col + right];
    if (next) reach(next).focus();
    return true;
  });

  /** The one cell that Tab comes to. @param {HTMLButtonElement} button */
  function reach(button) {
    for (const one of cells.flat()) one.tabIndex = one === button ? 0 : -1;
    return button;
  }

  return {
    element,

    /** @param {Sum} sum @param {Paint} paint @param {{block: string, layer: number, head: number}} present */
    draw(sum, paint, present) {
      const focused = element.contains(document.activeElement);
      const rows = sum.heads[0].values.flatMap((_, layer) =>
        sum.heads.map(({ block, values }, n) => ({ block, layer, n, name: kinds[n], values: values[layer] })),
      );
      cells = rows.map(({ block, layer, n, values }) =>
        values.map((value, head) => cell({ block, layer, head }, n, value, paint, present)),
      );
      element.replaceChildren(
        h(
          "thead",
          {},
          h("tr", {}, h("th", { colSpan: 2, className: "kind" }, t("Head")), ...rows[0].values.map((_, n) => h("th", { scope: "col" }, String(n + 1)))),
        ),
        h(
          "tbody",
          {},
          ...rows.map(({ layer, block, n, name }, i) =>
            h(
              "tr",
              { className: n === sum.heads.length - 1 ? `${block} last` : block },
              n === 0 && h("th", { scope: "rowgroup", rowSpan: sum.heads.length }, t("Layer {n}", { n: layer + 1 })),
              h("th", { scope: "row", className: "kind" }, name),
              ...cells[i].map((button) => h("td", {}, button)),
            ),
          ),
        ),
      );
      const chosen = reach(cells.flat().find((one) => one.getAttribute("aria-pressed") === "true") ?? cells[0][0]);
      if (focused) chosen.focus();
    },
  };

  /** @param {At} at @param {number} n  which of the layer's @param {number} value @param {Paint} paint @param {{block: string, layer: number, head: number}} present */
  function cell(at, n, value, paint, present) {
    const { block, layer, head } = at;
    const where = { layer: layer + 1, head: head + 1, value: signed(value, four) };
    const says = n ? t("Layer {layer}, cross attention, head {head}: {value}", where) : t("Layer {layer}, self-attention, head {head}: {value}", where);
    const here = block === present.block && layer === present.layer && head === present.head;
    const button = h("button", { type: "button", title: says, "aria-label": says, "aria-pressed": here }, signed(value));
    button.dataset.value = value.toFixed(6);
    paint(button, value);
    button.addEventListener("click", () => pick(at));
    return button;
  }
}

/**
 * With its sign, which is the point.
 * @param {number} value
 * @param {(value: number) => string} [say]
 */
export function signed(value, say = two) {
  const said = say(value);
  return value > 0 && Number(said) !== 0 ? `+${said}` : said;
}
