/**
 * A map of the model, drawn from its own table of attentions: a tower a stack, a floor a layer, a cell
 * for each attention. It lights the place that is shown, and another cell goes there. Of many layers the
 * ends and those around the place that is shown are drawn; the others unfold.
 */

import { headThumbnail, layerThumbnail, thumbnailTensors } from "../core/compute/computed-tensors.js";
import { kindOf } from "../core/compute/positions.js";
import { sequential } from "../core/draw/colour-scales.js";
import { colourTable, drawThumbnail } from "../core/draw/head-grid.js";
import { blockName, kindName, placeName } from "../core/store/model-part-names.js";
import { attentionAt, blockOf, blocks, blocksOfStack, extent, hasVectors, place } from "../core/wire/model-description.js";
import { valueAt } from "../core/wire/tensor-cache.js";
import { el, find, render } from "../lib/dom.js";
import { view } from "../views/index.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { Model } from "../core/wire/model-description.js" */
/** @import { PageServices } from "./main-figure.js" */

// The map of a model: its stacks as columns, with the attentions of every layer.

/**
 * @typedef {object} Tower  a stack
 * @property {string} stack
 * @property {boolean} writes  whether its output is the next token
 * @property {string[]} kinds  the kinds of attention of its layers, in the order in which they run
 * @property {{layer: number, cells: {block: string, layer: number}[]}[]} layers  layer 1 first; a
 *   cell is an attention as named in a link, with its layer within the block
 */

/** @typedef {Tower["layers"][number]} Floor */
/** @typedef {{from: number, to: number}} Fold  layers that are not drawn, the first and the last of them */

/** So many floors stand on a screen of 720 lines. */
const MAX_FLOORS = 7;

/** @param {Model} model @returns {Tower[]}  in the order in which they run */
export function towersOf(model) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.map((stack, i) => {
    const stackBlocks = blocksOfStack(model, stack);
    const layers = [...new Set(stackBlocks.flatMap(({ rows }) => rows.map(({ layer }) => layer)))].sort((a, b) => a - b);
    return {
      stack,
      writes: i === stacks.length - 1 && stackBlocks.some(({ rows }) => rows.some(({ mask }) => mask === "causal")),
      kinds: stackBlocks.map(({ kind }) => kind),
      layers: layers.map((layer) => ({ layer, cells: stackBlocks.flatMap((block) => cellsOf(block, layer)) })),
    };
  });
}

/**
 * The layers without q and k, by block, of a model that has them in others.
 * @param {Model} model
 * @returns {{block: string, layers: string, count: number}[]}  layers as in "1, 3–5"
 */
export function withoutVectors(model) {
  const all = blocks(model);
  if (!all.some(hasVectors)) return [];
  return all.flatMap(({ id, rows }) => {
    const layersWithout = rows.flatMap(({ qk }, layer) => (qk === false ? [layer + 1] : []));
    return layersWithout.length > 0 ? [{ block: id, layers: ranges(layersWithout), count: layersWithout.length }] : [];
  });
}

/** @param {number[]} numbers  ascending */
function ranges(numbers) {
  const starts = numbers.filter((n) => !numbers.includes(n - 1));
  const ends = numbers.filter((n) => !numbers.includes(n + 1));
  return starts.map((from, i) => (from === ends[i] ? `${from}` : `${from}–${ends[i]}`)).join(", ");
}

/**
 * A tower of many layers, folded: its ends, the layer that is shown with its neighbours, and others that
 * are to be seen.
 * @param {Floor[]} layers
 * @param {number} present  the layer that is shown
 * @param {number[]} [alsoDrawn]
 * @returns {(Floor | Fold)[]}  all of them where they are few
 */
export function foldedTower(layers, present, alsoDrawn = []) {
  const last = layers.length - 1;
  if (layers.length <= MAX_FLOORS) return layers;
  const middle = Math.min(Math.max(present, 0), last);
  const drawnLayers = new Set([0, last, middle - 1, middle, middle + 1, ...alsoDrawn]);
  /** @type {(Floor | Fold)[]} */
  const floors = [];
  for (let i = 0; i <= last; i++) {
    let to = i;
    while (to <= last && !drawnLayers.has(to)) to++;
    // One layer takes no more room than the fold that hides it.
    if (to - i > 1) floors.push({ from: layers[i].layer, to: layers[to - 1].layer });
    if (to - i > 1) i = to - 1;
    else floors.push(layers[i]);
  }
  return floors;
}

/**
 * Whether a part of the map is among those that a view shows.
 * @param {import("../core/figure/types.js").ModelPart[]} lit
 * @param {import("../core/figure/types.js").ModelPart} one
 */
export function isLit(lit, { part, stack, layer, block }) {
  return lit.some((litPart) =>
    litPart.part === part && litPart.block === block &&
    (litPart.stack ?? stack) === stack && (litPart.layer ?? layer) === layer);
}

/** @param {import("../core/wire/model-description.js").Block} block @param {number} layer */
function cellsOf({ id, rows }, layer) {
  const layerInBlock = rows.findIndex((row) => row.layer === layer);
  return layerInBlock < 0 ? [] : [{ block: id, layer: layerInBlock }];
}

/**
 * @param {Pick<PageServices, "store" | "t">} services
 * @param {() => void} drawn  called when layers have been unfolded, which have no picture yet
 * @param {HTMLElement} [map]  a fieldset with a legend; absent: the page's own
 * @param {string} [name]  of its radio buttons
 * @returns {() => {layer: number, canvas: HTMLCanvasElement}[]}  the layers of the present block that are drawn
 */
export function bindMap({ store, t }, drawn, map = find("#map"), name = "place") {
  const legend = find("legend", map);
  map.addEventListener("change", ({ target }) => {
    const { block, layer } = /** @type {HTMLInputElement} */ (target).dataset;
    const sameBlock = block === store.get().link.block;
    store.go({ block, layer: Number(layer), ...(sameBlock ? {} : { query: null, key: null }) });
  });

  /** @type {import("../core/figure/types.js").ModelPart[]} */
  let lit = [];
  /** The stack whose layers are all drawn though they are many. @type {string | null} */
  let open = null;
  store.subscribe(({ model, link }) => [model, link.block, link.layer], () => (open = null));

  /** @param {string} stack @param {number} layer  where the keyboard goes on */
  function unfold(stack, layer) {
    open = stack;
    show();
    drawn();
    const cell = /** @type {HTMLElement} */ (map.querySelector(`[data-stack="${stack}"] :checked`) ?? map.querySelector(`[data-stack="${stack}"] [data-floor="${layer}"] input`));
    cell.focus();
    cell.parentElement?.scrollIntoView({ block: "nearest" });
  }
  /** @param {string} className @param {import("../core/figure/types.js").ModelPart} part */
  const named = (className, part) => (isLit(lit, part) ? `${className} lit` : className);

  function show() {
    const page = store.get();
    if (!page.model) return;
    const towers = towersOf(page.model);
    lit = view(page.link.view).lights?.(page) ?? [];
    const input = kindOf(page.model).site === "input" ? t("embedding + position") : t("embedding");
    render(
      map,
      legend,
      el("div", { className: "towers" }, towers.map((modelPart) => tower(page, modelPart))),
      el("p", { className: named("map-part inputs", { part: "embedding" }), "data-term": "embedding" }, input),
      withoutVectors(page.model).map(({ block, layers, count }) => {
        const values = { block: blockName(block, t), layers };
        return el("p", { key: `without ${block}`, className: "without" },
          count === 1 ? t("{block}: no q and k in layer {layers}", values) : t("{block}: no q and k in layers {layers}", values));
      }),
    );
  }
  store.subscribe(({ model, link }) => [model, link.view, link.block, link.layer, link.options], show);
  show();

  /** @param {Page} page @param {Tower} tower */
  function tower(page, { stack, writes, kinds, layers }) {
    const alsoDrawn = lit.flatMap((modelPart) => (modelPart.layer !== undefined && (modelPart.stack ?? stack) === stack ? [modelPart.layer] : []));
    const drawn = open === stack ? layers : foldedTower(layers, page.link.layer, alsoDrawn);
    return el(
      "div",
      { key: stack, className: "tower", "data-stack": stack },
      writes && el("p", { className: named("map-part outputs", { part: "output" }), "data-term": "logit" }, t("output")),
      el("p", { className: "name", "data-term": stack }, blockName(stack, t)),
      el("div", { className: named(open === stack ? "stack open" : "stack", { part: "residual", stack }) },
        drawn.map((modelPart) => ("from" in modelPart ? fold(stack, modelPart) : floor(page, stack, modelPart))).reverse(),
        el("p", { key: "kinds", className: "kinds", "aria-hidden": "true" }, kinds.map((kind) => el("span", { "data-term": `${kind}-attention` }, kindName(kind, t))))),
    );
  }

  /** @param {string} stack @param {Fold} fold */
  function fold(stack, { from, to }) {
    const values = { from: from + 1, to: to + 1 };
    const label = t("Show layers {from} to {to}", values);
    const onclick = () => unfold(stack, from);
    return el("button", { key: `fold ${from}`, type: "button", className: "fold", title: label, "aria-label": label, onclick }, `${values.from} – ${values.to}`);
  }

  /** @param {Page} page @param {string} stack @param {Tower["layers"][number]} floor */
  function floor(page, stack, { layer, cells }) {
    const network = isLit(lit, { part: "network", stack, layer }) && "lit";
    const added = isLit(lit, { part: "network-sum", stack, layer }) && "added";
    return el(
      "div",
      { key: layer, className: "floor", "data-floor": String(layer) },
      el("span", { className: "number", "aria-hidden": "true" }, String(layer + 1)),
      el("span", { className: ["network", network, added].filter(Boolean).join(" "), "data-term": "feed-forward", "aria-hidden": "true" }),
      el("div", { className: isLit(lit, { part: "sum", stack, layer }) ? "cells added" : "cells" }, cells.map((modelPart) => cell(page, modelPart))),
    );
  }

  /** @param {Page} page @param {{block: string, layer: number}} at */
  function cell({ model, link }, { block, layer }) {
    const { frame, blocks: suits = () => true } = view(link.view);
    const present = block === link.block;
    const label = placeName(block, layer, t);
    const className = ["cell", present && "present", present && frame.rail === "none" && "whole", isLit(lit, { part: "attention", block, layer }) && "lit"].filter(Boolean).join(" ");
    return el(
      "label",
      { key: block, className, title: label },
      el("input", {
        type: "radio",
        name,
        className: "hidden",
        value: place(model, { block, layer }),
        "data-block": block,
        "data-layer": String(layer),
        "aria-label": label,
        checked: present && layer === link.layer,
        disabled: !suits(blockOf(model, block)) || (suits === hasVectors && attentionAt(model, place(model, { block, layer }))?.qk === false),
      }),
      el("canvas", { "aria-hidden": "true" }),
    );
  }

  return () => {
    const { model, link } = store.get();
    const { layers } = extent(model, link.block);
    return Array.from({ length: layers }, (_, layer) => ({
      layer,
      canvas: /** @type {HTMLCanvasElement | null} */ (map.querySelector(`input[value="${place(model, { block: link.block, layer })}"] ~ canvas`)),
    })).flatMap(({ layer, canvas }) => (canvas ? [{ layer, canvas }] : []));
  };
}

// Thumbnails for choosing: a layer on the map and a head beside it show their weights.

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
