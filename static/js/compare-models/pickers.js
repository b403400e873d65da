/** Pickers of B: its model, and the attention, the layer and the head in it. */

import { blocks, extent } from "../core/wire/attentions.js";
import { glimpse } from "../core/compute/glimpses.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { table, thumbnail } from "../core/draw/head-grid.js";
import { sequential } from "../core/draw/scale.js";
import { NO_B, blockB, modelB, otherModels, placeB, traceB } from "./model-comparison.js";
import { called, grouped, headed } from "../core/store/model-names.js";
import { blockName } from "../core/store/model-part-names.js";
import { Problem } from "../core/wire/problem.js";

/** @import { Context } from "../core/figure/types.js" */

/** @param {Context} context */
export function pickers(context) {
  const { store, t, own } = context;
  const model = select(t("B's model"), (value) => store.choose({ ...NO_B, model_b: value }, "chosen"));
  const block = select(t("Attention"), (value) => store.choose({ block_b: value, layer_b: null, head_b: null }));
  const layer = select(t("Layer"), (value) => store.choose({ layer_b: Number(value) }));
  const legend = h("legend", {}, t("B's head"));
  const list = h("div", { className: "others" });
  const heads = h("fieldset", { className: "option other" }, legend, list);
  list.addEventListener("change", ({ target }) => store.choose({ head_b: Number(/** @type {HTMLInputElement} */ (target).value) }));
  const elements = [model.element, block.element, layer.element, heads];

  /** @param {string} name */
  function drawHeads(name) {
    const page = store.get();
    const [other, at, trace] = [modelB(page), placeB(page), traceB(page)];
    heads.hidden = !other || !at;
    if (!other || !at) return;
    const { heads: count } = extent(other, at.block);
    render(list, Array.from({ length: count }, (_, i) => thumb(t("Head {n}", { n: i + 1 }), name, i, at.head)));
    if (!trace || trace instanceof Problem) return;
    const colours = table(sequential(context.theme()));
    list.querySelectorAll("canvas").forEach((canvas, head) => {
      const matrix = glimpse(other, trace, { ...at, head });
      if (matrix) thumbnail(canvas, matrix, colours);
    });
  }

  return {
    elements,
    refresh() {
      const page = store.get();
      const [other, chosen, at] = [modelB(page), blockB(page), placeB(page)];
      if (!other || !chosen) return;
      const groups = grouped(otherModels(page)).map(({ task, models }) =>
        el("optgroup", { key: String(task), label: headed(t, task) }, models.map((one) => el("option", { key: one.id, value: one.id }, called(t, one)))),
      );
      model.fill(groups, other.id);
      const all = blocks(other);
      block.element.hidden = all.length < 2;
      block.fill(all.map(({ id }) => el("option", { key: id, value: id }, blockName(id, t))), chosen.id);
      layer.fill(chosen.rows.map((_, i) => el("option", { key: i, value: String(i) }, String(i + 1))), String(at?.layer ?? 0));
      drawHeads(own("head-b"));
    },
  };
}

/**
 * @param {string} label
 * @param {string} name
 * @param {number} head
 * @param {number} chosen
 */
const thumb = (label, name, head, chosen) =>
  el(
    "label",
    { key: head, className: "thumb", title: label },
    el("input", { type: "radio", name, value: String(head), className: "hidden", "aria-label": `B: ${label}`, checked: head === chosen }),
    el("canvas", { "aria-hidden": "true" }),
    el("span", { className: "number", "aria-hidden": "true" }, String(head + 1)),
  );

/** @param {string} label @param {(value: string) => void} choose */
function select(label, choose) {
  const list = h("select", {});
  list.addEventListener("change", () => choose(list.value));
  return {
    element: h("label", { className: "option menu" }, h("span", {}, label), list),
    /** @param {import("../lib/render.js").Described[]} values @param {string} chosen */
    fill(values, chosen) {
      render(list, values);
      list.value = chosen;
    },
  };
}
