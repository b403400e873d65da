/** Thumbnails for choosing: a layer on the map and a head beside it show their weights. */

import { headThumbnail, layerThumbnail, thumbnailTensors } from "../core/compute/computed-tensors.js";
import { colourTable, drawThumbnail } from "../core/draw/head-grid.js";
import { sequential } from "../core/draw/colour-scales.js";
import { blockName } from "../core/store/model-part-names.js";
import { blockOf, blocks, extent } from "../core/wire/model.js";
import { valueAt } from "../core/wire/tensor-cache.js";
import { el, find, render } from "../lib/dom.js";
import { view } from "../views/index.js";
import { bindMap } from "./model-map.js";

/** @import { PageServices } from "./main-figure.js" */
/** @import { Page } from "../core/store/store.js" */

// Small controls in place of the map: step to another layer or head, and a menu of kinds of
// attention.

/**
 * One step back or forward, cyclically.
 * @param {Pick<PageServices, "store">} services
 */
export function bindSteppers({ store }) {
  for (const axis of /** @type {const} */ (["layer", "head"])) {
    const bar = find(`.stepper[data-of="${axis}"]`);
    for (const button of bar.querySelectorAll("button"))
      button.addEventListener("click", () => step(store, axis, Number(button.dataset.step)));
    const show = () => (find("output", bar).textContent = String(store.get().link[axis] + 1));
    store.subscribe(({ link }) => link[axis], show);
    show();
  }
}

/** @param {PageServices["store"]} store @param {"layer" | "head"} axis @param {number} by */
export function step(store, axis, by) {
  const { model, link } = store.get();
  const count = model ? extent(model, link.block)[`${axis}s`] : 0;
  if (count) store.go({ [axis]: (link[axis] + by + count) % count });
}

/**
 * A menu of the kinds of attention that the view can show; hidden if there is only one.
 * @param {PageServices} services
 */
export function bindKinds({ store, t }) {
  const menu = /** @type {HTMLSelectElement} */ (find("#kind"));
  menu.addEventListener("change", () => store.go({ block: menu.value, query: null, key: null }));

  function show() {
    const { model, link } = store.get();
    const { blocks: suits = () => true } = view(link.view);
    const offered = blocks(model).filter(({ id }) => suits(blockOf(model, id)));
    render(menu, offered.map(({ id }) => el("option", { value: id }, blockName(id, t))));
    menu.value = link.block;
    menu.hidden = offered.length < 2;
  }
  store.subscribe(({ model, link }) => [model, link.view, link.block], show);
  show();
}

/** @typedef {"layer" | "head"} Which */

/** @param {PageServices} context */
export function bindPickers(context) {
  const { store, t } = context;
  const layers = bindMap(context, () => show({ layer: true }));
  const list = find("#heads");
  list.addEventListener("change", ({ target }) => store.go({ head: Number(/** @type {HTMLInputElement} */ (target).value) }));

  /** @param {number} count @param {number} chosen */
  function heads(count, chosen) {
    render(list, Array.from({ length: count }, (_, i) => option(i, t("Head {n}", { n: i + 1 }), i === chosen)));
    return [...list.querySelectorAll("canvas")];
  }

  /** Which thumbnails to paint as soon as they are on the page. */
  const owed = { layer: true, head: true };

  /** @param {Partial<Record<Which, boolean>>} stale */
  function show(stale) {
    const { rail } = document.documentElement.dataset;
    owed.layer ||= Boolean(stale.layer);
    owed.head ||= Boolean(stale.head);
    fill({ layer: owed.layer, head: owed.head && rail === "both" });
  }

  /** @param {Record<Which, boolean>} stale */
  function fill(stale) {
    const page = store.get();
    const { trace, model, link } = page;
    if (!trace || !model) return;
    const colours = stale.layer || stale.head ? colourTable(sequential(context.theme())) : null;
    if (stale.layer) layers().forEach(({ layer, canvas }) => paint(canvas, layerThumbnail(model, trace, { ...link, layer }), colours));
    heads(extent(model, link.block).heads, link.head).forEach((canvas, head) => {
      if (stale.head) paint(canvas, headThumbnail(model, trace, { ...link, head }), colours);
    });
    owed.layer &&= !stale.layer;
    owed.head &&= !stale.head;
  }

  store.subscribe(pool, () => (find("#heads").dataset.pool = pool(store.get())));
  store.subscribe(pictured, () => show({ layer: true, head: true }));
  store.subscribe(({ link }) => link.layer, () => show({ head: true, layer: true }));
  store.subscribe(({ link }) => [link.head, link.view], () => show({}));
  context.onTheme(() => show({ layer: true, head: true }));
  bindSteppers(context);
}

/** @param {number} i @param {string} name @param {boolean} checked */
function option(i, name, checked) {
  return el(
    "label",
    { className: "thumb", title: name },
    el("input", { type: "radio", name: "head", value: String(i), className: "hidden", "aria-label": name, checked }),
    el("canvas", { "aria-hidden": "true" }),
    el("span", { className: "number", "aria-hidden": "true" }, String(i + 1)),
  );
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("../core/draw/head-grid.js").Picture | null} picture
 * @param {Uint32Array | null} colours
 */
function paint(canvas, picture, colours) {
  if (picture && colours) drawThumbnail(canvas, picture, colours);
}

/** How heads are pooled. @param {Page} page */
const pool = ({ link }) => (link.view === "attention" ? link.options.pool : "one");

/** The data of all thumbnails. @param {Page} page */
function pictured({ link, model, trace }) {
  return [link.block, model, trace?.id, ...thumbnailTensors(model, link.block).map((address) => valueAt(trace, address))];
}
