/** The probability of each token of the original translation, before and after. */

import { change as gain, two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { step } from "../../core/draw/token.js";
import { predictingBlock, singleStep } from "../../core/wire/model.js";
import { outputKind, rowOf } from "../../core/wire/reply.js";
import { named, tensor } from "../../core/compute/computed-tensors.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { plainLabel } from "../../core/wire/tokens.js";
import { rowsOf } from "./before-after.js";
import { basis, writes } from "./wording.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Runs, Row } from "./before-after.js" */
/** @import { Step } from "../../core/wire/tokens.js" */

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
    numbers: () => drawn && numbers(drawn.rows, drawn.steps),
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
function numbers(rows, steps) {
  const column = (/** @type {(row: Row) => number} */ read) => tensor({ query: "written" }, [rows.length], rows.map(read));
  /** @type {Record<string, import("../../core/wire/wire.js").Tensor>} */
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
