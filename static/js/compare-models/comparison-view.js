/** Compare with a second model, on the same text. */

import { headThumbnail, matrix, named } from "../core/compute/computed-tensors.js";
import { explainedCell } from "../core/compute/attention-row.js";
import { colourTable, drawThumbnail } from "../core/draw/head-grid.js";
import { sequential } from "../core/draw/colour-scales.js";
import { quoted } from "../core/draw/token.js";
import { changeList } from "../core/figure/matrix-difference.js";
import { wording } from "../core/figure/problem-wording.js";
import { blockName, modelLabel, modelsByTask, taskHeading } from "../core/store/model-part-names.js";
import { blocks, extent } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { NO_B, blockB, modelB, modelComparison, otherModels, placeB, traceB } from "./model-comparison.js";
import { axesOf, panels, pointing } from "./panels.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Models, Side } from "./model-comparison.js" */

// What the highlighted token looks at most, in both models.

/**
 * @param {Pick<Context, "t" | "phrase">} context
 * @param {Models} comparison
 * @param {import("./panels.js").Marked} marked
 * @returns {import("../lib/dom.js").Child[]}
 */
export function finding({ t, phrase }, { a, b }, marked) {
  const [strongestA, strongestB] = [strongest(a, marked.a), strongest(b, marked.b)];
  const first = strongestA ?? strongestB;
  if (!first) return [];
  const query = el("span", { className: "as-query" }, quoted(first.query));
  if (strongestA && strongestB) {
    const values = { query, a: key(strongestA), x: two(strongestA.weight), b: key(strongestB), y: two(strongestB.weight) };
    return phrase(t("{query} looks most at {a} in A ({x}) and at {b} in B ({y})."), values);
  }
  const values = { query, key: key(first), x: two(first.weight) };
  return phrase(strongestA ? t("In A, {query} looks most at {key} ({x}).") : t("In B, {query} looks most at {key} ({x})."), values);
}

/** @param {NonNullable<ReturnType<typeof strongest>>} cell */
const key = ({ key }) => el("span", { className: "as-key" }, quoted(key));

/**
 * The largest weight of a row; of several rows, the last: with a causal mask it has read the others.
 * @param {Side} side
 * @param {import("../core/draw/matrix-geometry.js").Place} place
 */
function strongest({ matrix, rows, cols }, { row, tall = 1 }) {
  const rowIndex = row === null ? null : row + tall - 1;
  const cell = rowIndex === null ? null : explainedCell(matrix, rowIndex, null);
  if (rowIndex === null || !cell) return null;
  const weight = matrix.values[rowIndex * matrix.cols + cell.col];
  return weight > 0 ? { query: rows.steps[rowIndex].writes, key: cols.steps[cell.col].writes, weight } : null;
}

// Pickers of B: its model, and the attention, the layer and the head in it.

/** @param {Context} context */
function pickers(context) {
  const { store, t, uniqueId } = context;
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
    const [otherModel, place, trace] = [modelB(page), placeB(page), traceB(page)];
    heads.hidden = !otherModel || !place;
    if (!otherModel || !place) return;
    const { heads: count } = extent(otherModel, place.block);
    render(list, Array.from({ length: count }, (_, i) => thumb(t("Head {n}", { n: i + 1 }), name, i, place.head)));
    if (!trace || trace instanceof Problem) return;
    const colours = colourTable(sequential(context.theme()));
    list.querySelectorAll("canvas").forEach((canvas, head) => {
      const matrix = headThumbnail(otherModel, trace, { ...place, head });
      if (matrix) drawThumbnail(canvas, matrix, colours);
    });
  }

  return {
    elements,
    refresh() {
      const page = store.get();
      const [otherModel, chosen, place] = [modelB(page), blockB(page), placeB(page)];
      if (!otherModel || !chosen) return;
      const groups = modelsByTask(otherModels(page)).map(({ task, models }) =>
        el("optgroup", { key: String(task), label: taskHeading(t, task) }, models.map((modelInfo) => el("option", { key: modelInfo.id, value: modelInfo.id }, modelLabel(t, modelInfo)))),
      );
      model.fill(groups, otherModel.id);
      const all = blocks(otherModel);
      block.element.hidden = all.length < 2;
      block.fill(all.map(({ id }) => el("option", { key: id, value: id }, blockName(id, t))), chosen.id);
      layer.fill(chosen.rows.map((_, i) => el("option", { key: i, value: String(i) }, String(i + 1))), String(place?.layer ?? 0));
      drawHeads(uniqueId("head-b"));
    },
  };
}

/** @param {string} label @param {string} name @param {number} head @param {number} chosen */
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
    /** @param {import("../lib/dom.js").Described[]} values @param {string} chosen */
    fill(values, chosen) {
      render(list, values);
      list.value = chosen;
    },
  };
}

/**
 * @param {Context} context
 * @param {HTMLElement} root
 * @param {HTMLElement} bar  with the options, to which it adds
 * @param {import("../core/figure/types.js").Finding} finding
 */
export function mountModels(context, root, bar, { line: lead, inner }) {
  const { store } = context;
  const currentComparison = () => {
    const result = modelComparison(store.get());
    return result instanceof Problem ? null : result;
  };
  function light() {
    const comparison = currentComparison();
    const marked = points.marked();
    all.mark(marked);
    render(lead, comparison ? finding(context, comparison, marked) : []);
  }
  const points = pointing(context, currentComparison, light);
  const choose = pickers(context);
  const hint = h("div", { className: "hint" });
  const all = panels(context, points);
  all.element.classList.add("models");
  const list = changeList(context, points.pick);
  all.element.append(list.element);
  bar.append(...choose.elements);
  root.append(inner, hint, all.element);

  return {
    draw() {
      const result = modelComparison(store.get());
      const comparison = currentComparison();
      choose.refresh();
      render(hint, hints(context, result));
      all.element.hidden = !comparison;
      if (comparison) {
        points.forget();
        all.draw(comparison);
        const [rows, cols] = axesOf(comparison, "delta");
        list.draw({ rows, cols, changes: comparison.changes });
      }
      light();
    },
    light,
    destroy: () => (points.stop(), all.destroy(), choose.elements.forEach((element) => element.remove())),
    picture: () => (currentComparison() ? all.picture() : null),
    numbers() {
      const comparison = currentComparison();
      return comparison && numbersOf(comparison);
    },
  };
}

/**
 * Why there is nothing to compare, or no difference.
 * @param {Context} context
 * @param {ReturnType<typeof modelComparison>} result
 */
function hints({ t }, result) {
  if (result instanceof Problem) return [el("p", { className: "problem", role: "alert" }, wording(t, result))];
  if (!result || result.delta) return [];
  const equalTexts = { rows: result.a.rows.text === result.b.rows.text, cols: result.a.cols.text === result.b.cols.text };
  if (equalTexts.rows && equalTexts.cols) return [el("p", {}, t("A and B have no equal tokens, so there is no difference to show."))];
  return [el("p", {}, equalTexts.cols
    ? t("The rows of A and B are different texts, so there is no difference to show. Point at a column to see the same characters in both.")
    : equalTexts.rows
      ? t("The columns of A and B are different texts, so there is no difference to show. Point at a row to see the same characters in both.")
      : t("A and B show different texts. Choose attention within the sentence in both to compare them."))];
}

/** @param {Models} comparison @returns {import("../core/compute/computed-tensors.js").ComputedTensors} */
function numbersOf(comparison) {
  const { a, b, delta } = comparison;
  const [rows, cols] = axesOf(comparison, "delta");
  const tokens = { "a.query": named(a.rows.steps), "a.key": named(a.cols.steps), "b.query": named(b.rows.steps), "b.key": named(b.cols.steps) };
  const tensors = { a: matrix(a.matrix, "a.query", "a.key"), b: matrix(b.matrix, "b.query", "b.key") };
  if (!delta) return { tokens, tensors };
  return {
    tokens: { ...tokens, query: named(rows.steps), key: named(cols.steps) },
    tensors: { ...tensors, delta: matrix(delta.matrix) },
  };
}
