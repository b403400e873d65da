/** All heads of a block: one row of thumbnails per layer, each with what the head does. */

import { sinksNeeded, thumbnailTensors, thumbnailWeights } from "../../core/compute/computed-tensors.js";
import { inGeneral, presentMeasures, measures, patterns } from "../../core/compute/head-pattern-names.js";
import { arrangeTiles, orderedTiles, writeTile as paintTile } from "../../core/draw/head-grid.js";
import { file } from "../../core/draw/svg.js";
import { quotedStep } from "../../core/draw/token.js";
import { createTiles, readHeads } from "../../core/figure/head-tiles.js";
import { highlightOf } from "../../core/store/highlight.js";
import { isOff } from "../../core/store/interventions.js";
import { choiceOption } from "../../core/store/link-options.js";
import {
  BETWEEN, arrow, cropped, croppedMatrix, directions, placeIn, shownTexts,
} from "../../core/store/heatmap-data.js";
import { blockAt, place, summaries } from "../../core/wire/model-description.js";
import { isLong } from "../../core/wire/long-texts.js";
import { missingAddresses, tensorAt } from "../../core/wire/tensor-cache.js";
import { row } from "../../core/wire/safetensors.js";
import { el, h, render } from "../../lib/dom.js";
import { oneDecimal, two } from "../../lib/numbers.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { HeadData } from "../../core/figure/head-tiles.js" */
/** @import { Tile } from "../../core/draw/head-grid.js" */

// A select menu, for choices with too many values for radio buttons.

/**
 * @param {import("../../core/figure/types.js").Context} context
 * @param {string} option  its name in the link
 * @param {string} label
 * @returns {{element: HTMLElement, fill: (values: Record<string, string>) => void}}  `fill` sets
 *   the values and selects the link's one, or the first if it is not among them
 */
function menu({ store, uniqueId }, option, label) {
  const select = h("select", { id: uniqueId(`option-${option}`) });
  select.addEventListener("change", () => store.choose({ [option]: select.value }));
  return {
    element: h("label", { className: "option menu" }, h("span", {}, label), select),
    fill(values) {
      render(select, Object.entries(values).map(([value, text]) => el("option", { value }, text)));
      const chosen = store.get().link.options[option];
      select.value = chosen in values ? chosen : Object.keys(values)[0];
    },
  };
}

// One head enlarged: its picture with the tokens, a description of what it does, and all its numbers.

const SIZE = 200;
/** The largest number of tokens on a side that have room for their names. */
const NAMED = 16;

/** @param {Context} context */
function preview({ t, phrase }) {
  const title = h("h3", {});
  const lookedAt = h("p", { className: "looked-at" });
  const description = h("p", {});
  const general = h("p", { className: "general" });
  const canvas = h("canvas", { "aria-hidden": "true" });
  const [names, keys] = [h("div", { className: "names rows", "aria-hidden": "true" }), h("div", { className: "names cols", "aria-hidden": "true" })];
  const numbers = h("dl", {});
  canvas.style.width = canvas.style.height = `${SIZE}px`;
  /** @type {{headData: HeadData, tile: Tile} | null} */
  let enlarged = null;
  /** @type {{row: number | null, col: number | null}} */
  let lit = { row: null, col: null };

  function showTokens() {
    if (!enlarged) return;
    const { rows, cols } = enlarged.headData.axes;
    const named = rows.length <= NAMED && cols.length <= NAMED;
    const name = (/** @type {boolean} */ isLit, /** @type {string} */ className) => (/** @type {import("../../core/wire/tokens.js").Step} */ token, /** @type {number} */ i) =>
      el("span", { key: i, className: isLit ? className : "" }, quotedStep({ ...token, short: true }));
    render(names, named && rows.map((token, i) => name(i === lit.row, "as-query")(token, i)));
    render(keys, named && cols.map((token, i) => name(i === lit.col, "as-key")(token, i)));
    render(lookedAt, lit.row !== null && mostLookedAt(enlarged.headData, enlarged.tile, lit.row, phrase, t));
  }

  return {
    element: h("aside", { className: "preview", "aria-label": t("Hovered head") }, title, lookedAt, description, general, h("div", { className: "enlarged" }, keys, names, canvas), numbers),

    /** Mark a token's row and column. @param {{row: number | null, col: number | null}} place */
    light(place) {
      lit = place;
      showTokens();
    },

    /** @param {import("../../core/figure/head-tiles.js").HeadData} headData @param {import("../../core/draw/head-grid.js").Tile} tile */
    show(headData, tile) {
      const { layer, head } = tile;
      const summary = headData.summary(layer);
      title.textContent = t("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
      const off = isOff(headData.page, tile);
      description.textContent = off ? t("This head is off; it contributes nothing.") : summary ? patterns(t)[summary.pattern[head]].says : "";
      render(general, generally(headData, tile, t));
      render(
        numbers,
        presentMeasures(summary, t).map(([name, { name: called, unit }]) => {
          const value = summary?.[name]?.[head] ?? null;
          const text = value === null ? "–" : unit ? t("{value} {unit}", { value: two(value), unit }) : two(value);
          return el("div", {}, el("dt", {}, called), el("dd", {}, text));
        }),
      );
      draw(canvas, headData, tile);
      enlarged = { headData, tile };
      showTokens();
    },
  };
}

/**
 * What a row of the head looks at most.
 * @param {HeadData} headData
 * @param {Tile} tile
 * @param {number} query
 * @param {Context["phrase"]} phrase
 * @param {Context["t"]} t
 */
function mostLookedAt({ matrix, axes: { rows, cols } }, tile, query, phrase, t) {
  const picture = matrix(tile);
  if (!picture || query >= picture.rows) return false;
  const { unit = 1 } = picture;
  const weights = [...row(picture, query)];
  const strongest = weights.reduce((best, weight, key) => (weight > weights[best] || Number.isNaN(weights[best]) ? key : best), 0);
  return phrase(t("{query} looks most at {key}: {weight}."), {
    query: el("b", { className: "as-query" }, quotedStep(rows[query])),
    key: el("b", { className: "as-key" }, quotedStep(cols[strongest])),
    weight: unit === 1 ? two(weights[strongest]) : `≈ ${oneDecimal(weights[strongest] / unit)}`, // of 8 bits, whose second decimal may be off by one
  });
}

/**
 * What the head does over many sentences, with a link to its page.
 * @param {import("../../core/figure/head-tiles.js").HeadData} seen
 * @param {import("../../core/draw/head-grid.js").Tile} tile
 * @param {Context["t"]} t
 */
function generally({ page: { model, link } }, { layer, head }, t) {
  const attentionPlace = place(model, { block: link.block, layer });
  const words = inGeneral(model?.in_general?.[attentionPlace]?.[head], t);
  const href = `/heads/${model?.id}/${attentionPlace}/${head}?lang=${link.lang}`;
  return words && [el("a", { href }, t("In general")), t(": "), words];
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("../../core/figure/head-tiles.js").HeadData} headData
 * @param {import("../../core/draw/head-grid.js").Tile} tile
 */
function draw(canvas, headData, tile) {
  const picture = headData.matrix(tile);
  if (!picture) return;
  const size = Math.round(SIZE * Math.min(window.devicePixelRatio || 1, 2));
  [canvas.width, canvas.height] = [size, size];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(size, size);
  paintTile(new Uint32Array(image.data.buffer), size, { left: 0, top: 0, size }, picture, headData.paint);
  context.putImageData(image, 0, 0);
}

const MEASURES = Object.keys(measures((message) => message));
const PATTERNS = Object.keys(patterns((message) => message));

/** @type {View} */
export const heads = {
  id: "heads",
  name: (t) => t("Heads"),
  about: (t) =>
    t(
      "Each row is a layer, each column a head; each thumbnail is the attention of one head, queries down and keys " +
      "across. The word below it says what the head mostly does in this sentence; the number is the measure " +
      "by which heads are sorted. Point at a token to highlight its row and its column in all heads; click " +
      "a head to enlarge it.",
    ),
  frame: { rail: "none", inspector: false, caption: false, legend: "attention", twice: 480 },
  options: {
    sort: choiceOption("layer", ...MEASURES),
    pattern: choiceOption("all", ...PATTERNS),
    between: BETWEEN,
  },
  long: true,
  needs,
  mount,
};

/** @param {Page} page  Every head's picture, and what it does; of a long text its picture alone. */
function needs({ model, link, trace }) {
  return isLong(trace) ? thumbnailWeights(model, link.block) : [...thumbnailTensors(model, link.block), ...summaries(model, link.block)];
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const sort = menu(context, "sort", t("Sort by"));
  const filter = menu(context, "pattern", t("Pattern"));
  const texts = menu(context, "between", t("Texts"));
  const { line: captionLine, inner } = context.finding();
  const panel = preview(context);
  const label = t("Heads. Arrow keys move between them, Enter enlarges.");
  const tiles = createTiles(context, label, { onHover, onOpen, onPreview });
  const nothing = h("p", { className: "nothing-here", hidden: true });
  const hint = h("p", { className: "note" });
  const options = h("div", { className: "options" }, sort.element, filter.element, texts.element);
  root.append(
    options,
    h("div", { className: "heads-view" }, h("div", {}, inner, tiles.element, nothing, hint), panel.element),
  );
  /** @type {HeadData | null} */
  let headData = null;

  /** @param {Tile} tile */
  function onOpen({ layer, head }) {
    store.go({ view: "attention", layer, head }, "chosen");
  }

  /** @param {{row: number, col: number} | null} cell */
  function onHover(cell) {
    // A cell of a long text's thumbnail is not one token.
    if (isLong(store.get().trace)) return;
    const { query, key } = blockAt(store.get());
    const texts = shownTexts(store.get());
    const from = { rows: texts?.rows[0] ?? 0, cols: texts?.cols[0] ?? 0 };
    store.hover(
      cell && { query: { side: query, index: cell.row + from.rows }, key: { side: key, index: cell.col + from.cols } },
    );
  }

  /** @param {Tile | null} tile  null: the present head */
  function onPreview(tile) {
    if (headData) panel.show(headData, tile ?? store.get().link);
  }

  function draw() {
    const page = store.get();
    const { trace, model } = page;
    if (model && trace && !missingAddresses(trace, needs(page)).length) show(withinTexts(readHeads(context, page, trace)));
  }

  /** @param {HeadData} next */
  function show(next) {
    headData = next;
    const { page, summary } = next;
    options.hidden = isLong(page.trace);
    const between = shownTexts(page) ? t("Only {texts} is shown; words and numbers are of both texts.", { texts: arrow(page.link.options.between) }) : "";
    hint.textContent = [numberOf(context, next), t("Click a head, or press Enter, to enlarge it."), strip(context, page), between].join(" ");
    const values = directions(t, page);
    texts.element.hidden = !Object.keys(values).length;
    if (!texts.element.hidden) texts.fill(values);
    sort.fill(sorts(context, next));
    filter.fill(kinds(context, next));
    const choice = { ...chosen(next), heads: next.heads };
    const visibleTiles = orderedTiles(next, summary, choice);
    captionLine.textContent = caption(context, next, visibleTiles.length);
    const above = tiles.element.getBoundingClientRect().top - root.getBoundingClientRect().top;
    const height = context.room().height - above;
    const letters = context.theme().size;
    const room = { width: tiles.width(), height, heads: next.heads, letters, byLayer: !choice.by, whole: page.link.options.projector === true };
    tiles.draw(next, visibleTiles, arrangeTiles(visibleTiles, room), choice.by ?? "entropy");
    nothing.hidden = visibleTiles.length > 0;
    if (!visibleTiles.length) nothing.textContent = t("No head of this block has this pattern here.");
    panel.show(next, page.link);
    light();
  }

  function light() {
    const page = store.get();
    const highlight = highlightOf(page, store.hovered());
    const texts = shownTexts(page);
    const lit = { row: placeIn(texts?.rows, highlight.query), col: placeIn(texts?.cols, highlight.key) };
    const marked = highlight.by === "default" ? { row: null, col: null } : lit;
    tiles.light(marked, page.link);
    panel.light(marked);
  }

  return {
    draw,
    light,
    destroy: () => root.replaceChildren(),
    picture() {
      const drawn = tiles.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
  };
}

/** The pictures of the tokens of two texts that are shown. @param {HeadData} headData @returns {HeadData} */
function withinTexts(headData) {
  const texts = shownTexts(headData.page);
  if (!texts) return headData;
  const { rows, cols } = headData.axes;
  const matrix = (/** @type {Tile} */ tile) => {
    const picture = headData.matrix(tile);
    if (!picture) return null;
    const may = picture.may && cropped(picture.may, picture.cols, texts);
    return { ...croppedMatrix(picture, texts), may, sink: picture.sink && picture.sink.slice(...texts.rows) };
  };
  return { ...headData, axes: { rows: rows.slice(...texts.rows), cols: cols.slice(...texts.cols) }, matrix };
}

/** What the column beside a picture is. @param {Context} context @param {Page} page */
const strip = ({ t }, { model, trace, link }) =>
  sinksNeeded(model, link.block).length && !isLong(trace)
    ? t("The separate column at the right of each head is its weight on a learned attention sink, which is not a token.")
    : "";

/** @param {HeadData} seen @returns {{by?: string, rising?: boolean, only?: string}}  as far as there is such */
function chosen({ page, summary }) {
  if (isLong(page.trace)) return {};
  const { sort, pattern } = page.link.options;
  const measure = presentMeasures(summary(0), (message) => message).find(([name]) => name === sort);
  const only = pattern === "all" ? undefined : pattern;
  return measure ? { by: sort, rising: measure[1].rising, only } : { only };
}

/** @param {Context} context @param {HeadData} seen @returns {Record<string, string>} */
function sorts({ t }, { summary }) {
  const entries = presentMeasures(summary(0), t).map(([name, { order }]) => [name, order]);
  return { layer: t("layer"), ...Object.fromEntries(entries) };
}

/** @param {Context} context @param {HeadData} seen @returns {Record<string, string>} */
function kinds({ t }, { page, layers, summary }) {
  const all = Array.from({ length: layers }, (_, layer) => summary(layer)?.pattern ?? []).flat();
  const entries = Object.entries(patterns(t))
    .map(([slug, { name }]) => ({ slug, name, count: all.filter((pattern) => pattern === slug).length }))
    .filter(({ slug, count }) => count || slug === page.link.options.pattern)
    .map(({ slug, name, count }) => [slug, t("{name} ({count})", { name, count })]);
  return { all: t("all ({count})", { count: all.length }), ...Object.fromEntries(entries) };
}

/** @param {Context} context @param {HeadData} headData @param {number} visibleCount */
function caption({ t }, headData, visibleCount) {
  if (isLong(headData.trace)) return t("{n} heads over {tokens} tokens; a cell is the largest weight of {side} × {side} tokens. Click a head, or press Enter, to enlarge it.", { n: visibleCount, ...sizes(headData) });
  const all = headData.layers * headData.heads;
  const common = visibleCount === all ? mostCommon(headData) : null;
  if (common) return t("{n} of {all} heads do the same here: {what}", { n: common.count, all, what: patterns(t)[common.pattern].says });
  return visibleCount === all ? t("{all} heads", { all }) : t("{shown} of {all} heads", { shown: visibleCount, all });
}

/** What the number below each head is. @param {Context} context @param {HeadData} headData */
function numberOf({ t }, headData) {
  if (isLong(headData.trace)) return "";
  const { name, order, unit, note } = measures(t)[chosen(headData).by ?? "entropy"];
  const number = note ?? (unit ? t("{name} in {unit}", { name, unit }) : order);
  return t("The number is {number}.", { number });
}

/**
 * The pattern that most heads have.
 * @param {HeadData} headData
 * @returns {{pattern: string, count: number} | null}  null: no two heads do the same
 */
function mostCommon({ layers, summary }) {
  const namedPatterns = Array.from({ length: layers }, (_, layer) => summary(layer)?.pattern ?? []).flat().filter((pattern) => pattern !== "mixed" && pattern !== "none");
  const [commonest] = PATTERNS.map((pattern) => ({ pattern, count: namedPatterns.filter((slug) => slug === pattern).length })).sort((a, b) => b.count - a.count);
  return commonest.count > 1 ? commonest : null;
}

/** Of a long text: its tokens, and how many a side of a cell is. @param {HeadData} seen */
function sizes({ trace, page }) {
  const tensor = tensorAt(trace, place(page.model, page.link, "weights"));
  return { tokens: Math.max(...Object.values(trace.tokens).map(({ length }) => length)), side: tensor?.span?.query ?? 1 };
}
