/** Panels that show a run before and after the change: the head's attention, and the probability of each token. */

import { named, tensor, trio as comparedTensors } from "../../core/compute/computed-tensors.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { PACE, gesture } from "../../core/figure/change-controls.js";
import { changeList, panels, pointing } from "../../core/figure/matrix-difference.js";
import { isFixed } from "../../core/store/share-contents.js";
import { predictingBlock, singleStep } from "../../core/wire/model-description.js";
import { outputKind, rowOf } from "../../core/wire/reply.js";
import { plainLabel } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { change as gain, two } from "../../lib/numbers.js";
import { throttle } from "../../lib/timing.js";
import { attentions, basis, rowsOf, writes } from "./before-after.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Row, Runs } from "./before-after.js" */

// The current head's attention before and after, and the difference; a cell of the changed one can be
// dragged.

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
      return comparison && comparedTensors(comparison);
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

// The probability of each token of the original translation, before and after.

/**
 * In pixels, at a font size of 13: the width of a bar, its smallest width, and the width of the
 * numbers beside it.
 */
const [BAR, LEAST, NUMBERS] = [200, 56, 236];

/** @param {Context} context */
export function tokenChanges(context) {
  const { store, t } = context;
  const element = h("div", { className: "scroller" });
  /** @type {{rows: Row[], steps: Step[]} | null}  one step per row */
  let drawn = null;

  /** @param {Row} row */
  function hover({ shownIndex }) {
    const { model, trace } = store.get();
    if (shownIndex === null || !trace) return;
    store.hover({ query: { side: predictingBlock(model).query, index: rowOf(trace.output, shownIndex) }, key: null });
  }

  return {
    element,
    /** @param {Runs} runs */
    draw(runs) {
      const { trace, model } = store.get();
      if (!trace) return;
      const rows = rowsOf(runs, trace);
      const labels = writes(runs.before);
      const steps = rows.map(({ index }) => singleStep(labels[index]));
      drawn = { rows, steps };
      const ranked = rows.some(({ ranks }) => ranks);
      const bar = Math.min(BAR, Math.max(LEAST, (context.room().width * 13) / context.theme().size - NUMBERS));
      const lines = rows.map((row, i) =>
        el("tr", { onpointerenter: () => hover(row) }, cells(row, steps[i], ranked, dumbbell(context, row, bar))),
      );
      render(
        element,
        el(
          "table",
          { className: "token-changes" },
          el("caption", { className: "hint-line" }, basis(context.t, outputKind(model))),
          el("thead", {}, el("tr", {}, heads(t, ranked))),
          el("tbody", { onpointerleave: () => store.hover(null) }, lines),
        ),
      );
    },
    light() {},
    destroy() {},
    picture: () => drawn && { svg: file(picture(context, drawn.rows, drawn.steps), context.theme()) },
    numbers: () => drawn && tensorsOf(drawn.rows, drawn.steps),
  };
}

/** @param {Context["t"]} t @param {boolean} ranked  whether there are ranks */
const heads = (t, ranked) => [
  el("th", { scope: "col" }, t("writes")),
  el("th", { scope: "col", className: "dumbbell" }, el("span", { className: "hidden" }, t("picture"))),
  [t("before"), t("after"), t("change"), ...(ranked ? [t("rank")] : [])].map((name) => el("th", { scope: "col", className: "number" }, name)),
].flat();

/** @param {Row} row @param {Step} named @param {boolean} ranked @param {Node} drawn */
function cells({ before, after, ranks }, named, ranked, drawn) {
  const change = after - before;
  const rank = ranks ? [...new Set(ranks)].join(" → ") : "";
  return [
    el("th", { scope: "row" }, step({ ...named, reads: null })),
    el("td", { className: "dumbbell", "aria-hidden": "true" }, drawn),
    el("td", { className: "number" }, two(before)),
    el("td", { className: "number" }, two(after)),
    el("td", { className: `number ${tone(change)}` }, gain(change)),
    ranked && el("td", { className: "number" }, rank),
  ];
}

/** @param {Row[]} rows @param {Step[]} steps @returns {import("../../core/compute/computed-tensors.js").ComputedTensors} */
function tensorsOf(rows, steps) {
  const column = (/** @type {(row: Row) => number} */ read) => tensor({ query: "written" }, [rows.length], rows.map(read));
  /** @type {Record<string, import("../../core/wire/safetensors.js").Tensor>} */
  const ranks = rows.every((row) => row.ranks)
    ? { "before.rank": column((row) => row.ranks?.[0] ?? NaN), "after.rank": column((row) => row.ranks?.[1] ?? NaN) }
    : {};
  return {
    tokens: { written: named(steps.map((step) => ({ ...step, reads: null }))) },
    tensors: { before: column((row) => row.before), after: column((row) => row.after), ...ranks },
  };
}

/** @param {number} change  Nothing under half a hundredth is called a change. */
const tone = (change) => (Math.abs(change) < 0.005 ? "" : change > 0 ? "more" : "less");

/**
 * @param {Context} context
 * @param {Row} row
 * @param {number} width  at a font size of 13
 */
function dumbbell(context, row, width) {
  const theme = context.theme();
  const unit = theme.size / 13;
  return drawing(width * unit, 20 * unit, theme, ...marks(context, row, 6 * unit, 10 * unit, (width - 12) * unit));
}

/** @param {Context} context @param {Row} row @param {number} x @param {number} y @param {number} width */
function marks(context, { before, after }, x, y, width) {
  const { rule, from, to } = colours(context, after - before);
  const unit = context.theme().size / 13;
  const toX = (/** @type {number} */ value) => x + value * width;
  return [
    s("path", { d: `M${x} ${y}h${width}`, stroke: rule, "stroke-width": unit }),
    s("path", { d: `M${toX(before)} ${y}H${toX(after)}`, stroke: to, "stroke-width": 3 * unit }),
    s("circle", { cx: toX(before), cy: y, r: 4.5 * unit, fill: context.theme().paper, stroke: from, "stroke-width": 2 * unit }),
    s("circle", { cx: toX(after), cy: y, r: 5 * unit, fill: to }),
  ];
}

/** @param {Context} context @param {number} change */
function colours({ theme }, change) {
  const { hatch, muted, attention, q, k } = theme();
  return { rule: hatch, from: muted, to: Math.abs(change) < 0.005 ? attention : change > 0 ? k : q };
}

/**
 * The whole table as a drawing, for an export.
 * @param {Context} context
 * @param {Row[]} rows
 * @param {Step[]} steps
 */
function picture(context, rows, steps) {
  const theme = context.theme();
  const high = theme.size * 2;
  const [labelWidth, bar] = [theme.size * 9, BAR * 1.6];
  const lines = rows.flatMap((row, i) => {
    const y = high * (i + 1.5);
    const texts = [two(row.before), two(row.after), gain(row.after - row.before)];
    const columns = texts.map((text, n) => s("text", { x: labelWidth + bar + theme.size * (4.5 * n + 5), y: y + theme.size * 0.35, "text-anchor": "end" }, text));
    return [s("text", { x: labelWidth - theme.size, y: y + theme.size * 0.35, "text-anchor": "end" }, plainLabel(steps[i].writes)), ...marks(context, row, labelWidth, y, bar), ...columns];
  });
  const { t } = context;
  const heads = [t("before"), t("after"), t("change")].map((text, n) =>
    s("text", { x: labelWidth + bar + theme.size * (4.5 * n + 5), y: theme.size * 1.2, "text-anchor": "end", fill: theme.muted }, text),
  );
  return drawing(labelWidth + bar + theme.size * 15, high * (rows.length + 1), theme, ...heads, ...lines);
}
