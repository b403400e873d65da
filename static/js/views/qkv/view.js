/** What one head computes from each token: its queries, keys and values, channel by channel. */

import { kindOf, rotatedRows } from "../../core/compute/positions.js";
import { isDot, learned, scorer, scoringOf } from "../../core/compute/scoring.js";
import { abreast } from "../../core/draw/export-picture.js";
import { diverging } from "../../core/draw/colour-scales.js";
import { file } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { controls } from "../../core/figure/controls.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { waitingLine } from "../../core/figure/figure-status.js";
import { highlightOf } from "../../core/store/highlight.js";
import { choiceOption, flagOption } from "../../core/store/link-options.js";
import { answer, parameters } from "../../core/store/view-requests.js";
import {
  attentionAt, axes, blockAt, hasVectors, headIndices, isBetweenTexts, maskOf, place, withMask,
} from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { plane } from "../../core/wire/safetensors.js";
import { h, render } from "../../lib/dom.js";
import { four, two } from "../../lib/numbers.js";
import { largest } from "../../lib/vectors.js";
import { scoreQuestions, createBreakdown, needed } from "./score-breakdown.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Matrix } from "../../core/wire/safetensors.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Tensors } from "../../core/store/view-requests.js" */

/** @typedef {"q" | "k" | "v"} Letter */

/** Distance between two panels, in pixels. */
const GAP = 32;
const LETTERS = /** @type {Letter[]} */ (["q", "k", "v"]);

/** @type {View} */
export const qkv = {
  id: "qkv",
  name: (t) => t("Q K V"),
  about: (t) =>
    t(
      "Each token has a query, a key and a value in every head: one row per token, one column per channel. If a query " +
      "and a key have the same colours in the same channels, their product is large, and so is the " +
      "attention.",
    ),
  frame: { rail: "both", inspector: false, caption: true, legend: "signed", twice: 560 },
  options: { rotation: choiceOption("after", "before"), terms: flagOption() },
  blocks: hasVectors,
  needs: (page) => [...LETTERS.map((letter) => place(page.model, page.link, letter)), ...maskNeeded(page), ...needed(page)],
  asks: (page) => [...questions(page), ...scoreQuestions(page)],
  mount(context, root) {
    const panels = LETTERS.map((letter) => panel(context, letter));
    const waiting = waitingLine(context, context.t("Fetching q, k and v …"));
    const { store, t } = context;
    const terms = createTerms(context);
    const breakdown = createBreakdown(context);
    const row = h("div", { className: "panels" }, ...panels.map((panel) => panel.element), terms.element);
    const rotation = controls(context, [
      { option: "rotation", label: t("Rotary positions"), values: { after: t("after rotation"), before: t("before rotation") }, otherwise: () => "after" },
    ]);
    rotation.hidden = !turns(store.get());
    const note = h("p", { className: "note" });
    root.append(waiting.element, rotation, row, note, breakdown.element);
    const all = (/** @type {"light" | "destroy"} */ method) => [...panels, terms].forEach((panel) => panel[method]());
    const panelWidth = () => {
      const { width, wide } = context.room();
      const count = LETTERS.length + (isAdditive(store.get()) ? 1 : 0);
      return wide ? (width - GAP * (count - 1)) / count : width;
    };
    return {
      draw() {
        const ready = LETTERS.every((letter) => tensor(context, letter));
        waiting.show(!ready);
        row.hidden = !ready;
        rotation.hidden = !turns(store.get());
        rotation.refresh();
        note.textContent = remark(store.get(), t);
        note.hidden = !note.textContent;
        if (ready) [...panels, terms].forEach((panel) => panel.draw(panelWidth()));
        breakdown.draw();
      },
      light: () => (all("light"), breakdown.light()),
      picture: () => ({ svg: file(abreast([...panels, terms].map((panel) => panel.picture()), context.theme()), context.theme()) }),
      destroy: () => (all("destroy"), root.replaceChildren()),
    };
  },
};

/** Whether q and k are rotated by their positions. @param {Page} page */
const turns = (page) => kindOf(page.model).base === "rotary" && !isBetweenTexts(blockAt(page));

/**
 * A note on the model's mechanism, if it differs from the paper's.
 * @param {Page} page
 * @param {Context["t"]} t
 */
function remark(page, t) {
  const { model, link } = page;
  const scoring = scoringOf(attentionAt(model, place(model, link)));
  if (turns(page)) return t("Each pair of channels of q and k is rotated by the token's position times the frequency " +
    "of the pair; the first pair rotates fastest. v is not rotated.");
  if (scoring?.b) return t("This model scores with w · tanh(q + k + b): the score depends on the sum of q, k and a bias in each channel, not on their product.");
  if (scoring && !isDot(scoring)) return t("This model scores with w · tanh(q + k): the score depends on the sum of q and k in each channel, not on their product.");
  if (kindOf(model).site === "qk" && !isBetweenTexts(blockAt(page))) return t("q and k are computed with positions, v without.");
  return shared(page, t);
}

/** Which query heads share the keys and values shown. @param {Page} page @param {Context["t"]} t */
function shared({ model, link }, t) {
  const attention = attentionAt(model, place(model, link));
  if (!attention || attention.kv_heads === attention.heads) return "";
  const count = attention.heads / attention.kv_heads;
  const first = Math.floor(link.head / count) * count;
  return t("Heads {first} to {last} share these keys and values; each has its own queries.", { first: first + 1, last: first + count });
}

/** @param {Context} context @param {Letter} letter */
function tensor({ store }, letter) {
  const { model, trace, link } = store.get();
  return trace?.tensors[place(model, link, letter)];
}

/** @param {Context["t"]} t @returns {Record<Letter, {name: string, description: string}>} */
const wording = (t) => ({
  q: { name: t("q · query"), description: t("what each token looks for") },
  k: { name: t("k · key"), description: t("what other tokens find it by") },
  v: { name: t("v · value"), description: t("what each token passes on") },
});

/** @param {Context} context @param {Letter} letter */
function panel(context, letter) {
  const { store, t } = context;
  const { name, description } = wording(t)[letter];
  const range = h("span", { className: "range" });
  const role = letter === "q" ? "query" : "key";
  const matrix = createMatrix(context, {
    label: t("{name}: one row per token, one column per channel", { name }),
    onHover: (place) => store.hover(place && ref(place.row)),
    onPick: ({ row }, gesture) =>
      row !== null && store.go(pin(row), gesture === "click" ? "pinned" : "moved"),
    picked: () => ({ row: highlightOf(store.get(), null)[role] ?? 0, col: 0 }),
    tip,
  });
  const element = h(
    "section",
    { className: `panel ${letter}` },
    h("h3", {}, name),
    h("p", {}, description, " ", range),
    matrix.element,
  );

  const side = () => blockAt(store.get())[role];
  /** @param {number | null} index @returns {import("../../core/store/store.js").Highlight | null} */
  function ref(index) {
    if (index === null) return null;
    const pointed = { side: side(), index };
    return role === "query" ? { query: pointed, key: null } : { query: null, key: pointed };
  }
  /** @param {number} index */
  function pin(index) {
    return role === "query"
      ? { query: index, key: null }
      : { query: highlightOf(store.get(), null).query, key: index };
  }
  function steps() {
    const { model, trace, link } = store.get();
    if (!trace) return [];
    const { rows, cols } = axes(model, trace, link.block);
    return role === "query" ? rows : cols;
  }
  function values() {
    const recorded = tensor(context, letter);
    const page = store.get();
    const headValues = recorded && plane(recorded, headIndices(page.model, page.link));
    const back = letter !== "v" && turns(page) && page.link.options.rotation === "before";
    return headValues && back ? rotatedRows(headValues, -1) : headValues;
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    const channels = values();
    if (!channels) return [];
    return [
      step(steps()[row]),
      " ",
      t("channel {n}", { n: col }),
      " ",
      h("b", {}, four(channels.values[row * channels.cols + col])),
    ];
  }

  /** @param {number} width  in pixels */
  function draw(width) {
    const channels = values();
    if (!channels) return;
    const limit = largest(channels.values) || 1;
    range.textContent = t("−{most} to {most}", { most: two(limit) });
    const { height } = context.room();
    matrix.draw({
      matrix: channels,
      shade: { stops: diverging(context.theme()), range: [-limit, limit] },
      rows: steps(),
      cols: [],
      titles: {
        rows: role === "query" ? t("query (looks)") : t("key (looked at)"),
        cols: t("channel"),
      },
      width,
      height: Math.min(height - 70, steps().length * 32 + 40),
      stretch: Infinity,
    });
    light();
  }

  function light() {
    const highlight = highlightOf(store.get(), store.hovered());
    matrix.mark({ row: highlight[role], col: null });
  }

  const picture = () => ({ svg: matrix.drawing(), title: `${name} (${range.textContent})` });
  return { element, draw, light, picture, destroy: matrix.destroy };
}

// Additive scoring: for one query, what each channel adds to the score of each key.

/** The current attention's scoring, if it is additive. @param {Page} page */
function scoringAt({ model, link }) {
  const scoring = scoringOf(attentionAt(model, place(model, link)));
  return scoring && !isDot(scoring) ? scoring : null;
}

/** @param {Page} page */
const isAdditive = (page) => scoringAt(page) !== null;

/** @param {Page} page */
const questions = (page) => (isAdditive(page) ? [parameters(page, learned(scoringAt(page)))] : []);

/** @param {Page} page */
const maskNeeded = (page) => (isAdditive(page) ? [maskOf(page.model, page.link)] : []);

/** @param {Page} page */
const queryAt = (page) => highlightOf(page, null).query ?? 0;

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
  const learnedTensors = question && /** @type {Tensors | Problem | undefined} */ (answer(page, question));
  const [q, k] = ["q", "k"].map((letter) => trace?.tensors[place(model, link, letter)]);
  const mask = trace?.tensors[maskOf(model, link)];
  if (!scoring || !learnedTensors || learnedTensors instanceof Problem || !q || !k || !mask) return null;
  const [queries, keys] = [q, k].map((projected) => plane(projected, headIndices(model, link)));
  const query = Math.min(queryAt(page), queries.rows - 1);
  const of = scorer(scoring, (name) => learnedTensors[name], link.head);
  const width = keys.cols;
  const queryVector = queries.values.subarray(query * width, (query + 1) * width);
  const may = plane(mask);
  const values = new Float32Array(keys.rows * width);
  const open = new Uint8Array(keys.rows * width);
  for (let key = 0; key < keys.rows; key++) {
    values.set(of(queryVector, keys.values.subarray(key * width, (key + 1) * width), query, key).terms, key * width);
    open.fill(may.values[query * may.cols + key], key * width, (key + 1) * width);
  }
  return withMask({ rows: keys.rows, cols: width, values }, open);
}

/** @param {Context} context */
function createTerms(context) {
  const { store, t } = context;
  /** @type {Matrix | null} */
  let drawn = null;
  const steps = () => {
    const { model, trace, link } = store.get();
    return trace ? axes(model, trace, link.block) : { rows: [], cols: [] };
  };
  const name = () => (scoringAt(store.get())?.b ? "w · tanh(q + k + b)" : "w · tanh(q + k)");
  const range = h("span", { className: "range" });
  const title = h("h3", {});
  const description = h("span", {});
  const matrix = createMatrix(context, {
    label: t("What each channel adds to the score: one row per key, one column per channel"),
    onHover: (place) => store.hover(place && place.row !== null ? { query: null, key: { side: blockAt(store.get()).key, index: place.row } } : null),
    onPick: ({ row }, gesture) => row !== null && store.go({ query: queryAt(store.get()), key: row }, gesture === "click" ? "pinned" : "moved"),
    picked: () => ({ row: highlightOf(store.get(), null).key ?? 0, col: 0 }),
    tip({ row, col }) {
      if (!drawn) return [];
      const value = drawn.values[row * drawn.cols + col];
      return [step(steps().cols[row]), " ", t("channel {n}", { n: col }), " ", h("b", {}, Number.isNaN(value) ? t("masked") : four(value))];
    },
  });
  const element = h("section", { className: "panel terms" }, title, h("p", {}, description, " ", range), matrix.element);

  /** @param {number} width  in pixels */
  function draw(width) {
    const page = store.get();
    element.hidden = !isAdditive(page);
    drawn = terms(page);
    if (!drawn) return;
    const { rows, cols } = steps();
    const limit = largest([...drawn.values].filter(Number.isFinite)) || 1;
    title.textContent = name();
    const words = scoringAt(page)?.pi
      ? t("what each channel adds to the score of each key, for the query {query}; a row sums to the score without π")
      : t("what each channel adds to the score of each key, for the query {query}; a row sums to the score");
    render(description, context.phrase(words, { query: step(rows[Math.min(queryAt(page), rows.length - 1)]) }));
    range.textContent = t("−{most} to {most}", { most: two(limit) });
    matrix.draw({
      matrix: drawn,
      shade: { stops: diverging(context.theme()), range: [-limit, limit] },
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
    if (drawn) matrix.mark({ row: highlightOf(store.get(), store.hovered()).key, col: null });
  }

  const picture = () => ({ svg: drawn && matrix.drawing(), title: `${name()} (${range.textContent})` });
  return { element, draw, light, picture, destroy: matrix.destroy };
}
