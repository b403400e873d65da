/**
 * Where a token's vector comes from, across layers: attention rollout and attention flow from a
 * chosen token (Abnar & Zuidema 2020), and how its residual stream changes.
 */

import { between, blockAt } from "../../core/wire/attentions.js";
import { readers } from "../../core/store/model-part-names.js";
import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { choice } from "../../core/store/options.js";
import { controls } from "../../core/figure/controls.js";
import { createReading } from "./reading.js";
import { ruler } from "../../core/draw/labels.js";
import { enlarge, file } from "../../core/draw/svg.js";
import { bindDiagram, chosenIn } from "./diagram-pointing.js";
import { content, numbersOf } from "./flow-content.js";
import { sharesOf } from "./flow-shares.js";
import { needs } from "./layer-means.js";
import { createDiagram } from "./layer-diagram.js";
import { createMaxFlows } from "./max-flows.js";
import { createLateStrip } from "./late-strip.js";
import { caution, finding, remarks, scales, series } from "./summary.js";
import { prints, stripRoom } from "./residual-strip.js";

/** @import { View, Context } from "../../core/figure/types.js" */
/** @import { Shown } from "./flow-content.js" */

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
  options: { amount: choice("rollout", "flow") },
  needs,
  lights: (page) => (between(blockAt(page)) ? [{ part: "residual" }] : [{ part: "residual", stack: blockAt(page).stack }]),
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  const options = edgesShow(context);
  const places = furnish(context);
  /** @type {Shown | null} */
  let shown = null;
  /** @type {Drawn | null} */
  let drawn = null;
  const flows = createMaxFlows(light);
  const strip = createLateStrip(places.stream, window);
  root.append(options, places.element);
  bindDiagram(places.diagram, {
    store,
    graph: () => shown && shown.graph,
    announce: () => context.announce(places.finding.textContent ?? ""),
  });

  function draw() {
    options.refresh();
    shown = content(context.t, store.get());
    if (!shown) return;
    drawn = drawIn(context, places, strip, shown);
    light();
  }

  function light() {
    if (!shown || !drawn) return;
    const at = chosenIn(store, shown.graph);
    const shares = sharesOf(shown, at, flows.from(shown, at.top), store.get().link.options.amount);
    drawn.diagram.show(shares);
    render(places.finding, finding(context, shown, shares));
    if (!shown.stream) return;
    strip.mark(at.top);
    places.series.replaceChildren(...series(context, shown.stream, at.top));
  }

  return {
    draw,
    light,
    destroy: () => (flows.stop(), strip.stop(), root.replaceChildren()),
    picture: () => drawn && { svg: file(drawn.diagram.svg, context.theme()) },
    numbers: () => shown && numbersOf(shown, chosenIn(store, shown.graph).top),
  };
}

/** @param {Context} context */
const edgesShow = (context) =>
  controls(context, [
    { option: "amount", label: context.t("Edges show"), values: { rollout: context.t("rollout"), flow: context.t("flow") } },
  ]);

/** The fixed elements of the view. @param {Context} context */
function furnish(context) {
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
    reading: createReading(context),
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
 * @param {ReturnType<typeof furnish>} places
 * @param {ReturnType<typeof createLateStrip>} strip
 * @param {Shown} shown
 */
function drawIn(context, places, strip, { graph, names: { tops, leaves }, stream }) {
  const { store, t } = context;
  const page = context.theme();
  const unit = page.size / DESK;
  const theme = { ...page, size: DESK };
  const ruled = ruler(page);
  const measure = (/** @type {string} */ text) => ruled(text) / unit;
  const { width, height } = context.room();
  const room = { width: width / unit, height: height / unit - AROUND, wide: width >= 600, measure };
  const stacks = readers(store.get().model, t);
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
