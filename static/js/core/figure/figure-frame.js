/** The legend of a matrix: colours and patterns in one line below it. */

import { el, h, render } from "../../lib/dom.js";
import { four, rounded, two } from "../../lib/numbers.js";
import { COVER } from "../compute/aggregate-attention.js";
import { diverging, gradient, sequential } from "../draw/colour-scales.js";
import { pairIn, heatmapOf } from "../store/heatmap-data.js";
import { plainStep } from "../wire/tokens.js";
import { rowCaption } from "./row-wording.js";

/** @import { Context, Measure } from "./types.js" */

// The colour scale of a figure: from 0 to 1, or around zero.

/**
 * @param {Pick<import("./types.js").Context, "t" | "theme">} context
 * @param {HTMLElement} place  the container, hidden if the view has no such scale
 * @param {import("./types.js").Scale} kind
 */
export function showScale({ t, theme }, place, kind) {
  place.hidden = kind === "none";
  if (kind === "none") return;
  if (kind === "signed") return render(place, ramp(diverging(theme()), "−", "+"));
  render(place, ramp(sequential(theme()), "0", "1"), el("span", { className: "hatched" }), el("span", {}, t("masked")));
}

/**
 * A colour ramp between the labels of its ends.
 * @param {import("../draw/colour-scales.js").Stops} stops
 * @param {string} low
 * @param {string} high
 */
export const ramp = (stops, low, high) => [
  el("span", {}, low),
  el("span", { className: "ramp", style: { "background-image": gradient(stops) } }),
  el("span", {}, high),
];

/**
 * @typedef {object} Meaning
 * @property {import("../draw/matrix-canvas.js").Shade} shade
 * @property {Set<number>} covers  the patterns present (`COVER`)
 */

/** @param {Context} context */
export function legend({ t }) {
  const element = h("p", { className: "key", "aria-hidden": "true" });
  return {
    element,

    /** @param {Meaning} meaning */
    show({ shade, covers }) {
      const { low, high, patterns } = meaning(t, { shade, covers });
      render(
        element,
        ramp(shade.stops, low, high),
        patterns.map(({ name, label }) => el("span", { className: "pattern" }, el("span", { className: `swatch ${name}` }), label)),
      );
    },
  };
}

/** @param {Context["t"]} t @param {Meaning} of */
export function meaning(t, { shade, covers }) {
  const [low, high] = ends(shade);
  const patterns = [
    { why: COVER.masked, name: "hatched", label: t("masked") },
    { why: COVER.weak, name: "dotted", label: t("hidden, not 0") },
    { why: COVER.onlyA, name: "level", label: t("only in A") },
    { why: COVER.onlyB, name: "upright", label: t("only in B") },
  ].filter(({ why }) => covers.has(why));
  return { shade, low, high, patterns };
}

/** @param {import("../draw/matrix-canvas.js").Shade} shade @returns {[string, string]} */
function ends({ range: [low, high], floor }) {
  if (floor) return [`≤ ${floor}`, "1"];
  if (low === 0) return ["0", String(high)];
  return [`−${two(high)}`, `+${two(high)}`];
}

// The caption: one sentence computed from the numbers of the highlighted row.

/**
 * @param {Context} context
 * @param {HTMLElement} line
 * @param {(page: import("../store/store.js").Page) => boolean} speaks  whether the caption
 *   describes the row
 * @param {() => boolean} announces  whether the pinned cell is announced here, not by the view itself
 * @returns {() => void}  unsubscribes
 */
export function bindCaption(context, line, speaks, announces) {
  const { store } = context;
  const show = () => {
    const page = store.get();
    const sentence = speaks(page) && rowCaption(context, page, store.hovered());
    if (sentence) render(line, sentence);
  };
  const unsubscribes = [
    store.subscribe(({ link, trace, model, runs }) => [link, trace, model, runs], show),
    store.subscribe(({ link }) => link, ({ link }) => link.query !== null && announces() && announce(context)),
    store.watch(show),
  ];
  return () => unsubscribes.forEach((end) => end());
}

/**
 * Announce the pinned cell to screen readers. Hovered cells are not announced.
 * @param {Context} context
 */
function announce({ store, t, announce }) {
  const page = store.get();
  const read = heatmapOf(page);
  const cell = read && pairIn(page, null, read);
  if (!read || !cell) return;
  const { matrix, rows, cols, sinks, sunk } = read;
  const value = matrix.values[cell.row * matrix.cols + cell.col];
  const names = { query: plainStep(rows.steps[cell.row]), key: plainStep(cols.steps[cell.col]), weight: Number.isNaN(value) ? t("masked") : rounded(value, matrix.error) };
  announce(
    sunk
      ? t("query {query}, key {key}: {weight}; attention sink: {sink}", { ...names, sink: four(sinks[cell.row]) })
      : t("query {query}, key {key}: {weight}", names),
  );
}

/**
 * The keys of a figure: those pressed inside it and, for the page's main figure, those pressed
 * outside any figure. While a dialog is open, there are none.
 */

const FIGURE = "[data-figure]";

/** @typedef {ReturnType<typeof createKeys>} Keys */

/**
 * @param {HTMLElement} root  of the figure
 * @param {boolean} main
 */
export function createKeys(root, main) {
  const { ownerDocument } = root;
  root.dataset.figure = main ? "main" : "";

  /** @param {EventTarget | null} target */
  function meant(target) {
    const view = ownerDocument.defaultView;
    if (!view || !(target instanceof view.Element)) return false;
    const figure = target.closest(FIGURE);
    return (figure ? figure === root : main) && !ownerDocument.querySelector("dialog[open]");
  }

  return {
    /**
     * @param {(event: KeyboardEvent) => void} listener
     * @param {{first?: boolean}} [options]  first: before the element in which the key is pressed
     * @returns {() => void}  removes the listener
     */
    listen(listener, { first = false } = {}) {
      const hear = (/** @type {KeyboardEvent} */ event) => {
        if (!event.isComposing && meant(event.target)) listener(event);
      };
      ownerDocument.addEventListener("keydown", hear, { capture: first });
      return () => ownerDocument.removeEventListener("keydown", hear, { capture: first });
    },
    release: () => void delete root.dataset.figure,
  };
}

// The available space of a figure, measured only when its element or its contents change.

/** @typedef {ReturnType<typeof createRoom>} RoomOf */

/**
 * In pixels: the width from which parts are side by side, and the smallest and largest height of a
 * figure.
 */
const [WIDE, MIN_HEIGHT, MAX_HEIGHT] = [600, 300, 620];

/** @type {Measure}  As wide as the element, and so high that it is seen at once. */
const measureElement = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  return { width, height: Math.min(Math.max(width * 0.7, MIN_HEIGHT), MAX_HEIGHT), wide: width >= WIDE };
};

/**
 * Measuring forces a layout, so it is done once per change.
 * @param {HTMLElement} element
 * @param {Measure} [measure]
 */
export function createRoom(element, measure = measureElement) {
  let now = measure(element);
  /** The size used for the last drawing. */
  let used = now;
  let tell = () => {};

  function redraw() {
    used = now;
    tell();
  }

  function onResize() {
    const { width } = now;
    now = measure(element);
    if (now.width !== width) redraw();
  }

  /**
   * Something above has moved the figure. On phones the window's height changes while scrolling, so
   * only the width counts.
   */
  function moved() {
    now = measure(element);
    if (now.width !== used.width || (now.wide && now.height !== used.height)) redraw();
  }

  const observer = new ResizeObserver(onResize);
  observer.observe(element);
  const again = () => void (used = now = measure(element));
  return {
    now: () => now,
    moved,
    again,
    /** @param {() => void} listener @returns {() => void}  stops it */
    onWidth(listener) {
      tell = listener;
      return () => void (tell = () => {});
    },
    stop: () => observer.disconnect(),
  };
}
