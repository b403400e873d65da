/**
 * The layout of a long text's attention: options above, the map, and beside it the text and a small
 * map.
 */

import { h, heightOf } from "../../lib/dom.js";
import { controls } from "../../core/figure/controls.js";
import { legend } from "../../core/figure/legend.js";
import { trouble } from "../../core/figure/problem-line.js";
import { offers } from "./axes.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */

/** The width of the text beside the map in pixels, and its share of the space. */
const TEXT = { least: 260, most: 400, share: 0.3 };
const GAP = 24;
/** The smallest height of the map in pixels. */
const LEAST = 320;

/**
 * @param {Context} context
 * @param {{map: import("./map.js").LongMap, minimap: HTMLElement, reader: HTMLElement, retry: () => void}} parts
 */
export function layoutOf(context, { map, minimap, reader, retry }) {
  const { t, store } = context;
  const level = controls(context, [{ option: "level", label: t("A cell is"), values: () => levels(t, store.get()) }]);
  const bar = controls(context, [
    { option: "scale", label: t("Scale"), values: { linear: t("linear"), log: t("log") } },
  ]);
  const key = legend(context);
  const below = h("p", { className: "notes" });
  const problem = trouble(context, retry);
  const button = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => void} */ act) => {
    const made = h("button", { type: "button", className: "button quiet", "aria-label": label, title: label }, sign);
    made.addEventListener("click", act);
    return made;
  };
  const [closer, farther, all] = [
    button(t("Zoom in"), "+", () => map.zoom(2)),
    button(t("Zoom out"), "−", () => map.zoom(0.5)),
    button(t("Show all"), t("All"), map.showAll),
  ];
  const zooms = h("div", { className: "zooms", role: "group", "aria-label": t("Zoom") }, closer, farther, all);
  const side = h("div", { className: "beside" }, h("div", { className: "whole" }, minimap, h("div", { className: "ranges" }, level, zooms)), reader);
  const main = h("div", { className: "long-main" }, problem.element, map.element, key.element, below);
  const element = h("div", { className: "long" }, main, side);
  const around = heightOf(key.element);

  return {
    bar,
    refresh() {
      bar.refresh();
      level.refresh();
    },
    element,
    key,
    below,
    problem,

    /** @param {boolean} whole  whether all is in sight */
    zoomed(whole) {
      farther.disabled = all.disabled = whole;
    },

    /**
     * The size of the map in pixels; the text takes the rest.
     * @param {import("../../core/figure/types.js").Room} room
     */
    sizes({ width, height, wide }) {
      const beside = wide && width >= 640;
      element.classList.toggle("side-by-side", beside);
      const text = beside ? Math.round(Math.min(Math.max(TEXT.least, TEXT.share * width), TEXT.most)) : width;
      const high = wide ? Math.max(height - around.now() - 56, LEAST) : Math.max(LEAST, Math.min(height, width * 1.05));
      side.style.width = `${text}px`;
      side.style.height = beside ? `${high}px` : "";
      return { width: beside ? width - text - GAP : width, height: high };
    },

    stop: around.stop,
  };
}

/** @param {Context["t"]} t @param {Page} page  Those that have something to show. */
function levels(t, page) {
  const names = /** @type {Record<import("./axes.js").Level, string>} */ ({ tokens: t("a token"), sentences: t("a sentence"), paragraphs: t("a paragraph") });
  const there = Object.entries(names).filter(([level]) => page.trace && offers(page, /** @type {import("./axes.js").Level} */ (level)));
  return Object.fromEntries(there);
}
