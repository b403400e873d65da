/** Q/K space: all queries and keys of one head in the plane in which they vary most. */

import { cellPicker, onArrows, within } from "../../core/figure/pointing.js";
import { attention, attentionAt, axes, blockAt, hasVectors, headIndices, place } from "../../core/wire/model-description.js";
import { highlightOf } from "../../core/store/highlight.js";
import { four, two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { quoted } from "../../core/draw/token.js";
import { memo } from "../../lib/memo.js";
import { textRuler } from "../../core/draw/matrix-labels.js";
import { isDot, scoringOf } from "../../core/compute/scoring.js";
import { nearest, placed, ranking, space as spaceOf } from "./qk-plane.js";
import { file } from "../../core/draw/svg.js";
import { plainLabel } from "../../core/wire/tokens.js";
import { plane, row } from "../../core/wire/safetensors.js";
import { createSolid } from "./points-in-3d.js";
import { choiceOption } from "../../core/store/link-options.js";
import { controls } from "../../core/figure/controls.js";
import { layoutOf, picture } from "./scatter.js";

/** @import { View, Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Layout } from "./scatter.js" */
/** @import { RankedKey } from "./qk-plane.js" */

/** The number of lines from the highlighted query, and of rows of its list. */
const [LINES, LISTED] = [3, 10];
/**
 * In pixels: the smallest width of a plane with its list beside it, and the reach of the pointer.
 */
const [LEAST, REACH] = [480, 28];
/** Width of the list, in multiples of the font size. */
const SIDE = 28;

/** @type {View} */
export const space = {
  id: "space",
  name: (t) => t("Q/K space"),
  about: (t) =>
    t(
      "All queries (circles) and all keys (squares) of a head, each set centred and scaled separately, in the " +
      "directions in which they vary most (principal components). Shifting all keys changes no weight, nor " +
      "does scaling queries up and keys down. Point at a query: lines go to the keys with the largest q · " +
      "k, which is what attention uses. Closeness in the plane is not the same: a key far away in the " +
      "direction of the query, along the dashed line, has a larger product than a near one.",
    ),
  frame: { rail: "both", inspector: false, caption: true, legend: "none", twice: 480 },
  options: { axes: choiceOption("2d", "3d") },
  blocks: hasVectors,
  needs: ({ model, link }) => ["q", "k", "weights", "mask"].map((name) => place(model, link, name)),
  mount,
};

/**
 * @param {Page} page
 * @returns {{q: import("../../core/wire/safetensors.js").Matrix, k: import("../../core/wire/safetensors.js").Matrix, weights: import("../../core/wire/safetensors.js").Matrix, space: import("./qk-plane.js").Space} | null}
 */
function content({ model, trace, link }) {
  const tensors = ["q", "k"].map((letter) => trace?.tensors[place(model, link, letter)]);
  const weights = trace && attention(model, trace, link);
  if (!tensors[0] || !tensors[1] || !weights) return null;
  const [q, k] = tensors.map((tensor) => plane(/** @type {any} */ (tensor), headIndices(model, link)));
  return { q, k, weights, space: memo(tensors[0], `space ${link.head}`, () => spaceOf(q, k)) };
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const picker = cellPicker(context, ["query"]);
  const spreadNote = h("p", { className: "note" });
  const figure = h("div", {
    className: "qk-plane",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Queries and keys in a plane. Arrow keys move the cell, Escape unpins."),
  });
  const list = h("div", { className: "qk-found" });
  const solid = createSolid(context);
  const bar = controls(context, [{ option: "axes", label: t("Dimensions"), values: { "2d": "2", "3d": "3" } }]);
  bar.hidden = !context.plotter;
  root.append(h("div", { className: "qk-space" }, h("div", { className: "qk-bar" }, picker, bar, legend(t)), figure, solid.element, list, spreadNote));
  /** @type {Layout | null} */
  let layout = null;

  function draw() {
    picker.refresh();
    bar.refresh();
    const page = store.get();
    const current = content(page);
    if (!page.trace || !current) return;
    layout = arrange(context, page.trace, current.space);
    spreadNote.textContent = spreadSaid(t, current.space);
    if (context.plotter && page.link.options.axes === "3d")
      spreadNote.append(" ", t("The third direction adds {share}.", { share: two(current.space.solid.share) }));
    light();
  }

  function light() {
    picker.refresh();
    const page = store.get();
    const current = content(page);
    if (!page.trace || !current || !layout || layout.queries !== current.q.rows) return;
    const highlight = highlightOf(page, store.hovered());
    const query = highlight.query ?? highlightOf(page, null).query ?? 0;
    if (query >= current.q.rows) return;
    const ranked = ranking(current.q, current.k, query, row(current.weights, query), byProduct(page) ? "dot" : "weight");
    const best = ranked.filter(({ masked }) => !masked).slice(0, LINES);
    const key = highlight.key !== null && highlight.key < current.k.rows ? highlight.key : null;
    figure.replaceChildren(picture(layout, { query, key, best }, context.theme()));
    figure.dataset.drawn = `${query}`;
    solid.show(current.space.solid, layout, { query, key, best });
    figure.hidden = solid.shown();
    const close = nearest(layout.points.slice(layout.queries), layout.points[query]);
    render(list, ranks(context, query, ranked, key, close));
  }

  bindPlane(context, figure, () => layout);
  return {
    draw,
    light,
    destroy: () => (solid.clear(), root.replaceChildren()),
    picture() {
      if (solid.shown()) return null;
      const drawn = figure.querySelector("svg");
      return drawn && { svg: file(drawn, context.theme()) };
    },
  };
}

/**
 * @param {Context} context
 * @param {import("../../core/wire/safetensors.js").Trace} trace
 * @param {import("./qk-plane.js").Space} space
 */
function arrange({ room, store, theme }, trace, { queries, keys, origin, directions }) {
  const { width: all, height, wide } = room();
  const side = SIDE * theme().size;
  const beside = wide && all - side > LEAST;
  const free = beside ? all - side : all;
  const tall = Math.min(Math.max(height - 40, 400), free * 0.8);
  const size = { width: beside ? Math.min(free, tall * 1.5) : free, height: tall };
  const points = placed([...queries, ...keys, origin], size, [Math.min(64, free / 7), 28]);
  const { rows, cols } = axes(store.get().model, trace, store.get().link.block);
  const labels = [...rows, ...cols].map(({ writes }) => plainLabel(writes));
  const measure = textRuler(theme());
  const line = theme().size * 1.25;
  return layoutOf({
    ...size,
    labels,
    points: points.slice(0, -1),
    origin: points[points.length - 1],
    directions: directions.map(([x, y]) => ({ x, y: -y })),
    sizes: labels.map((text) => ({ width: measure(text), height: line })),
    queries: queries.length,
    unit: theme().size / 13,
  });
}

/** @param {Context["t"]} t */
function legend(t) {
  const signs = { round: t("query"), square: t("key"), plus: t("mean") };
  const entries = Object.entries(signs).map(([name, label]) =>
    h("span", {}, h("span", { className: `qk-sign ${name}`, "aria-hidden": "true" }), label),
  );
  return h("p", { className: "legend" }, ...entries);
}

/** @param {Context["t"]} t @param {import("./qk-plane.js").Space} space */
function spreadSaid(t, { shares: [x, y], channels }) {
  const values = { channels, share: two(x + y), across: two(x), up: two(y) };
  return x + y < 0.5
    ? t("Of {channels} channels, this plane keeps {share} of the variance ({across} across, {up} up): most of it " +
      "cannot be seen here.", values)
    : t("Of {channels} channels, this plane keeps {share} of the variance ({across} across, {up} up).", values);
}

/** Whether q · k has the same order as the weights. @param {Page} page */
function byProduct({ model, link }) {
  const scoring = scoringOf(attentionAt(model, place(model, link)));
  return !scoring || (isDot(scoring) && !scoring.placed);
}

/**
 * The keys of the highlighted query, by q · k.
 * @param {Context} context
 * @param {number} query
 * @param {RankedKey[]} ranked
 * @param {number | null} selectedKey
 * @param {number | null} close  the key nearest in the plane
 */
function ranks({ store, t, phrase }, query, ranked, selectedKey, close) {
  const { model, trace, link } = store.get();
  if (!trace) return [];
  const { rows, cols } = axes(model, trace, link.block);
  const listed = ranked.filter(({ key }, rank) => rank < LISTED || key === selectedKey || key === close);
  const lines = listed.map(({ key, dot, weight, masked }) =>
    el(
      "tr",
      { key, className: key === selectedKey ? "here" : "" },
      el("th", { scope: "row" }, el("span", { className: "qk-sign", "aria-hidden": "true" }), quoted(cols[key].writes), key === close && el("span", { className: "nearby" }, t("nearest in the plane"))),
      el("td", {}, four(dot)),
      el("td", {}, masked ? t("masked") : four(weight)),
    ),
  );
  const product = byProduct(store.get());
  const words = product ? t("{query} finds, by q · k") : t("{query} finds, by weight");
  const title = phrase(words, { query: el("b", { className: "as-query" }, quoted(rows[query].writes)) });
  const head = [t("key"), "q · k", t("weight")].map((name) => el("th", { scope: "col" }, name));
  const explanation = product
    ? t("Attention depends on the dot product q · k, not on the distance in this plane.")
    : t("In this model the score is not only q · k: lines and list use the weight itself, which neither q · k nor the " +
      "distance in this plane determines.");
  return [
    el("p", { className: "note" }, explanation),
    el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines)),
    ranked.length > listed.length && el("p", { className: "note" }, t("and {count} keys with less", { count: ranked.length - listed.length })),
  ];
}

/**
 * Pointing, clicking and arrow keys in the plane.
 * @param {Context} context
 * @param {HTMLElement} figure
 * @param {() => Layout | null} layout
 */
function bindPlane({ store }, figure, layout) {
  /** @param {MouseEvent} event */
  function under(event) {
    const drawn = layout();
    const frame = figure.getBoundingClientRect();
    const position = { x: event.clientX - frame.left, y: event.clientY - frame.top };
    const point = drawn && nearest(drawn.points, position, REACH);
    if (point === null || !drawn) return null;
    return point < drawn.queries ? { query: point, key: null } : { query: null, key: point - drawn.queries };
  }
  figure.addEventListener("pointermove", (event) => {
    const pointed = event.pointerType === "touch" ? null : under(event);
    const { query, key } = blockAt(store.get());
    store.hover(
      pointed && {
        query: pointed.query === null ? null : { side: query, index: pointed.query },
        key: pointed.key === null ? null : { side: key, index: pointed.key },
      },
    );
  });
  figure.addEventListener("pointerleave", () => store.hover(null));
  figure.addEventListener("click", (event) => {
    const pointed = under(event);
    if (!pointed) return;
    const query = pointed.query ?? highlightOf(store.get(), null).query;
    const { link } = store.get();
    const isPinned = link.query === query && link.key === pointed.key;
    store.go(isPinned ? { query: null, key: null } : { query, key: pointed.key }, "pinned");
  });
  onArrows(figure, (down, right) => {
    const drawn = layout();
    if (!drawn) return false;
    const highlight = highlightOf(store.get(), null);
    const keys = drawn.points.length - drawn.queries;
    const query = within((highlight.query ?? 0) + down, drawn.queries);
    const key = right ? within((highlight.key ?? -right) + right, keys) : highlight.key;
    store.go({ query, key });
    return true;
  });
}
