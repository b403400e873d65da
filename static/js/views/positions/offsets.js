/**
 * Relative positions: the number that each head has for each offset, and its effect on the scores.
 */

import { abreast } from "../../core/draw/export-picture.js";
import { file } from "../../core/draw/svg.js";
import {
  attentionAt, axes, blockAt, extent, headIndices, maskOf, place, selfBlock, withMask,
} from "../../core/wire/model-description.js";
import { largest, row as vector } from "../../lib/vectors.js";
import { four, two } from "../../lib/numbers.js";
import { el, h } from "../../lib/dom.js";
import { step } from "../../core/draw/token.js";
import { Problem } from "../../core/wire/reply.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { answer, parameters } from "../../core/store/view-requests.js";
import { kindOf } from "../../core/compute/positions.js";
import { diverging } from "../../core/draw/colour-scales.js";
import { plane } from "../../core/wire/safetensors.js";
import { column, learned, scorer, scoringOf, termMatrix } from "../../core/compute/scoring.js";
import { bare, createKeyCell, picker } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Matrix } from "../../core/wire/safetensors.js" */
/** @import { Tensors } from "../../core/store/view-requests.js" */

/** The self-attention of the text, and the selected layer and head. @param {Page} page */
export function selectedHead({ link, model }) {
  const { id } = selfBlock(model, blockAt({ model, link }).query);
  const { layers, heads } = model ? extent(model, id) : { layers: 1, heads: 1 };
  return { block: id, layer: Math.min(link.layer, layers - 1), head: Math.min(link.head, heads - 1) };
}

/** @param {Page} page */
const scoringAt = (page) => scoringOf(attentionAt(page.model, place(page.model, selectedHead(page))));

/** @param {Page} page */
export const needs = (page) => [...["q", "k", "scores"].map((name) => place(page.model, selectedHead(page), name)), maskOf(page.model, selectedHead(page))];

/** @param {Page} page */
export const questions = (page) => [parameters(page, learned(scoringAt(page)))];

/** @param {Page} page @returns {Tensors | Problem | undefined} */
function learnedOf(page) {
  return answer(page, questions(page)[0]);
}

/** @param {Context} context */
export function createOffsets(context) {
  const { store, t } = context;
  const selects = [picker(context, "layer", selectedHead), picker(context, "head", selectedHead)];
  const table = byOffset(context);
  const trio = ["plain", "term", "score"].map((part) => scores(context, /** @type {ScorePart} */ (part)));
  const line = h("p", {});
  const element = h(
    "div",
    { className: "stacked" },
    table.element,
    h(
      "section",
      { className: "panel" },
      h("h3", {}, t("In the scores")),
      line,
      h("div", { className: "options" }, ...selects.map((select) => select.element)),
      h("div", { className: "panels" }, ...trio.map((panel) => panel.element)),
    ),
  );

  function draw() {
    const page = store.get();
    selects.forEach((select) => select.draw());
    const learnedTensors = learnedOf(page);
    const scoring = scoringAt(page);
    if (!scoring?.pi || !learnedTensors || learnedTensors instanceof Problem) return;
    table.draw(learnedTensors[scoring.pi]);
    line.textContent = kindOf(page.model).product
      ? t("the score of q and k by itself, the term π of the offset, and their product: what the softmax reads")
      : t("the score of q and k by itself, the term π of the offset, and their sum: what the softmax reads");
    const matrices = worked(page, learnedTensors);
    if (!matrices) return;
    const reach = largest(matrices.flatMap(({ values }) => [...values].filter(Number.isFinite))) || 1;
    trio.forEach((panel, i) => panel.draw(matrices[i], reach));
  }

  return {
    element,
    draw,
    light: () => trio.forEach((panel) => panel.light()),
    destroy: () => [table, ...trio].forEach((panel) => panel.destroy()),
    picture: () => ({ svg: file(abreast([...table.picture(), ...trio.flatMap((panel) => panel.picture())], context.theme(), 2), context.theme()) }),
    numbers: () => null,
  };
}

/**
 * The score without its term, the term, and the score as the model recorded it; masked cells are NaN.
 * @param {Page} page
 * @param {Tensors} learnedTensors
 * @returns {Matrix[] | null}  null until everything is loaded
 */
function worked(page, learnedTensors) {
  const { model, trace } = page;
  const selection = selectedHead(page);
  const scoring = scoringAt(page);
  const [q, k, scoreTensor] = ["q", "k", "scores"].map((name) => trace?.tensors[place(model, selection, name)]);
  const mask = trace?.tensors[maskOf(model, selection)];
  if (!scoring?.pi || !q || !k || !scoreTensor || !mask) return null;
  const [queries, keys] = [plane(q, headIndices(model, selection)), plane(k, headIndices(model, selection))];
  const of = scorer(scoring, (name) => learnedTensors[name], selection.head);
  const { cols } = keys;
  const plain = { rows: queries.rows, cols: keys.rows, values: new Float32Array(queries.rows * keys.rows) };
  for (let i = 0; i < queries.rows; i++)
    for (let j = 0; j < keys.rows; j++)
      plain.values[i * keys.rows + j] = of(queries.values.subarray(i * cols, (i + 1) * cols), keys.values.subarray(j * cols, (j + 1) * cols), i, j).plain;
  const term = termMatrix(learnedTensors[scoring.pi], selection.head, queries.rows, keys.rows);
  const may = plane(mask).values;
  return [plain, term, plane(scoreTensor, headIndices(model, selection))].map((matrix) => withMask(matrix, may));
}

/** Heads in rows, offsets in columns. @param {Context} context */
function byOffset(context) {
  const { store, t } = context;
  /** @type {Matrix | null} */
  let drawn = null;
  let reach = 1;
  const offset = (/** @type {number} */ col) => col - ((drawn?.cols ?? 1) - 1) / 2;
  const name = t("π of each head and offset");
  const matrix = createMatrix(context, {
    label: name,
    onHover: () => {},
    onPick(place) {
      if (place.row !== null) store.go({ head: place.row }, "moved");
      reached.move(place, name, tip);
    },
    picked: () => ({ row: selectedHead(store.get()).head, col: reached.cell()?.col ?? 0 }),
    tip,
  });
  const reached = createKeyCell(context, light);

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    return drawn ? [t("head {n}", { n: row + 1 }), " ", t("offset {n}", { n: minus(offset(col)) }), " ", el("b", {}, four(drawn.values[row * drawn.cols + col]))] : [];
  }

  function light() {
    matrix.mark({ row: selectedHead(store.get()).head, col: reached.cell()?.col ?? null });
  }

  const line = h("p", {});
  return {
    element: h("section", { className: "panel" }, h("h3", {}, t("A number for each head and offset")), line, h("div", { className: "scroller" }, matrix.element)),
    /** @param {import("../../core/wire/safetensors.js").Tensor} pi */
    draw(pi) {
      const page = store.get();
      const maxOffset = Math.max(1, (page.trace?.tokens[blockAt(page).query].length ?? 2) - 1);
      const heads = pi.shape[0];
      const cols = 2 * maxOffset + 1;
      const headTerms = (/** @type {number} */ head) => Array.from({ length: cols }, (_, c) => vector(pi, head)[column(pi.shape[1], c - maxOffset)]);
      drawn = { rows: heads, cols, values: Float32Array.from(Array.from({ length: heads }, (_, head) => headTerms(head)).flat()) };
      reach = largest(drawn.values) || 1;
      const clip = (pi.shape[1] - 1) / 2;
      const explanation = t("rows are heads, columns the offset j − i of the key from the query, as far as this text goes; the layers of a stack share them; −{most} to {most}", { most: two(reach) });
      line.textContent = clip < maxOffset ? `${explanation} ${t("Offsets beyond ±{n} count as it.", { n: clip })}` : explanation;
      const { width, wide } = context.room();
      matrix.draw({
        matrix: drawn,
        shade: { stops: diverging(context.theme()), range: [-reach, reach] },
        rows: Array.from({ length: heads }, (_, head) => bare(head + 1)),
        cols: Array.from({ length: cols }, (_, c) => bare(c - maxOffset)),
        titles: { rows: t("head"), cols: t("offset j − i") },
        width: wide ? Math.min(width, 1100) : width,
        height: heads * 30 + 60,
        stretch: Infinity,
        largest: 30,
      });
      light();
    },
    picture: () => [{ svg: matrix.drawing(), title: t("A number for each head and offset") }],
    destroy: () => (reached.stop(), matrix.destroy()),
  };
}

/** @typedef {"plain" | "term" | "score"} ScorePart */

/** @param {Context} context @param {ScorePart} part */
function scores(context, part) {
  const { store, t } = context;
  const name = { plain: t("score without π"), term: t("π of the offset"), score: t("score") }[part];
  /** @type {Matrix | null} */
  let drawn = null;
  const side = () => blockAt(store.get()).query;
  const ref = (/** @type {number | null} */ index) => (index === null ? null : { side: side(), index });
  const steps = () => {
    const { model, trace } = store.get();
    return trace ? axes(model, trace, selectedHead(store.get()).block) : { rows: [], cols: [] };
  };
  const matrix = createMatrix(context, {
    label: name,
    onHover: (cell) => store.hover(cell && { query: ref(cell.row), key: ref(cell.col) }),
    onPick: (place) => reached.move(place, name, tip),
    picked: () => reached.cell(),
    tip,
  });
  const reached = createKeyCell(context, light);

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    if (!drawn) return [];
    const value = drawn.values[row * drawn.cols + col];
    return [step(steps().rows[row]), " ", step(steps().cols[col]), " ", el("b", {}, Number.isNaN(value) ? t("masked") : four(value))];
  }

  function light() {
    const lit = store.hovered();
    const index = (/** @type {import("../../core/store/store.js").Ref | null | undefined} */ reference) => (reference?.side === side() ? reference.index : null);
    matrix.mark((!lit && reached.cell()) || { row: index(lit?.query), col: index(lit?.key) });
  }

  return {
    element: h("figure", {}, h("figcaption", {}, name), h("div", { className: "scroller" }, matrix.element)),
    /** @param {Matrix} values @param {number} reach */
    draw(values, reach) {
      drawn = values;
      const { width, wide } = context.room();
      const { rows, cols } = steps();
      matrix.draw({
        matrix: values,
        shade: { stops: diverging(context.theme()), range: [-reach, reach] },
        rows,
        cols,
        titles: { rows: "", cols: "" },
        width: wide ? (width - 64) / 3 : width,
        height: Math.max(rows.length * 16 + 90, 300),
        stretch: 1.4,
        largest: 34,
      });
    },
    light,
    picture: () => [{ svg: matrix.drawing(), title: name }],
    destroy: () => (reached.stop(), matrix.destroy()),
  };
}

/** @param {number} value */
const minus = (value) => (value < 0 ? `−${-value}` : String(value));
