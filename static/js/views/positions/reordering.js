/** The same words in another order: how a head's weights change, with and without positions. */

import { matrix, named } from "../../core/compute/computed-tensors.js";
import { droppableTensors, kindOf } from "../../core/compute/positions.js";
import { abreast } from "../../core/draw/export-picture.js";
import { diverging, sequential } from "../../core/draw/colour-scales.js";
import { file } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { wording } from "../../core/figure/problem-wording.js";
import { changes } from "../../core/store/interventions.js";
import { answer, runQuestion } from "../../core/store/view-requests.js";
import { attention, axes, extent, place, selfBlock, typedText } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { changesInForce } from "../../core/wire/request.js";
import { languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { four, tiny } from "../../lib/numbers.js";
import { createKeyCell, picker } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Matrix, Trace } from "../../core/wire/safetensors.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { TokenReply } from "../../core/wire/schemas.d.ts" */

/** The self-attention of the typed text. @param {Pick<Page, "model">} page */
const read = ({ model }) => selfBlock(model, typedText(model));
/** Names of the three matrices in exports. */
const NAMES = ["written", "shuffled", "difference"];

/** @param {Page} page */
const stepsOf = (page) => (page.trace ? axes(page.model, page.trace, read(page).id).cols : []);

/** The selected layer and head. @param {Page} page */
export function selectedHead({ link, model }) {
  const block = read({ model }).id;
  const { layers, heads } = model ? extent(model, block) : { layers: 1, heads: 1 };
  return { block, layer: Math.min(link.layer, layers - 1), head: Math.min(link.head, heads - 1) };
}

/** @param {Page} page */
const moved = ({ link }) => shuffle(link.source, link.options.seed);

/**
 * Four runs, one of which the page already has: as written and shuffled, each with and without
 * positions.
 * @param {Page} page
 * @returns {import("../../core/store/view-requests.js").Question[]}  shuffled; and if positions can be
 *   dropped, as written and shuffled without them
 */
export function questions(page) {
  if (!page.trace || !page.model) return [];
  const modelChanges = changes({ interventions: changesInForce(page.link) });
  const common = {
    direction: page.trace.direction,
    target: null,
    // The typed text does not depend on the translation, so one token of it is enough.
    decode: page.model.texts.length > 1 ? { max_tokens: 1 } : null,
    select: [place(page.model, selectedHead(page), "weights"), place(page.model, selectedHead(page), "mask")],
  };
  const { text } = moved(page);
  const dropped = droppableTensors(page.model).map((tensor) => ({ at: tensor, do: "drop" }));
  const shuffled = runQuestion(page, { ...common, source: text });
  if (!dropped.length) return [shuffled];
  const without = [...modelChanges, ...dropped];
  return [
    shuffled,
    runQuestion(page, { ...common, interventions: without }),
    runQuestion(page, { ...common, source: text, interventions: without }),
  ];
}

/** @param {Page} page */
export const needs = (page) => [place(page.model, selectedHead(page), "weights"), place(page.model, selectedHead(page), "mask")];

/** @param {Context} context */
export function createShuffle(context) {
  const { store, t } = context;
  const again = h("button", { type: "button", className: "button" }, t("Shuffle again"));
  again.addEventListener("click", () => {
    const { seed } = store.get().link.options;
    store.choose({ seed: (seed + 1) % 10000 }, "chosen");
  });
  const selects = [picker(context, "layer", selectedHead), picker(context, "head", selectedHead)];
  const sentence = h("p", { className: "shuffled" });
  const note = h("p", { className: "note" });
  const bands = [band(context, "with"), band(context, "without")];
  const element = h(
    "div",
    { className: "shuffle" },
    h("div", { className: "options" }, ...selects.map((select) => select.element), again),
    sentence,
    ...bands.map((band) => band.element),
    note,
  );

  function draw() {
    const page = store.get();
    const { trace, link } = page;
    selects.forEach((select) => select.draw());
    if (!trace) return;
    const { text, ...spans } = moved(page);
    render(
      sentence,
      context.phrase(t("Shuffled: {sentence}"), { sentence: el("span", { lang: languages(trace.direction)[0] }, text) }),
    );
    again.disabled = text === link.source;
    if (text === link.source) return stop(t("There are no two words here that could be swapped."));
    const answers = questions(page).map((question) => /** @type {Trace | Problem | undefined} */ (answer(page, question)));
    const problem = answers.find((reply) => reply instanceof Problem);
    if (problem instanceof Problem) return stop(wording(t, problem));
    const [shuffled, plain, shuffledPlain] = /** @type {(Trace | undefined)[]} */ (answers);
    const name = typedText(page.model);
    const original = attention(page.model, trace, selectedHead(page));
    const drops = answers.length > 1;
    if (!shuffled || !original || (drops && !(plain && shuffledPlain))) return;
    const places = follow(trace.tokens[name], shuffled.tokens[name], spans);
    if (!places) return stop(t("In this order the words are split into different tokens. Shuffle again."));
    const attentionOf = (/** @type {Trace} */ run) => attention(page.model, run, selectedHead(page));
    show(original, attentionOf(shuffled), places, bands[0]);
    if (plain && shuffledPlain) show(attentionOf(plain), attentionOf(shuffledPlain), places, bands[1], bands[0].scale());
    else bands[1].clear();
    note.textContent = remark(context);
  }

  /** @param {Matrix | null} before @param {Matrix | null} after @param {number[]} places @param {ReturnType<typeof band>} into @param {number} [scale] */
  function show(before, after, places, into, scale) {
    if (before && after) into.draw(before, restored(after, places), scale);
  }

  /** @param {string} why */
  function stop(why) {
    note.textContent = why;
    bands.forEach((band) => band.clear());
  }

  return {
    element,
    draw,
    light: () => bands.forEach((band) => band.light()),
    finding: () => finding(context, bands),
    destroy: () => bands.forEach((band) => band.destroy()),
    picture() {
      const parts = bands.flatMap((band) => band.pictures());
      return parts.length ? { svg: file(abreast(parts, context.theme(), 3), context.theme()) } : null;
    },
    numbers() {
      const page = store.get();
      const tensors = Object.assign({}, ...bands.map((band) => band.numbers()));
      if (!Object.keys(tensors).length) return null;
      return { tokens: { [typedText(page.model)]: named(stepsOf(page)) }, tensors };
    },
  };
}

/**
 * How much the new order changes, with and without positions.
 * @param {Context} context
 * @param {ReturnType<typeof band>[]} bands
 */
function finding({ phrase, t }, bands) {
  const [withPositions, withoutPositions] = bands.flatMap(({ element, largest }) => (element.hidden ? [] : [el("b", {}, rounded(largest()))]));
  if (!withPositions) return [];
  return withoutPositions
    ? phrase(t("With positions the new order changes weights by up to {with}; without them by {without}."), { with: withPositions, without: withoutPositions })
    : phrase(t("The new order changes weights by up to {with}."), { with: withPositions });
}

/** @param {number} value  What four decimals show as 0 says its power of ten. */
const rounded = (value) => (value < 5e-5 ? tiny(value) : four(value));

/** What the comparison shows, depending on the kind of positions. @param {Context} context */
function remark({ store, t }) {
  const { base } = kindOf(store.get().model);
  if (base === "none")
    return t("The rows and columns of the shuffled sentence are put back in the order of the sentence before they are compared. This model has no positions: attention sees a set of tokens, and the weights are the same, to rounding.");
  if (base === "rotary" || base === "relative")
    return t("The rows and columns of the shuffled sentence are put back in the order of the sentence before they are compared. In this model positions act inside attention and cannot be dropped from a run; the weights depend on them where the difference is not zero.");
  return t(
    "The rows and columns of the shuffled sentence are put back in the order of the sentence before they are compared. Without positions attention sees a set of words: the weights are the same, to rounding. With them they are not.",
  );
}

/**
 * Three matrices in a row: as written, shuffled, and the difference.
 * @param {Context} context
 * @param {"with" | "without"} kind
 */
function band(context, kind) {
  const { store, t } = context;
  /** @type {(Matrix | null)[]} */
  let matrices = [null, null, null];
  let largest = 0;
  const title = kind === "without" || kindOf(store.get().model).base === "none" ? t("Without positions") : t("With positions");
  const names = [t("as written"), t("shuffled, put back"), t("difference")];
  const charts = names.map((name, i) =>
    createMatrix(context, {
      label: `${title}: ${name}`,
      onHover: (place) =>
        store.hover(
          place && {
            query: place.row === null ? null : { side: typedText(store.get().model), index: place.row },
            key: place.col === null ? null : { side: typedText(store.get().model), index: place.col },
          },
        ),
      onPick: (place) => reached.move(place, `${title}: ${name}`, (cell) => tip(i, cell)),
      picked: () => reached.cell(),
      tip: (cell) => tip(i, cell),
    }),
  );
  const reached = createKeyCell(context, light);

  /** @param {number} i @param {{row: number, col: number}} cell */
  function tip(i, { row, col }) {
    const shownMatrix = matrices[i];
    const steps = stepsOf(store.get());
    if (!shownMatrix || !steps[row] || !steps[col]) return [];
    const value = shownMatrix.values[row * shownMatrix.cols + col];
    return [step(steps[row]), " ", step(steps[col]), " ", el("b", {}, Number.isNaN(value) ? t("masked") : four(value))];
  }

  function light() {
    const lit = store.hovered();
    const index = (/** @type {import("../../core/store/store.js").Ref | null | undefined} */ ref) =>
      ref?.side === typedText(store.get().model) ? ref.index : null;
    const place = (!lit && reached.cell()) || { row: index(lit?.query), col: index(lit?.key) };
    charts.forEach((chart) => chart.mark(place));
  }

  const result = h("p", { className: "result" });
  const element = h(
    "section",
    { className: `panel runs ${kind}` },
    h("h3", {}, title),
    result,
    h(
      "div",
      { className: "panels" },
      ...charts.map((chart, i) => h("figure", {}, h("figcaption", {}, names[i]), h("div", { className: "scroller" }, chart.element))),
    ),
  );
  element.hidden = true;

  return {
    element,
    largest: () => largest,
    scale: () => Math.max(largest, 1e-3),
    /** @param {Matrix} before @param {Matrix} after @param {number} [scale]  of the difference */
    draw(before, after, scale) {
      const between = difference(before, after);
      largest = between.largest;
      matrices = [before, after, between.matrix];
      element.hidden = false;
      render(
        result,
        context.phrase(t("largest difference {difference}"), {
          difference: el("b", {}, rounded(largest)),
        }),
      );
      const { width, wide } = context.room();
      const theme = context.theme();
      const { projector } = store.get().link.options;
      const reach = scale ?? Math.max(largest, 1e-3);
      const steps = stepsOf(store.get());
      charts.forEach((chart, i) =>
        chart.draw({
          matrix: /** @type {Matrix} */ (matrices[i]),
          shade: i < 2
            ? { stops: sequential(theme), range: [0, 1] }
            : { stops: diverging(theme), range: [-reach, reach] },
          rows: steps,
          cols: steps,
          titles: { rows: "", cols: "" },
          width: wide ? (width - 64) / 3 : width,
          height: projector ? Math.max((1.05 * steps.length + 5) * theme.size, (context.room().height - 15 * theme.size) / 2) : Math.max(steps.length * 16 + 90, 300),
          stretch: projector ? 2.4 : 1.4,
          largest: projector ? 3 * theme.size : 26,
        }),
      );
    },
    light,
    clear: () => (element.hidden = true),
    pictures: () =>
      element.hidden ? [] : charts.map((chart, i) => ({ svg: chart.drawing(), title: `${title}: ${names[i]}` })),
    /** @returns {Record<string, import("../../core/wire/safetensors.js").Tensor>} */
    numbers() {
      const entries = element.hidden ? [] : matrices.flatMap((shownMatrix, i) => (shownMatrix ? [[`${kind}.${NAMES[i]}`, matrix(shownMatrix, typedText(store.get().model), typedText(store.get().model))]] : []));
      return Object.fromEntries(entries);
    },
    destroy() {
      reached.stop();
      charts.forEach((chart) => chart.destroy());
    },
  };
}

// Shuffle the words of a sentence, and find its tokens in the shuffled one. Punctuation and spaces
// stay in place; a Chinese character is a word by itself.

/** @typedef {{start: number, end: number}} Span  in code points, half open */

const WORD = /\p{Script=Han}|[\p{L}\p{M}\p{N}](?:[^\s\p{Script=Han}]*[\p{L}\p{M}\p{N}])?/gu;

/**
 * @param {string} text
 * @param {number} seed  selects the order
 * @returns {{text: string, from: Span[], to: Span[]}}  the words in their original order, and where
 *   each of them now is
 */
export function shuffle(text, seed) {
  const matches = [...text.matchAll(WORD)].map((match) => ({ word: match[0], start: match.index }));
  const order = permutation(matches.map(({ word }) => word), seed);
  const from = matches.map(({ word, start }) => span(length(text.slice(0, start)), word));
  /** @type {Span[]} */
  const to = [];
  let out = "";
  let read = 0;
  matches.forEach(({ word, start }, place) => {
    out += text.slice(read, start);
    const moved = matches[order[place]].word;
    to[order[place]] = span(length(out), moved);
    out += moved;
    read = start + word.length;
  });
  return { text: out + text.slice(read), from, to };
}

/**
 * The index of each token of the sentence in the shuffled one.
 * @param {TokenReply[]} tokens  of the sentence
 * @param {TokenReply[]} shuffled
 * @param {{from: Span[], to: Span[]}} moves
 * @returns {number[] | null}  null if the tokenizer splits the words differently
 */
export function follow(tokens, shuffled, { from, to }) {
  if (tokens.length !== shuffled.length) return null;
  const places = new Array(tokens.length).fill(-1);
  const used = new Set();
  from.forEach((span, word) => {
    const before = inside(tokens, span);
    const after = inside(shuffled, to[word]);
    before.forEach((i, piece) => {
      places[i] = after[piece] ?? -1;
      used.add(after[piece]);
    });
  });
  const unused = shuffled.map((_, i) => i).filter((i) => !used.has(i));
  const still = places.map((_, i) => i).filter((i) => places[i] < 0);
  still.forEach((i, n) => (places[i] = unused[n] ?? -1));
  const hasSameTokens = places.every((place, i) => shuffled[place]?.id === tokens[i].id);
  return hasSameTokens && new Set(places).size === places.length ? places : null;
}

/**
 * Put rows and columns of a shuffled sentence's matrix back into the order of the sentence.
 * @param {Matrix} matrix
 * @param {number[]} places  the index of each token of the sentence
 * @returns {Matrix}
 */
export function restored({ rows, cols, values }, places) {
  const out = values.map((_, i) => values[places[Math.floor(i / cols)] * cols + places[i % cols]]);
  return { rows, cols, values: out };
}

/**
 * @param {Matrix} a
 * @param {Matrix} b
 * @returns {{matrix: Matrix, largest: number}}  a − b, and the largest absolute difference
 */
export function difference(a, b) {
  const values = Float32Array.from(a.values, (value, i) => value - b.values[i]);
  const largest = values.reduce((maximum, value) => Math.max(maximum, Math.abs(value) || 0), 0);
  return { matrix: { ...a, values }, largest };
}

/**
 * A permutation that changes the sequence of words, if there is one.
 * @param {string[]} words
 * @param {number} seed
 * @returns {number[]}  for each place, the word that is now there
 */
function permutation(words, seed) {
  const order = words.map((_, i) => i);
  const random = generator(seed);
  for (let i = order.length - 1; i > 0; i--) {
    const swapIndex = Math.floor(random() * (i + 1));
    [order[i], order[swapIndex]] = [order[swapIndex], order[i]];
  }
  const reads = order.every((word, place) => words[word] === words[place]);
  return reads && order.length > 1 ? [...order.slice(1), order[0]] : order;
}

/**
 * A seeded generator that gives the same numbers everywhere ("mulberry32", after Steele & Vigna).
 * @param {number} seed
 */
function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {string} text  in code points */
const length = (text) => [...text].length;
/** @param {number} start @param {string} word @returns {Span} */
const span = (start, word) => ({ start, end: start + length(word) });
/** @param {TokenReply[]} tokens @param {Span} span */
const inside = (tokens, { start, end }) =>
  tokens.flatMap((token, i) => (!token.special && !token.pair && token.end > start && token.start < end ? [i] : []));
