/** One head at one step, enlarged: its matrix, its caption and its highlights. */

import { blockAt } from "../../core/wire/model.js";
import { two } from "../../lib/numbers.js";
import { el, h, heightOf, render } from "../../lib/dom.js";
import { step } from "../../core/draw/token.js";
import { counted, formation, traceAt } from "./training-history.js";
import { rowCaption } from "../../core/figure/row-wording.js";
import { legend } from "../../core/figure/figure-frame.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { highlightIn, heatmapOf } from "../../core/store/heatmap-data.js";
import { sequential } from "../../core/draw/colour-scales.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Place } from "../../core/draw/matrix-geometry.js" */
/** @import { Moment } from "./view.js" */

const RANGE = /** @type {[number, number]} */ ([0, 1]);
const LEAST = 340;
/** A smaller rise is no step in which a head took shape. */
const RISE = 0.1;
const NOWHERE = { row: null, col: null };

/**
 * @param {Context} context
 * @param {{now: () => Moment | null, above: HTMLElement, lit: () => void}} page  above: the
 *   elements above the figure
 */
export function createFigure(context, { now, above, lit }) {
  const { store, t } = context;
  /** @type {Place} */
  let hovered = NOWHERE;
  let formed = "";
  const { line: summary, inner } = context.finding();
  const key = legend(context);
  const note = h(
    "p",
    { className: "note" },
    t("Every step reads the same translation. Weights are stored in steps of 1/255, so two decimals are approximate."),
  );
  const matrix = createMatrix(context, {
    label: t("Attention weights at this step. Arrow keys move the cell, Escape unpins."),
    onHover: hover,
    onPick: pick,
    picked: () => {
      const { row, col } = highlighted();
      return row === null ? null : { row, col: col ?? 0 };
    },
    tip: (cell) => tip(t, now(), cell),
  });
  matrix.element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") store.choose({ row: null, col: null });
  });
  const below = h("div", { className: "below" }, key.element, note);
  const element = h("div", { className: "seen" }, inner, matrix.element, below);
  const around = heightOf(above, ...(inner ? [inner] : []), below);

  /** @param {Place | null} place */
  function hover(place) {
    hovered = place ?? NOWHERE;
    lit();
  }

  /** @param {Place} place @param {"click" | "key"} gesture */
  function pick({ row, col }, gesture) {
    const { options } = store.get().link;
    const again = gesture === "click" && options.row === row && options.col === col;
    store.choose(again ? { row: null, col: null } : { row, col }, gesture === "click" ? "pinned" : "moved");
  }

  /** What is highlighted: the hovered cell, else the pinned or default one. @returns {Place} */
  function highlighted() {
    const moment = now();
    if (!moment) return NOWHERE;
    return hovered.row !== null || hovered.col !== null ? hovered : resting(moment, store.get().link.options);
  }

  /** @param {Moment} moment */
  function show(moment) {
    const current = heatmapOf(asRun(moment));
    if (!current) return;
    formed = formationSaid(t, moment);
    const shade = { stops: sequential(context.theme()), range: RANGE };
    key.show({ shade, covers: new Set(current.cover) });
    const { height, wide } = context.room();
    matrix.draw({
      matrix: current.matrix,
      cover: current.cover,
      shade,
      rows: current.rows.steps,
      cols: current.cols.steps,
      titles: { rows: t("query (looks)"), cols: t("key (looked at)") },
      width: element.clientWidth,
      height: wide ? Math.max(height - around.now() - 72, LEAST) : height,
      stretch: 1.6,
    });
  }

  function light() {
    const moment = now();
    if (!moment) return;
    const place = highlighted();
    matrix.mark(place);
    const { query } = blockAt(moment.page);
    const row = place.row === null ? null : { query: { side: query, index: place.row }, key: null };
    const sentence = rowCaption(context, asRun(moment), row);
    if (sentence) render(summary, formed && `${formed} `, sentence);
  }

  return {
    element,
    highlighted,
    hover,
    show,
    light,
    drawing: matrix.drawing,
    destroy: () => (around.stop(), matrix.destroy()),
  };
}

/**
 * When the head took shape, which is what the view is about: the same sentence at every step.
 * @param {Context["t"]} t
 * @param {Moment} moment
 * @returns {string}  "" if it has no such step
 */
function formationSaid(t, moment) {
  const { history, page } = moment;
  const matrices = history.snapshots.flatMap((_, place) => heatmapOf(asRun({ ...moment, place, trace: traceAt(history, place) }))?.matrix ?? []);
  const rise = formation(matrices);
  if (!rise || rise.after - rise.before < RISE) return "";
  const { layer, head } = page.link;
  return t("Layer {layer}, head {head} changed most between steps {from} and {to}: the part of its weight that lies where it ends up went from {before} to {after}.", {
    layer: layer + 1,
    head: head + 1,
    from: counted(history.snapshots[rise.place - 1].step),
    to: counted(history.snapshots[rise.place].step),
    before: two(rise.before),
    after: two(rise.after),
  });
}

/** A snapshot's trace as if it were the page's run. @param {Moment} moment */
const asRun = ({ page, trace, history, place }) => ({
  ...page,
  trace,
  model: page.model && asAt(page.model, history.snapshots[place].step),
  link: { ...page.link, query: null, key: null },
});

/**
 * The pin, else the row on which the trained head is clearest.
 * @param {Moment} moment
 * @param {Record<string, any>} options
 * @returns {Place}
 */
function resting(moment, { row, col }) {
  const current = heatmapOf(asRun(moment));
  if (current && row !== null && row < current.matrix.rows)
    return { row, col: col !== null && col < current.matrix.cols ? col : null };
  const trained = asRun({ ...moment, trace: traceAt(moment.history, moment.history.snapshots.length - 1) });
  const last = heatmapOf(trained);
  return { row: last && highlightIn(trained, null, last).row, col: null };
}

/** @param {Context["t"]} t @param {Moment | null} moment @param {{row: number, col: number}} cell */
function tip(t, moment, { row, col }) {
  const current = moment && heatmapOf(asRun(moment));
  if (!current) return [];
  const weight = current.matrix.values[row * current.matrix.cols + col];
  const weightText = Number.isNaN(weight) ? t("masked") : `≈ ${two(weight)}`;
  return [step(current.rows.steps[row]), " → ", step(current.cols.steps[col]), el("b", {}, weightText)];
}

/**
 * Heads count as supervised only from the step at which supervision began.
 * @param {import("../../core/wire/model.js").ModelInfo} model
 * @param {number} step
 */
const asAt = (model, step) => ({ ...model, taught: model.taught?.filter(({ since }) => since <= step) });
