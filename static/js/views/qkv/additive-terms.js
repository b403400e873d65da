/** Additive scoring: for one query, what each channel adds to the score of each key. */

import { attentionAt, axes, blockAt, maskOf, masked, ofHead, place } from "../../core/wire/attentions.js";
import { Problem } from "../../core/wire/problem.js";
import { isDot, learned, scorer, scoringOf } from "../../core/compute/scoring.js";
import { lit } from "../../core/store/highlight.js";
import { answer, parameters } from "../../core/store/view-requests.js";
import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { step } from "../../core/draw/token.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { diverging } from "../../core/draw/scale.js";
import { plane } from "../../core/wire/wire.js";
import { largest } from "../../lib/vectors.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Matrix } from "../../core/wire/wire.js" */
/** @import { Tensors } from "../../core/store/view-requests.js" */

/** The current attention's scoring, if it is additive. @param {Page} page */
function scoringAt({ model, link }) {
  const scoring = scoringOf(attentionAt(model, place(model, link)));
  return scoring && !isDot(scoring) ? scoring : null;
}

/** @param {Page} page */
export const isAdditive = (page) => scoringAt(page) !== null;

/** @param {Page} page */
export const questions = (page) => (isAdditive(page) ? [parameters(page, learned(scoringAt(page)))] : []);

/** @param {Page} page */
export const maskNeeded = (page) => (isAdditive(page) ? [maskOf(page.model, page.link)] : []);

/** @param {Page} page */
const queryAt = (page) => lit(page, null).query ?? 0;

/**
 * The terms of the highlighted query: keys down, channels across; a row sums to the score. Masked
 * keys are NaN.
 * @param {Page} page
 * @returns {Matrix | null}  null until everything is loaded
 */
function terms(page) {
  const { model, trace, link } = page;
  const scoring = scoringAt(page);
  const [question] = questions(page);
  const found = question && /** @type {Tensors | Problem | undefined} */ (answer(page, question));
  const [q, k] = ["q", "k"].map((letter) => trace?.tensors[place(model, link, letter)]);
  const mask = trace?.tensors[maskOf(model, link)];
  if (!scoring || !found || found instanceof Problem || !q || !k || !mask) return null;
  const [queries, keys] = [q, k].map((one) => plane(one, ofHead(model, link)));
  const query = Math.min(queryAt(page), queries.rows - 1);
  const of = scorer(scoring, (name) => found[name], link.head);
  const width = keys.cols;
  const own = queries.values.subarray(query * width, (query + 1) * width);
  const may = plane(mask);
  const values = new Float32Array(keys.rows * width);
  const open = new Uint8Array(keys.rows * width);
  for (let key = 0; key < keys.rows; key++) {
    values.set(of(own, keys.values.subarray(key * width, (key + 1) * width), query, key).terms, key * width);
    open.fill(may.values[query * may.cols + key], key * width, (key + 1) * width);
  }
  return masked({ rows: keys.rows, cols: width, values }, open);
}

/** @param {Context} context */
export function createTerms(context) {
  const { store, t } = context;
  /** @type {Matrix | null} */
  let shown = null;
  const steps = () => {
    const { model, trace, link } = store.get();
    return trace ? axes(model, trace, link.block) : { rows: [], cols: [] };
  };
  const name = () => (scoringAt(store.get())?.b ? "w · tanh(q + k + b)" : "w · tanh(q + k)");
  const range = h("span", { className: "range" });
  const title = h("h3", {});
  const says = h("span", {});
  const matrix = createMatrix(context, {
    label: t("What each channel adds to the score: one row per key, one column per channel"),
    onHover: (place) => store.hover(place && place.row !== null ? { query: null, key: { side: blockAt(store.get()).key, index: place.row } } : null),
    onPick: ({ row }, how) => row !== null && store.go({ query: queryAt(store.get()), key: row }, how === "click" ? "pinned" : "moved"),
    picked: () => ({ row: lit(store.get(), null).key ?? 0, col: 0 }),
    tip({ row, col }) {
      if (!shown) return [];
      const value = shown.values[row * shown.cols + col];
      return [step(steps().cols[row]), " ", t("channel {n}", { n: col }), " ", h("b", {}, Number.isNaN(value) ? t("masked") : four(value))];
    },
  });
  const element = h("section", { className: "panel terms" }, title, h("p", {}, says, " ", range), matrix.element);

  /** @param {number} width  in pixels */
  function draw(width) {
    const page = store.get();
    element.hidden = !isAdditive(page);
    shown = terms(page);
    if (!shown) return;
    const { rows, cols } = steps();
    const most = largest([...shown.values].filter(Number.isFinite)) || 1;
    title.textContent = name();
    const words = scoringAt(page)?.pi
      ? t("what each channel adds to the score of each key, for the query {query}; a row sums to the score without π")
      : t("what each channel adds to the score of each key, for the query {query}; a row sums to the score");
    render(says, context.say(words, { query: step(rows[Math.min(queryAt(page), rows.length - 1)]) }));
    range.textContent = t("−{most} to {most}", { most: two(most) });
    matrix.draw({
      matrix: shown,
      shade: { stops: diverging(context.theme()), range: [-most, most] },
      rows: cols,
      cols: [],
      titles: { rows: t("key (looked at)"), cols: t("channel") },
      width,
      height: Math.min(context.room().height - 70, cols.length * 32 + 40),
      stretch: Infinity,
    });
    light();
  }

  function light() {
    if (shown) matrix.mark({ row: lit(store.get(), store.hovered()).key, col: null });
  }

  const picture = () => ({ svg: shown && matrix.drawing(), title: `${name()} (${range.textContent})` });
  return { element, draw, light, picture, destroy: matrix.destroy };
}
