/**
 * The attention of the selected head and, beside it, how log P depends on it: gradient × attention.
 */

import { abreast } from "../../core/draw/export-picture.js";
import { file } from "../../core/draw/svg.js";
import { attention, axes, blockAt, predictingBlock } from "../../core/wire/model-description.js";
import { highlightOf } from "../../core/store/highlight.js";
import { prose } from "../../lib/i18n.js";
import { four, plus, two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { quoted, step } from "../../core/draw/token.js";
import { contrastAt, gradientRow } from "../../core/compute/predictions.js";
import { predictedTokenOf, farthestCell, relevance } from "../../core/compute/logit-lens.js";
import { labels, languages, plainLabel } from "../../core/wire/tokens.js";
import { legend } from "../../core/figure/figure-frame.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { COVER } from "../../core/compute/aggregate-attention.js";
import { diverging, sequential } from "../../core/draw/colour-scales.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Label } from "../../core/wire/tokens.js" */

/** @typedef {{written: Label, other: Label}} ContrastTokens  the tokens of the contrast whose slopes are shown */

/** In pixels: the gap between the two, and the width from which they are side by side. */
const [GAP, PAIR] = [48, 900];
/** The smallest limit of the colour scale, in nats, so that small values do not look large. */
const FAINT = 0.01;

/** @param {Context} context */
export function slopes(context) {
  const { store, t } = context;
  const findingLine = h("p", { className: "says" });
  const note = h("p", { className: "note" });
  const parts = [
    { title: h("h4", {}), key: legend(context), matrix: matrix(t("Attention weights. Arrow keys move the cell, Escape unpins.")) },
    { title: h("h4", {}), key: legend(context), matrix: matrix(t("Gradient × attention. Arrow keys move the cell, Escape unpins.")) },
  ];
  const colours = h("p", { className: "note" });
  const pair = h("div", { className: "pair" }, ...parts.map(({ title, matrix, key }) => h("section", {}, title, h("div", { className: "scroller" }, matrix.element), key.element)));
  const element = h("section", { className: "of-slopes" }, h("h3", {}, t("Gradient × attention")), findingLine, pair, colours, h("details", { className: "reading" }, h("summary", {}, t("How to read this")), note));
  let limit = FAINT;

  /** @param {string} label */
  function matrix(label) {
    return createMatrix(context, {
      label,
      onHover: (cell) => store.hover(cell && { query: ref("query", cell.row), key: ref("key", cell.col) }),
      onPick: ({ row, col }, gesture) =>
        store.go({ query: row ?? highlightOf(store.get(), null).query, key: col }, gesture === "click" ? "pinned" : "moved"),
      picked: () => ({ row: highlightOf(store.get(), null).query ?? 0, col: store.get().link.key ?? 0 }),
      tip,
    });
  }

  /** The tokens of the pinned row's contrast; null: the slopes are those of the whole output. @returns {ContrastTokens | null} */
  function contrastTokens() {
    const { model, trace, link } = store.get();
    const row = trace && gradientRow(model, link, trace);
    const [contrast, writtenToken] = trace && row !== null ? [contrastAt(model, trace, link, row), predictedTokenOf(model, trace, row)] : [null, null];
    if (!trace || row === null || !contrast || !writtenToken) return null;
    const [, lang] = languages(trace.direction);
    const { writes, id } = predictingBlock(model);
    const [written, rivalLabel] = [writtenToken, contrast.other].map((piece) => labels([{ ...piece, start: 0, end: 0 }], lang)[0]);
    return { written: writes ? axes(model, trace, id).rows[row].writes : written, other: rivalLabel };
  }

  /** @param {"query" | "key"} axis @param {number | null} index */
  const ref = (axis, index) => (index === null ? null : { side: blockAt(store.get())[axis], index });

  function current() {
    const { model, trace, link } = store.get();
    const [weights, slope] = trace ? [attention(model, trace, link), relevance(model, trace, link)] : [null, null];
    return trace && weights && slope ? { weights, slope, ...axes(model, trace, link.block) } : null;
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    const all = current();
    if (!all) return [];
    const [weight, slope] = [all.weights, all.slope].map(({ values, cols }) => values[row * cols + col]);
    const names = [el("span", { className: "as-query" }, step(all.rows[row])), " ", el("span", { className: "as-key" }, step(all.cols[col])), " "];
    if (Number.isNaN(weight)) return [...names, el("b", {}, t("masked"))];
    return [...names, el("b", {}, four(weight)), " ", el("b", {}, t("{value} nats", { value: plus(slope, four) }))];
  }

  function draw() {
    const all = current();
    const { link, live } = store.get();
    element.hidden = !all && !live;
    const of = contrastTokens();
    // At once, whose gradient it is; the numbers follow with the next reply.
    render(colours, meaning(context, of, link.options.contrast));
    pair.setAttribute("aria-busy", String(!all));
    if (!all) return;
    const { width, height } = context.room();
    const theme = context.theme();
    const across = width >= PAIR ? 2 : 1;
    pair.dataset.columns = String(across);
    const best = farthestCell(all.slope);
    limit = Math.max(Math.abs(best.value), FAINT);
    const place = { layer: link.layer + 1, head: link.head + 1 };
    const named = of && { token: plainLabel({ ...of.written, space: "" }), other: plainLabel({ ...of.other, space: "" }) };
    const titles = [t("Attention of layer {layer}, head {head}", place), named ? t("Gradient × attention of {token} rather than {other}, nats", named) : t("Gradient × attention, nats")];
    const shades = [
      { stops: sequential(theme), range: /** @type {[number, number]} */ ([0, 1]) },
      { stops: diverging(theme), range: /** @type {[number, number]} */ ([-limit, limit]) },
    ];
    const covers = new Set(all.weights.values.some(Number.isNaN) ? [COVER.masked] : []);
    parts.forEach(({ title, key, matrix }, n) => {
      title.textContent = titles[n];
      key.show({ shade: shades[n], covers });
      matrix.draw({
        matrix: n ? all.slope : all.weights,
        shade: shades[n],
        rows: all.rows,
        cols: all.cols,
        titles: { rows: t("query (looks)"), cols: t("key (looked at)") },
        width: across === 2 ? (width - GAP) / 2 : width,
        height: Math.max(height - 120, all.rows.length * 16 + 110),
        stretch: 1.6,
        largest: 40,
      });
    });
    render(findingLine, slopeFinding(context, all, best, of));
    const last = link.layer === blockAt(store.get()).rows.length - 1;
    note.textContent = prose(of ? contrastRemarks(t, last) : remarks(t, last));
    light();
  }

  function light() {
    const { query, key } = highlightOf(store.get(), store.hovered());
    parts.forEach(({ matrix }) => matrix.mark({ row: query, col: key }));
  }

  return {
    element,
    draw,
    light,
    destroy: () => parts.forEach(({ matrix }) => matrix.destroy()),
    picture() {
      const theme = context.theme();
      return current() && { svg: file(abreast(parts.map(({ title, matrix }) => ({ svg: matrix.drawing(), title: title.textContent ?? "" })), theme), theme) };
    },
  };
}

/**
 * @param {Context} context
 * @param {ReturnType<typeof axes>} shown
 * @param {ReturnType<typeof farthestCell>} best
 * @param {ContrastTokens | null} of
 */
function slopeFinding({ t, phrase }, { rows, cols }, best, of) {
  const values = {
    query: el("span", { className: "as-query" }, step(rows[best.row])),
    key: el("span", { className: "as-key" }, step(cols[best.col])),
    value: plus(best.value, Math.abs(best.value) < 0.005 ? four : two),
  };
  return of
    ? phrase(t("In this head the log-odds of {token} against {other} are most sensitive to {query} → {key}: {value} nats."), { ...values, token: quoted(of.written), other: quoted(of.other) })
    : phrase(t("In this head the log-probability of the output is most sensitive to {query} → {key}: {value} nats."), values);
}

/** What the colours mean. @param {Context} context @param {ContrastTokens | null} of @param {string | null} contrast  of the link */
function meaning({ t, phrase }, of, contrast) {
  if (of) return phrase(t("Orange: a larger weight speaks for {token}; blue: for {other}."), { token: quoted(of.written), other: quoted(of.other) });
  const words = t("Orange: a larger weight makes the output more probable; blue: less probable.");
  return [prose(contrast === null ? [words] : [words, t("Pin a row to see the gradient of its contrast.")])];
}

/** @param {Context["t"]} t @param {boolean} last  of the layers */
const remarks = (t, last) => [
  t("Exact as a slope: the derivative of the log-probability of the whole output, all rows together, by this weight, through all later layers, times the weight."),
  t("Only an approximation of the effect of removing the weight: a linear extrapolation to weight zero, without " +
    "renormalising."),
  last
    ? t("This is the last layer: a row affects only its own token.")
    : t("A row affects its own token and all tokens written after it."),
];

/** @param {Context["t"]} t @param {boolean} last  of the layers */
const contrastRemarks = (t, last) => [
  t("Exact as a slope: the derivative of the pinned row's log-odds by this weight, through all later layers, times the weight."),
  t("Only an approximation of the effect of removing the weight: a linear extrapolation to weight zero, without " +
    "renormalising."),
  last
    ? t("This is the last layer: only the weights of the pinned row affect it.")
    : t("Earlier rows affect the pinned row as far as it reads them in later layers."),
];
