/**
 * Attention weights: queries down, keys across, violet from 0 to 1; for one head, or for all heads
 * of a layer.
 */

import { COVER } from "../../core/compute/aggregate-attention.js";
import { sinkNeeds } from "../../core/compute/computed-tensors.js";
import { shadeOf } from "../../core/draw/colour-scales.js";
import { file } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { controls } from "../../core/figure/controls.js";
import { legend } from "../../core/figure/figure-frame.js";
import { createMatrix } from "../../core/figure/matrix.js";
import {
  BETWEEN, directions, heatmapOf, highlightIn, pairIn, tokenAt, weightChange,
} from "../../core/store/heatmap-data.js";
import { SHARED, choiceOption, integerOption } from "../../core/store/link-options.js";
import { isFixed } from "../../core/store/share-contents.js";
import { blockAt, place } from "../../core/wire/model-description.js";
import { isLong } from "../../core/wire/long-texts.js";
import { isPad } from "../../core/wire/tokens.js";
import { el, h, heightOf, render, write } from "../../lib/dom.js";
import { four, rounded } from "../../lib/numbers.js";
import { mountLong } from "../../long/map/view.js";
import { notes } from "./processing-notes.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Place } from "../../core/draw/matrix-geometry.js" */

// Run with padding, so that the padding mask can be seen: `pad_to` of the request.

/** The initial number of padding tokens: enough to be seen, and not so many that they dominate. */
const FIRST = 3;

/** @param {Context} context */
function padding({ store, t }) {
  const box = h("input", { type: "checkbox" });
  const count = h("input", { type: "number", className: "count", "aria-label": t("pad to this many tokens") });
  const words = h("span", {}, t("pad to"));
  const element = h(
    "span",
    { className: "option padding" },
    h("label", { className: "toggle option" }, box, words),
    count,
  );

  /** @returns {number}  tokens of the longer side, without padding */
  function longest() {
    const { trace } = store.get();
    const sides = trace ? Object.values(trace.tokens) : [];
    return Math.max(1, ...sides.map((tokens) => tokens.filter((token) => !isPad(token)).length));
  }
  /** @param {number} requested */
  const within = (requested) => Math.min(Math.max(requested, longest()), store.get().model?.max_tokens ?? requested);

  box.addEventListener("change", () => {
    store.go({ pad_to: box.checked ? within(longest() + FIRST) : null });
  });
  count.addEventListener("change", () => {
    if (count.value) store.go({ pad_to: within(Number(count.value)) });
    refresh();
  });

  function refresh() {
    const { link, model } = store.get();
    element.hidden = Boolean(model?.missing?.padding) && link.pad_to === null;
    box.checked = link.pad_to !== null;
    box.disabled = count.disabled = isFixed(store.get());
    count.hidden = link.pad_to === null;
    count.min = String(longest());
    count.max = String(model?.max_tokens ?? "");
    if (document.activeElement !== count) count.value = String(link.pad_to ?? "");
    write(words, link.pad_to === null ? t("padding") : t("padding up to"));
  }
  return { element, refresh };
}

/** A range of a long text's tokens, "from-to". @type {import("../../core/store/link-options.js").Option<string | null>} */
const range = {
  initial: null,
  read: (text) => (/^\d{1,6}-\d{1,6}$/.test(text) ? text : null),
  write: String,
};

/** Below this width in pixels, a matrix beside another one has no bars at the ends of its rows. */
const NARROW = 420;
/** The smallest height of a matrix, by its number of rows: 340 to 620 px. */
const LEAST = { of: 340, line: 16, most: 620 };

/** @type {View} */
export const attention = {
  id: "attention",
  name: (t) => t("Attention"),
  about: (t) =>
    t(
      "Each row is a token that looks (the query), each column a token that it may look at (the key). The darker a " +
      "cell, the more weight the query gives to that key; a row sums to 1. Hatched cells are masked. The " +
      "bar at the end of a row is its weight on special tokens.",
    ),
  frame: { rail: "both", inspector: true, caption: true, legend: "none", folds: true, twice: 306 },
  options: {
    pool: choiceOption("one", "mean", "max"),
    top: integerOption(1, 100, 100),
    ...SHARED,
    between: BETWEEN,
    level: choiceOption("tokens", "sentences", "paragraphs"),
    shade: choiceOption("row", "column"),
    queries: range,
    keys: range,
  },
  long: true,
  needs: ({ model, link }) => [place(model, link, "weights"), place(model, link, "mask"), ...sinkNeeds(model, link)],
  settle,
  mount,
};

/**
 * Picking a head switches from pooled heads to that head. The first trace, which may select a head,
 * does not.
 * @type {NonNullable<View["settle"]>}
 */
function settle({ link, trace }, { link: before, trace: traceBefore }) {
  const isSamePlace = ["view", "block", "options"].every((key) => link[/** @type {"view"} */ (key)] === before[/** @type {"view"} */ (key)]);
  const picks = isSamePlace && trace === traceBefore && link.head !== before.head;
  if (!picks || link.options.pool === "one") return link;
  return { ...link, options: { ...link.options, pool: "one" } };
}

/**
 * Of a long text another picture, which shows a window of it.
 * @type {View["mount"]}
 */
function mount(context, root) {
  let long = isLong(context.store.get().trace);
  let mounted = long ? mountLong(context, root) : mountMatrix(context, root);
  return {
    draw() {
      if (isLong(context.store.get().trace) !== long) {
        mounted.destroy();
        root.replaceChildren();
        long = !long;
        mounted = long ? mountLong(context, root) : mountMatrix(context, root);
      }
      mounted.draw();
    },
    light: () => mounted.light(),
    destroy: () => mounted.destroy(),
    picture: () => mounted.picture?.() ?? null,
    get numbers() {
      return mounted.numbers;
    },
    tiles: () => mounted.tiles?.() ?? [],
  };
}

/** @type {View["mount"]} */
function mountMatrix(context, root) {
  const { store, t } = context;
  const bar = controls(context, choices(context));
  const pad = padding(context);
  bar.append(pad.element);
  const key = legend(context);
  const matrix = createMatrix(context, {
    label: t("Attention weights. Arrow keys move the cell, Escape unpins."),
    onHover: (place) => store.hover(place && refs(context, place)),
    onPick: (place, gesture) => pick(context, place, gesture),
    picked() {
      const current = heatmapOf(store.get());
      return current && pairIn(store.get(), null, current);
    },
    tip: (cell) => tip(context, cell),
  });
  const below = h("ul", { className: "notes" });
  root.append(bar, matrix.element, key.element, below);
  const around = heightOf(bar, key.element);

  function draw() {
    const page = store.get();
    const current = heatmapOf(page);
    bar.refresh();
    pad.refresh();
    if (!current) return;
    const shade = shadeOf(context, page);
    render(below, notes(context, current, shade.floor ?? null).map((line) => el("li", {}, line)));
    key.show({ shade, covers: new Set(current.cover) });
    const { width, height, wide } = context.room();
    // Keep the legend and one line of the notes visible (in projector mode, all notes); a phone scrolls
    // anyway.
    const noted = page.link.options.projector ? below.offsetHeight + 16 : 32;
    const least = Math.min(Math.max(LEAST.of, current.matrix.rows * LEAST.line + 130), LEAST.most);
    matrix.draw({
      shade,
      titles: { rows: t("query (looks)"), cols: t("key (looked at)") },
      width,
      height: wide ? Math.max(height - around.now() - noted, page.link.options.projector ? 0 : least) : height,
      stretch: 2.4,
      matrix: current.matrix,
      cover: current.cover,
      ends: wide && width < NARROW ? null : { shares: current.sinks, error: current.sinkError, label: endsLabel(context, current), shade: current.sunk ? shade : undefined },
      rows: current.rows.steps,
      cols: current.cols.steps,
    });
    light();
  }

  function light() {
    const current = heatmapOf(store.get());
    if (!current) return;
    const { row, col } = highlightIn(store.get(), store.hovered(), current);
    matrix.mark({ row, col });
  }

  function destroy() {
    around.stop();
    matrix.destroy();
  }

  return {
    draw,
    light,
    destroy,
    picture() {
      const drawn = matrix.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
  };
}

/** @param {Context} context @param {Place} place @returns {import("../../core/store/store.js").Highlight | null} */
function refs({ store }, { row, col }) {
  const current = heatmapOf(store.get());
  if (!current) return null;
  const sides = blockAt(store.get());
  const [query, key] = [tokenAt(current.rows, row), tokenAt(current.cols, col)];
  return {
    query: query === null ? null : { side: sides.query, index: query },
    key: key === null ? null : { side: sides.key, index: key },
  };
}

/** @param {Context} context @param {Place} place @param {"click" | "key"} gesture */
function pick({ store }, { row, col }, gesture) {
  const page = store.get();
  const current = heatmapOf(page);
  if (!current) return;
  const query = tokenAt(current.rows, row ?? highlightIn(page, null, current).row);
  const key = tokenAt(current.cols, col);
  if (gesture === "click" && page.link.query === query && page.link.key === key)
    store.go({ query: null, key: null });
  else store.go({ query, key }, gesture === "click" ? "pinned" : "moved");
}

/** @param {Context} context @returns {import("../../core/figure/controls.js").Control[]} */
const choices = ({ t, store }) => [
  {
    option: "pool",
    label: t("Heads"),
    values: { one: t("this one"), mean: t("mean"), max: t("maximum") },
  },
  { option: "between", label: t("Texts"), values: () => directions(t, store.get()) },
  { option: "scale", label: t("Scale"), values: { linear: t("linear"), log: t("log") } },
  { option: "special", label: t("Special tokens"), values: { show: t("show"), hide: t("hide") } },
  {
    option: "top",
    label: t("Show top"),
    range: [1, 100, 1],
    format: (percent) => (percent === 100 ? t("all") : t("{percent} %", { percent })),
  },
  { option: "words", label: t("whole words") },
];

/** @param {Context} context @param {import("../../core/store/heatmap-data.js").Reading} reading */
function endsLabel({ t }, { specials, templated, choice, sunk }) {
  if (sunk) return t("attention sink");
  if (!specials) return t("on the first token");
  return choice.hides ? t("hidden tokens") : templated ? t("special and template") : t("special tokens");
}

/** @param {Context} context @param {{row: number, col: number}} cell */
function tip({ store, t, phrase }, { row, col }) {
  const current = heatmapOf(store.get());
  if (!current) return [];
  const { matrix, cover, rows, cols, sinks, sunk } = current;
  const index = row * matrix.cols + col;
  const change = weightChange(store.get(), { row, col });
  return [
    h("span", { className: "as-query" }, step(rows.steps[row])),
    " ",
    h("span", { className: "as-key" }, step(cols.steps[col])),
    " ",
    h("b", {}, cover[index] === COVER.masked ? t("masked") : rounded(matrix.values[index], matrix.error)),
    ...(change ? [h("br", {}), ...phrase(t("as trained {before} → changed {after}"), { before: el("b", {}, rounded(change.trained, change.error)), after: el("b", {}, rounded(change.changed, change.error)) })] : []),
    ...(cover[index] === COVER.weak ? [" ", t("not among the strongest")] : []),
    ...(sunk ? [h("br", {}), t("attention sink"), " ", h("b", {}, four(sinks[row]))] : []),
  ];
}
