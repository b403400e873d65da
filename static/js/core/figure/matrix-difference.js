/** The three pictures A, B and B − A, on the same axes, highlighted together. */

import { el, h, render } from "../../lib/dom.js";
import { four, plus, rounded, two } from "../../lib/numbers.js";
import { COVER } from "../compute/aggregate-attention.js";
import { reach } from "../compute/token-diff.js";
import { abreast } from "../draw/export-picture.js";
import { fitGeometry } from "../draw/matrix-geometry.js";
import { clippedSteps, textRuler } from "../draw/matrix-labels.js";
import { diverging, sequential } from "../draw/colour-scales.js";
import { file } from "../draw/svg.js";
import { quoted, step } from "../draw/token.js";
import { otherPlace, otherSentence, axisIndexOf } from "../store/comparison.js";
import { highlightOf } from "../store/highlight.js";
import { isOff } from "../store/interventions.js";
import { blockAt, texts } from "../wire/model-description.js";
import { plainStep } from "../wire/tokens.js";
import { legend } from "./figure-frame.js";
import { createMatrix } from "./matrix.js";

/** @import { Change } from "../compute/token-diff.js" */
/** @import { Comparison } from "../store/comparison.js" */
/** @import { Context } from "./types.js" */
/** @import { Place } from "../draw/matrix-geometry.js" */
/** @import { Step } from "../wire/tokens.js" */

/** @typedef {"a" | "b" | "delta"} PanelId */

const PANEL_IDS = /** @type {PanelId[]} */ (["a", "b", "delta"]);
/** Distance between two pictures. */
const GAP = 28;
/** The height of a row if there are many, and the largest height of such a picture. */
const [THIN, MAX_HEIGHT] = [9, 720];
/** The smallest limit of the colour scale, so that small changes do not look large. */
export const FAINT = 0.1;
/** Number of changes whose tokens always keep their labels. */
const NAMED = 4;
/** The smallest width of pictures side by side. */
const LEAST = 300;

/**
 * Names of the pictures.
 * @typedef {object} Names
 * @property {(panelId: PanelId) => string} describe
 * @property {(panelId: PanelId) => {rows: string, cols: string}} titles  of the axes
 * @property {(panelId: PanelId, limit: number) => string} heading  of an exported picture
 */

/** @param {Context} context @param {ReturnType<typeof pointing>} points @param {Names} [names] */
export function panels(context, points, names = compared(context)) {
  const { t } = context;
  const all = PANEL_IDS.map((panelId) => {
    const title = h("h3", {});
    const matrix = createMatrix(context, { ...points, label: labels(t)[panelId] });
    const key = legend(context);
    const element = h("section", { className: `trio-${panelId}` }, title, matrix.element, key.element);
    return { panelId, title, matrix, key, element };
  });
  let limit = FAINT;
  const element = h("div", { className: "trio" }, ...all.map((panel) => panel.element));

  return {
    element,

    /** @param {Comparison} comparison @returns {number}  where B begins, if the pictures are in a row */
    draw(comparison) {
      const theme = context.theme();
      limit = Math.max(reach(comparison.delta.matrix), FAINT);
      const strongest = comparison.changes.slice(0, NAMED);
      const [across, room] = layout(context, comparison.rows.pairs.length);
      // Three pictures in a row share the labels of their rows if these are the same in all.
      const shared = across === 3 && PANEL_IDS.every((panelId) => names.titles(panelId).rows === names.titles("a").rows);
      const rows = shared ? comparison.rows.steps.map((step) => ({ ...step, short: step.reads !== null })) : comparison.rows.steps;
      const gutter = shared ? namesOf(clippedSteps(rows, textRuler(theme), room.width), theme) : 0;
      const first = room.width + Math.floor((2 * gutter) / 3);
      element.dataset.across = String(across);
      element.style.gridTemplateColumns = shared ? `${first}px repeat(2, minmax(0, 1fr))` : `repeat(${across}, minmax(0, 1fr))`;
      for (const { panelId, title, matrix, key } of all) {
        const signed = panelId === "delta";
        /** @type {import("../draw/matrix-canvas.js").Shade} */
        const shade = signed
          ? { stops: diverging(theme), range: [-limit, limit] }
          : { stops: sequential(theme), range: [0, 1] };
        render(title, el("b", {}, { a: "A", b: "B", delta: "Δ" }[panelId]), ` ${names.describe(panelId)}`);
        key.show({ shade, covers: new Set(comparison[panelId].cover) });
        matrix.draw({
          ...comparison[panelId],
          shade,
          rows,
          cols: comparison.cols.steps,
          titles: names.titles(panelId),
          changed: { rows: changed(comparison.rows, strongest.map(({ row }) => row)), cols: changed(comparison.cols, strongest.map(({ col }) => col)) },
          ...room,
          width: panelId === "a" ? first : first - gutter,
          bare: shared && panelId !== "a",
        });
      }
      element.toggleAttribute("data-long", false);
      element.toggleAttribute("data-long", all.some(({ title }) => title.scrollWidth > title.clientWidth));
      return first + GAP;
    },

    /** @param {import("../draw/matrix-geometry.js").Place} place */
    mark: (place) => all.forEach(({ matrix }) => matrix.mark(place)),

    destroy: () => all.forEach(({ matrix }) => matrix.destroy()),

    /** The pictures side by side, each below its title. */
    picture() {
      const theme = context.theme();
      const parts = all.map(({ panelId, matrix }) => ({ svg: matrix.drawing(), title: names.heading(panelId, limit) }));
      return { svg: file(abreast(parts, theme), theme) };
    },
  };
}

/**
 * Width of the labels of rows, with their title.
 * @param {Comparison["rows"]["steps"]} steps
 * @param {import("../page/page-context.js").Theme} theme
 */
const namesOf = (steps, theme) => fitGeometry({ rowWidths: texts(steps).map(textRuler(theme)), colWidths: [], width: 0, height: 0, size: theme.size }).left;

/**
 * Labels to show first: tokens that only one of the two has, then the largest changes.
 * @param {Comparison["rows"]} axis
 * @param {number[]} largestChanges
 */
const changed = ({ pairs }, largestChanges) => [...pairs.flatMap(({ a, b }, i) => (a === null || b === null ? [i] : [])), ...largestChanges];

/** @param {Context} context @returns {Names}  those of what the link compares */
const compared = (context) => ({
  describe: (panelId) => describe(context, panelId),
  titles: (panelId) => titles(context, panelId),
  heading: (panelId, limit) => heading(context, panelId, limit),
});

/** @param {Context["t"]} t @returns {Record<PanelId, string>} */
const labels = (t) => ({
  a: t("Attention weights of A. Arrow keys move the cell, Escape unpins."),
  b: t("Attention weights of B. Arrow keys move the cell, Escape unpins."),
  delta: t("B minus A. Arrow keys move the cell, Escape unpins."),
});

/**
 * If the other direction is transposed, its rows are keys.
 * @param {Context} context
 * @param {PanelId} panelId
 */
function titles({ store, t }, panelId) {
  const [query, key] = [t("query (looks)"), t("key (looked at)")];
  const { other: comparedWith } = store.get().link.options;
  if (comparedWith !== "direction" || panelId === "a") return { rows: query, cols: key };
  if (panelId === "b") return { rows: key, cols: query };
  return { rows: t("A's queries, B's keys"), cols: t("A's keys, B's queries") };
}

/** @param {Context} context @param {PanelId} panelId */
function describe({ store, t }, panelId) {
  const page = store.get();
  const { link, trace } = page;
  const { other: by } = link.options;
  if (panelId === "delta") return t("B minus A");
  const place = panelId === "a" ? link : otherPlace(page);
  if (by === "head") return t("head {n}", { n: place.head + 1 });
  if (by === "layer") return t("layer {n}", { n: place.layer + 1 });
  if (by === "sentence") return panelId === "a" ? t("the sentence above") : t("with the word changed");
  const zh = { a: trace?.direction === "en-zh", b: trace?.direction !== "en-zh" }[panelId];
  const name = zh ? t("English → Chinese") : t("Chinese → English");
  return panelId === "a" ? name : t("{direction}, transposed", { direction: name });
}

/**
 * The heading of an exported picture: it must say which sentence B is, and the range of Δ.
 * @param {Context} context
 * @param {PanelId} panelId
 * @param {number} limit
 */
function heading(context, panelId, limit) {
  const page = context.store.get();
  if (panelId === "delta") return `Δ = B − A, ±${two(limit)}`;
  if (page.link.options.other !== "sentence") return `${panelId.toUpperCase()} ${describe(context, panelId)}`;
  const sentence = panelId === "a" ? page.link.source : otherSentence(page);
  return `${panelId.toUpperCase()} ${sentence.trim()}`;
}

/**
 * @param {Context} context
 * @param {number} rows  the largest number of a picture
 * @param {number} [count]  of pictures
 * @returns {[number, {width: number, height: number, stretch: number, largest: number}]}  pictures
 *   per row, and the size of each
 */
export function layout(context, rows, count = 3) {
  const { width, height } = context.room();
  const { size } = context.theme();
  const across = Math.max(1, Math.min(count, Math.floor((width + GAP) / (LEAST + GAP))));
  const panelWidth = Math.floor((width - GAP * (across - 1)) / across);
  const shared = { width: panelWidth, stretch: 2.6 };
  // In projector mode everything fits on the screen as long as the rows are legible.
  if (context.store.get().link.options.projector)
    return [across, { ...shared, height: Math.max((1.1 * rows + 7) * size, height - 9 * size), largest: 4 * size }];
  const visibleHeight = Math.min(Math.max(height - 190, 340), panelWidth * 1.1);
  const read = Math.min(rows * THIN + 150, MAX_HEIGHT);
  return [across, { ...shared, height: Math.max(visibleHeight, read), largest: 52 }];
}

// Highlight one cell in all three pictures: the hovered one, else the pinned one, else the largest
// change. The link pins tokens of the page's own run; cells that only B has can be hovered but not
// pinned.

/** @typedef {{row: number, col: number}} Cell */

/**
 * @param {Context} context
 * @param {() => Comparison | null} currentComparison  what is shown
 * @param {() => void} light  called when the highlight changes
 */
export function pointing(context, currentComparison, light) {
  const { store } = context;
  /** @type {Place | null} */
  let over = null;

  /** @returns {Place} */
  function marked() {
    const comparison = currentComparison();
    if (!comparison) return { row: null, col: null };
    if (over) return over;
    const highlight = highlightOf(store.get(), store.hovered());
    const [first] = comparison.changes;
    if (highlight.by === "default" && first) return { row: first.row, col: first.col };
    return { row: axisIndexOf(comparison.rows, highlight.query), col: axisIndexOf(comparison.cols, highlight.key) };
  }

  /** @param {Place | null} place */
  function onHover(place) {
    const comparison = currentComparison();
    over = place;
    store.hover(place && comparison && refs(context, comparison, place));
    light();
  }

  /** @param {Place} place @param {"click" | "key" | "list"} trigger */
  function onPick(place, trigger) {
    const comparison = currentComparison();
    if (!comparison) return;
    const row = place.row ?? marked().row;
    const { col } = place;
    over = null;
    const { query, key } = tokens(comparison, { row, col });
    const { link } = store.get();
    if (query === null || (key === null && col !== null)) over = { row, col };
    else if (trigger === "click" && link.query === query && link.key === key) {
      store.go({ query: null, key: null });
      return light();
    } else store.go({ query, key }, trigger === "key" ? "moved" : "pinned");
    light();
    if (row === null || col === null) return;
    const names = { query: plainStep(comparison.rows.steps[row]), key: plainStep(comparison.cols.steps[col]) };
    context.announce(context.t("query {query}, key {key}: {weight}", { ...names, weight: cellNumbers(context, comparison, { row, col }).join(", ") }));
  }

  // A cell that only B has is not pinned by the link, which Escape clears.
  const stop = context.keys.listen(({ key }) => {
    if (key !== "Escape" || !over) return;
    over = null;
    light();
    context.announce(context.t("Unpinned."));
  });

  return {
    marked,
    stop,
    onHover,
    onPick,
    /** Forget the hovered cell, because the drawing has changed. */
    forget: () => (over = null),
    picked: () => ({ row: marked().row ?? 0, col: marked().col ?? 0 }),
    /** @param {Cell} cell */
    tip(cell) {
      const comparison = currentComparison();
      if (!comparison) return [];
      return [
        el("span", { className: "as-query" }, step(comparison.rows.steps[cell.row])),
        " ",
        el("span", { className: "as-key" }, step(comparison.cols.steps[cell.col])),
        ...cellNumbers(context, comparison, cell).map((words) => el("b", {}, words)),
      ];
    },
  };
}

/** @param {Comparison} comparison @param {Place} place  A's tokens; null where it has none. */
function tokens({ rows, cols }, { row, col }) {
  return {
    query: row === null ? null : rows.pairs[row].a,
    key: col === null ? null : cols.pairs[col].a,
  };
}

/**
 * @param {Context} context
 * @param {Comparison} comparison
 * @param {Place} place
 * @returns {import("../store/store.js").Highlight}
 */
function refs({ store }, comparison, place) {
  const sides = blockAt(store.get());
  const { query, key } = tokens(comparison, place);
  return {
    query: query === null ? null : { side: sides.query, index: query },
    key: key === null ? null : { side: sides.key, index: key },
  };
}

/**
 * A, B and B − A of a cell, in words.
 * @param {Context} context
 * @param {Comparison} comparison
 * @param {Cell} cell
 */
function cellNumbers({ t }, { a, b, delta, cols }, { row, col }) {
  const index = row * cols.pairs.length + col;
  /** @param {import("../compute/token-diff.js").Covered} of @param {string} sign  of what is above zero */
  const number = ({ matrix, cover }, sign = "") => {
    if (cover[index] === COVER.masked) return t("masked");
    if (cover[index] !== COVER.open) return "—";
    return rounded(matrix.values[index], matrix.error, (value) => (value > 0 ? sign : "") + four(value));
  };
  return [`A ${number(a)}`, `B ${number(b)}`, `Δ ${number(delta, "+")}`];
}

// The largest changes, in words and numbers.

/** @param {Context} context @param {Comparison} comparison @returns {import("../../lib/dom.js").Child[]} */
export function headline({ store, t, phrase }, { rows, cols, changes, a, b }) {
  const { other: by } = store.get().link.options;
  const [first] = changes;
  if (!first && by === "sentence" && isOff(store.get())) return [t("Nothing changes: this head is off in A and in B.")];
  if (!first && [...rows.pairs, ...cols.pairs].some(({ a, b }) => a === null || b === null))
    return [t("No weight changes between the tokens that A and B share.")];
  if (!first)
    return [by === "sentence" ? t("Nothing changes: A and B are the same. Change a word in B.") : t("Nothing changes: A and B are the same.")];
  const writes = blockAt(store.get()).writes && by !== "direction";
  const values = {
    query: el("span", { className: "as-query" }, quoted(rows.steps[first.row].writes)),
    key: el("span", { className: "as-key" }, quoted(cols.steps[first.col].writes)),
    a: rounded(first.a, a.matrix.error, two),
    b: rounded(first.b, b.matrix.error, two),
  };
  if (by === "direction")
    return phrase(t("Largest difference: between {query} and {key} the weight is {a} in A, {b} in B."), values);
  return writes
    ? phrase(t("Largest change: while writing {query} the weight on {key} is {a} in A, {b} in B."), values)
    : phrase(t("Largest change: the weight of {query} on {key} is {a} in A, {b} in B."), values);
}

/** @param {Context} context @param {(change: Change) => void} choose */
export function changeList({ t }, choose) {
  const list = h("ol", {});
  const element = h("section", { className: "changes" }, h("h3", {}, t("Largest changes")), list);
  return {
    element,
    /** @param {{rows: {steps: Step[]}, cols: {steps: Step[]}, changes: Change[]} & Partial<Pick<Comparison, "a" | "b" | "delta">>} comparison */
    draw({ rows, cols, changes, a, b, delta }) {
      element.hidden = !changes.length;
      render(
        list,
        changes.map((change) =>
          el(
            "li",
            {},
            el(
              "button",
              { type: "button", className: "change", onclick: () => choose(change) },
              el(
                "span",
                { className: "cell-name" },
                el("span", { className: "as-query" }, step({ ...rows.steps[change.row], reads: null })),
                " ",
                el("span", { className: "as-key" }, step(cols.steps[change.col])),
              ),
              el("span", { className: "numbers" }, `${rounded(change.a, a?.matrix.error)} → ${rounded(change.b, b?.matrix.error)}`),
              el("b", { className: change.change > 0 ? "more" : "less" }, rounded(change.change, delta?.matrix.error, (value) => plus(value, four))),
            ),
          ),
        ),
      );
    },
  };
}
