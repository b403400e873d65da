/** How attention formed: the heads of a block on a fixed sentence at each step of the training. */

import { arrangeTiles, orderedTiles } from "../../core/draw/head-grid.js";
import { file } from "../../core/draw/svg.js";
import { createTiles, readHeads } from "../../core/figure/head-tiles.js";
import { wording } from "../../core/figure/problem-wording.js";
import { integerOption } from "../../core/store/options.js";
import { extent } from "../../core/wire/model.js";
import { Problem } from "../../core/wire/reply.js";
import { bcp47, languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { createFigure } from "./head-figure.js";
import { createTimeline } from "./timeline.js";
import { counted, learned, placeOf, subject, traceAt, watched } from "./training-history.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Learned } from "./training-history.js" */
/** @import { Page } from "../../core/store/store.js" */

/**
 * @typedef {object} Moment  what is shown
 * @property {Page} page
 * @property {Learned} history
 * @property {number} place  index of the snapshot
 * @property {import("../../core/wire/wire.js").Trace} trace  the snapshot's trace
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
