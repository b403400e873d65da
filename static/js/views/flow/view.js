/**
 * Where a token's vector comes from, across layers: attention rollout and attention flow from a
 * chosen token (Abnar & Zuidema 2020), and how its residual stream changes.
 */

import { textRuler } from "../../core/draw/matrix-labels.js";
import { enlarge, file } from "../../core/draw/svg.js";
import { onArrows, within } from "../../core/figure/pointing.js";
import { controls } from "../../core/figure/controls.js";
import { highlightOf } from "../../core/store/highlight.js";
import { readingStacks } from "../../core/store/model-part-names.js";
import { choiceOption } from "../../core/store/link-options.js";
import { blockAt, isBetweenTexts } from "../../core/wire/model-description.js";
import { h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { whenFree } from "../../lib/timing.js";
import { content, needs, numbersOf, sharesOf } from "./flow-data.js";
import { createDiagram } from "./layer-diagram.js";
import { createLateStrip, prints, stripRoom } from "./residual-strip.js";
import { caution, finding, remarks, scales, series } from "./wording.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Graph } from "./flow.js" */
/** @import { FlowData } from "./flow-data.js" */
/** @import { Store } from "../../core/store/store.js" */

// How to read a figure: one sentence below it, and the rest on request.

/** @param {Pick<import("../../core/figure/types.js").Context, "t">} context */
function createNote({ t }) {
  const first = h("p", { className: "note" });
  const remarkLine = h("p", {});
  const reading = h("details", { className: "reading" }, h("summary", {}, t("How to read this")), remarkLine);
  return {
    element: h("div", {}, first, reading),

    /** @param {string} summary @param {string[]} remarks */
    show(summary, remarks) {
      first.textContent = summary;
      remarkLine.textContent = prose(remarks);
      reading.hidden = !remarks.length;
    },
  };
}

// Pointing, clicking and arrow keys in the diagram, for the tokens of the selected layer and the
// inputs.

/**
 * @param {HTMLElement} element  the container of the diagram
 * @param {object} page
 * @param {Store} page.store
 * @param {() => Graph | null} page.graph  the graph shown
 * @param {() => void} page.announce
 */
function bindDiagram(element, { store, graph, announce }) {
  /** @param {MouseEvent} event */
  function under(event) {
    const block = blockAt(store.get());
    const current = graph();
    const spot = current && rowAt(event, { top: current.tops.length, leaf: current.leaves.length });
    if (spot?.rows === "top") return { query: { side: block.query, index: spot.index }, key: null };
    if (!spot || !current || current.nodes[current.leaves[spot.index]].side !== block.key) return null;
    return { query: null, key: { side: block.key, index: spot.index } };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") store.hover(under(event));
  });
  element.addEventListener("pointerleave", () => store.hover(null));
  element.addEventListener("click", (event) => {
    const pointed = under(event);
    // A sink is no token that a link could name.
    if (!pointed || (pointed.key && pointed.key.index >= tokensOf(store))) return;
    const present = highlightOf(store.get(), null).query;
    store.go({ query: pointed.query?.index ?? present, key: pointed.key?.index ?? null }, "pinned");
    announce();
  });
  onArrows(element, (down, right) => {
    const current = graph();
    if (current) move(store, current, down, right);
    announce();
  });
}

/**
 * The row under the pointer: rows of one kind share a hit area and have equal heights.
 * @param {MouseEvent} event
 * @param {Record<"top" | "leaf", number>} counts  how many rows there are
 * @returns {{rows: "top" | "leaf", index: number} | null}
 */
function rowAt({ target, clientY }, counts) {
  const spot = /** @type {Element} */ (target).closest("[data-top], [data-leaf], [data-rows]");
  if (!spot) return null;
  const { top, leaf } = /** @type {SVGElement} */ (spot).dataset;
  if (top !== undefined) return { rows: "top", index: Number(top) };
  if (leaf !== undefined) return { rows: "leaf", index: Number(leaf) };
  const rows = spot.getAttribute("data-rows") === "top" ? "top" : "leaf";
  const box = spot.getBoundingClientRect();
  const index = Math.floor(((clientY - box.top) / box.height) * counts[rows]);
  return { rows, index: within(index, counts[rows]) };
}

/**
 * The highlighted token of the selected layer and the highlighted input.
 * @param {Store} store
 * @param {Graph} graph
 */
function chosenIn(store, { nodes, tops, leaves }) {
  const page = store.get();
  const highlight = highlightOf(page, store.hovered());
  const top = Math.min(highlight.query ?? highlightOf(page, null).query ?? 0, tops.length - 1);
  const text = blockAt(page).key;
  const leaf = leaves.findIndex((node) => nodes[node].side === text && nodes[node].index === highlight.key);
  return { top, leaf: leaf < 0 ? null : leaf };
}

/** The number of tokens that can be looked at. @param {Store} store */
const tokensOf = (store) => store.get().trace?.tokens[blockAt(store.get()).key]?.length ?? 0;

/** @param {Store} store @param {Graph} graph @param {number} down @param {number} right */
function move(store, graph, down, right) {
  const { link } = store.get();
  const keys = tokensOf(store);
  const query = within(chosenIn(store, graph).top + down, graph.tops.length);
  const key = right ? within((link.key ?? -1) + right, keys) : link.key;
  store.go({ query, key });
}

// Maximum flows from the chosen token to all inputs, a few at a time, so that the page stays
// responsive.

/** The longest time to block the page, in milliseconds. */
const SLICE = 12;

/** @param {() => void} ready  hears when the last one is known, not of each */
function createMaxFlows(ready) {
  let work = () => {};
  const scheduler = whenFree(() => {
    work();
    if (!scheduler.owes()) ready();
  });

  return {
    /**
     * @param {FlowData} shown
     * @param {number} top  the chosen token, whose flows are computed from now on
     * @returns {(number | undefined)[]}  of each input; undefined: not computed yet
     */
    from({ graph, flows, network }, top) {
      scheduler.cancel();
      const flowValues = flows.get(top) ?? new Array(graph.leaves.length).fill(undefined);
      flows.set(top, flowValues);
      work = () => {
        const until = performance.now() + SLICE;
        for (let n = flowValues.indexOf(undefined); n >= 0; n = flowValues.indexOf(undefined)) {
          flowValues[n] = network.flow(graph.tops[top], graph.leaves[n]).value;
          if (performance.now() >= until) return scheduler.later();
        }
      };
      work();
      return flowValues;
    },
    stop: scheduler.cancel,
  };
}

/** The usual font size, in pixels. */
const DESK = 13;
/** Height of everything around the diagram, in pixels. */
const AROUND = 120;
/**
 * The largest height of the stream's rows, in pixels; otherwise they are as high as the diagram's.
 */
const ROW = 24;

/** @type {View} */
export const flow = {
  id: "flow",
  name: (t) => t("Flow"),
  about: (t) =>
    t(
      "Follows attention from a token of the selected layer down to the inputs. Rollout multiplies the layers: the " +
      "share of all paths that end at an input. Flow is the most that the layers' weights let through. Both " +
      "are shown to the left of each input.",
    ),
  frame: { rail: "layer", inspector: false, caption: false, legend: "attention", tells: true, twice: 480 },
  options: { amount: choiceOption("rollout", "flow") },
  needs,
  lights: (page) => (isBetweenTexts(blockAt(page)) ? [{ part: "residual" }] : [{ part: "residual", stack: blockAt(page).stack }]),
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  const options = hasEdges(context);
  const places = createPlaces(context);
  /** @type {FlowData | null} */
  let state = null;
  /** @type {Drawn | null} */
  let drawn = null;
  const flows = createMaxFlows(light);
  const strip = createLateStrip(places.stream, window);
  root.append(options, places.element);
  bindDiagram(places.diagram, {
    store,
    graph: () => state && state.graph,
    announce: () => context.announce(places.finding.textContent ?? ""),
  });

  function draw() {
    options.refresh();
    state = content(context.t, store.get());
    if (!state) return;
    drawn = drawIn(context, places, strip, state);
    light();
  }

  function light() {
    if (!state || !drawn) return;
    const chosen = chosenIn(store, state.graph);
    const shares = sharesOf(state, chosen, flows.from(state, chosen.top), store.get().link.options.amount);
    drawn.diagram.show(shares);
    render(places.finding, finding(context, state, shares));
    if (!state.stream) return;
    strip.mark(chosen.top);
    places.series.replaceChildren(...series(context, state.stream, chosen.top));
  }

  return {
    draw,
    light,
    destroy: () => (flows.stop(), strip.stop(), root.replaceChildren()),
    picture: () => drawn && { svg: file(drawn.diagram.svg, context.theme()) },
    numbers: () => state && numbersOf(state, chosenIn(store, state.graph).top),
  };
}

/** @param {Context} context */
const hasEdges = (context) =>
  controls(context, [
    { option: "amount", label: context.t("Edges show"), values: { rollout: context.t("rollout"), flow: context.t("flow") } },
  ]);

/** The fixed elements of the view. @param {Context} context */
function createPlaces(context) {
  const { t } = context;
  const { line, inner } = context.finding();
  const places = {
    finding: line,
    diagram: h("div", {
      className: "river",
      tabIndex: 0,
      role: "application",
      "aria-label": t(
        "Flow of attention. Up and down choose the token above, left and right the input, Escape unpins.",
      ),
    }),
    stream: h("div", { className: "stream" }),
    scale: h("p", { className: "key", "aria-hidden": "true" }),
    series: h("p", { className: "series" }),
    reading: createNote(context),
  };
  const stream = { className: "scroller", tabIndex: 0, role: "group", "aria-label": t("Residual stream") };
  const element = h(
    "div",
    { className: "flow" },
    inner,
    h("div", { className: "scroller" }, places.diagram),
    h("section", {}, h("h3", {}, t("Residual stream")), h("div", stream, places.stream), places.scale, places.series),
    places.reading.element,
  );
  return { element, ...places };
}

/** @typedef {ReturnType<typeof drawIn>} Drawn */

/**
 * Draw everything that does not depend on the chosen token, at the usual font size, then scale it
 * to the page's.
 * @param {Context} context
 * @param {ReturnType<typeof createPlaces>} places
 * @param {ReturnType<typeof createLateStrip>} strip
 * @param {FlowData} shown
 */
function drawIn(context, places, strip, { graph, names: { tops, leaves }, stream }) {
  const { store, t } = context;
  const page = context.theme();
  const unit = page.size / DESK;
  const theme = { ...page, size: DESK };
  const ruled = textRuler(page);
  const measure = (/** @type {string} */ text) => ruled(text) / unit;
  const { width, height } = context.room();
  const room = { width: width / unit, height: height / unit - AROUND, wide: width >= 600, measure };
  const stacks = readingStacks(store.get().model, t);
  const diagram = createDiagram({ graph, tops, leaves, stacks }, room, theme, t);
  const row = Math.min(ROW, diagram.row);
  places.diagram.replaceChildren(enlarge(diagram.svg, unit));
  places.diagram.dataset.drawn = "";
  if (stream) {
    const space = { row, width: width / unit, measure, unit };
    render(places.scale, scales(context, stream, prints(stripRoom({ stream, tokens: tops }, space, t).cell)));
    strip.draw({ stream, tokens: tops }, space, theme, t);
  }
  places.reading.show(caution(t), remarks(context));
  return { diagram };
}
