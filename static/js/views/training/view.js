/** How attention formed: the heads of a block on a fixed sentence at each step of the training. */

import { sequential } from "../../core/draw/colour-scales.js";
import { arrangeTiles, orderedTiles } from "../../core/draw/head-grid.js";
import { file } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { legend } from "../../core/figure/figure-frame.js";
import { createTiles, readHeads } from "../../core/figure/head-tiles.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { wording } from "../../core/figure/problem-wording.js";
import { rowCaption } from "../../core/figure/row-wording.js";
import { heatmapOf, highlightIn } from "../../core/store/heatmap-data.js";
import { integerOption } from "../../core/store/link-options.js";
import { blockAt, extent } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { bcp47, languages } from "../../core/wire/tokens.js";
import { el, h, heightOf, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { createTimeline } from "./timeline.js";
import { counted, formation, learned, placeOf, subject, traceAt, watched } from "./training-history.js";

/** @import { Place } from "../../core/draw/matrix-geometry.js" */
/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Learned } from "./training-history.js" */

// One head at one step, enlarged: its matrix, its caption and its highlights.

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
function createFigure(context, { now, above, lit }) {
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
 * @param {import("../../core/wire/model-description.js").ModelInfo} model
 * @param {number} step
 */
const asAt = (model, step) => ({ ...model, taught: model.taught?.filter(({ since }) => since <= step) });

/**
 * @typedef {object} Moment  what is shown
 * @property {Page} page
 * @property {Learned} history
 * @property {number} place  index of the snapshot
 * @property {import("../../core/wire/safetensors.js").Trace} trace  the snapshot's trace
 */

const MOST = 9_999_999;

/** @type {View} */
export const training = {
  id: "training",
  name: (t) => t("Training"),
  about: (t) =>
    t(
      "How attention formed. The model was saved at steps of its training, starting before the first one. Each " +
      "snapshot reads the same fixed sentence and the same translation, the one that the trained model " +
      "writes. Move the slider, or let it play: the thumbnails are all heads of the block, the large " +
      "picture is the selected head. Above it is what the model itself would have written at that step, and " +
      "above the slider how good it was.",
    ),
  live: true,
  capabilities: ["learning"],
  frame: { rail: "none", inspector: false, caption: false, legend: "none" },
  options: {
    example: integerOption(0, 999, 0),
    snapshot: integerOption(0, MOST),
    row: integerOption(0, 9999),
    col: integerOption(0, 9999),
  },
  needs: () => [],
  asks: watched,
  subject,
  settle,
  mount,
};

/**
 * A pin belongs to a block, so changing the block removes it, unless the link has both.
 * @type {NonNullable<View["settle"]>}
 */
function settle({ link }, { link: before }) {
  const stays = link.view !== before.view || link.block === before.block || !before.block || link.options !== before.options;
  return stays ? link : { ...link, options: { ...link.options, row: null, col: null } };
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  /** @type {Moment | null} */
  let now = null;

  const picker = createPicker(context);
  const timeline = createTimeline(context, { now: () => now, go });
  const outputText = createOutputText(context);
  const label = t("Heads. Arrow keys move between them, Enter shows one large.");
  const tiles = createTiles(context, label, {
    onHover: (cell) => figure.hover(cell),
    onOpen: ({ layer, head }) => store.go({ layer, head }),
  });
  const figure = createFigure(context, { now: () => now, above: outputText.element, lit: () => light() });
  const beside = h("div", { className: "beside" }, timeline.element, tiles.element);
  const large = h("div", { className: "large" }, outputText.element, figure.element);
  const all = h("div", { className: "training" }, picker.element, beside, large, picker.note);
  const nothing = h("p", { className: "nothing-here", hidden: true });
  root.append(all, nothing);

  /** @param {number} place  of a snapshot */
  function go(place) {
    if (!now) return;
    const { step } = now.history.snapshots[place];
    store.choose({ snapshot: place === now.history.snapshots.length - 1 ? null : step });
  }

  function draw() {
    const page = store.get();
    const { model } = page;
    const history = model && !watched(page).length ? new Problem("no-learning") : learned(page);
    nothing.hidden = !(history instanceof Problem);
    all.hidden = history instanceof Problem;
    all.toggleAttribute("data-waiting", !history);
    if (history instanceof Problem) {
      nothing.textContent = wording(t, history);
      nothing.dataset.drawn = "nothing";
    } else if (history && extent(model, page.link.block).heads) show(page, history); // otherwise its block is not known yet
  }

  /** @param {Page} page @param {Learned} history */
  function show(page, history) {
    const place = placeOf(history, page.link.options.snapshot);
    const before = now;
    now = { page, history, place, trace: traceAt(history, place) };
    picker.show(now);
    timeline.show(now);
    outputText.show(now);
    thumbnails(now);
    figure.show(now);
    light();
    if (before?.history === history && before.place !== place)
      context.announce(t("Step {step}: {text}", { step: counted(history.snapshots[place].step), text: history.texts[place] }));
  }

  /** @param {Moment} moment */
  function thumbnails({ page, trace }) {
    const headData = readHeads(context, page, trace);
    const { heads } = headData;
    const room = { width: tiles.width(), height: Infinity, heads, letters: context.theme().size, byLayer: true, plain: true };
    const visibleTiles = orderedTiles(headData, headData.summary);
    tiles.draw(headData, visibleTiles, arrangeTiles(visibleTiles, room), "entropy");
  }

  function light() {
    if (!now) return;
    tiles.light(figure.highlighted(), store.get().link);
    figure.light();
  }

  return {
    draw,
    light,
    destroy() {
      timeline.destroy();
      figure.destroy();
      root.replaceChildren();
    },
    picture() {
      const drawn = figure.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
  };
}

// Choose one of the fixed sentences, with a note that they are not the typed one.

/** @param {Context} context */
function createPicker({ store, t, uniqueId }) {
  const select = h("select", { id: uniqueId("option-example") });
  select.addEventListener("change", () =>
    store.choose({ example: Number(select.value), row: null, col: null }, "chosen"),
  );
  const note = t("Fixed sentences, recorded while the model was trained; not the sentence you typed.");
  return {
    element: h("div", { className: "which" }, h("label", { className: "option menu" }, h("span", {}, t("Sentence")), select)),
    note: h("p", { className: "note" }, note),

    /** @param {Moment} moment */
    show({ history: { examples, example } }) {
      render(
        select,
        examples.map(({ source, direction }, value) => el("option", { value: String(value), lang: languages(direction)[0] }, source)),
      );
      select.value = String(example);
      select.lang = languages(examples[example].direction)[0];
    },
  };
}

// What the model itself writes at a step.

/** @param {import("../../core/figure/types.js").Context} context */
function createOutputText({ store, t }) {
  const texts = h("div", { className: "texts" });
  return {
    element: h("div", { className: "said" }, h("span", {}, t("At this step it writes")), texts),

    /** @param {Moment} moment  All lie in one place, so that it is as high for each of them. */
    show({ history, place }) {
      const lang = languages(history.direction)[1];
      const silent = bcp47(store.get().link.lang);
      render(
        texts,
        history.texts.map((text, i) => {
          const className = [!text.trim() && "silent", i === place && "text"].filter(Boolean).join(" ");
          return el("p", { className, lang: text.trim() ? lang : silent }, text.trim() ? text : t("nothing"));
        }),
      );
    },
  };
}
