/** Two models' maps side by side, each with its own tokens, and B − A where tokens are equal. */

import { COVER } from "../core/compute/aggregate-attention.js";
import { reach } from "../core/compute/token-diff.js";
import { diverging, sequential } from "../core/draw/colour-scales.js";
import { abreast } from "../core/draw/export-picture.js";
import { file } from "../core/draw/svg.js";
import { step } from "../core/draw/token.js";
import { FAINT, layout } from "../core/figure/matrix-difference.js";
import { legend } from "../core/figure/figure-frame.js";
import { createMatrix } from "../core/figure/matrix.js";
import { highlightOf } from "../core/store/highlight.js";
import { modelLabel, placeName } from "../core/store/model-part-names.js";
import { blockAt } from "../core/wire/model-description.js";
import { plainStep } from "../core/wire/tokens.js";
import { el, h, render } from "../lib/dom.js";
import { four, two } from "../lib/numbers.js";
import { counterpart, modelB, placeB } from "./model-comparison.js";

/** @import { Axis, Models, Stretch } from "./model-comparison.js" */
/** @import { Change } from "../core/compute/token-diff.js" */
/** @import { Context } from "../core/figure/types.js" */
/** @import { Place } from "../core/draw/matrix-geometry.js" */

// Highlight the same characters in both models' maps: those of the hovered cell, else of the pinned
// one, else of a first row. The link pins tokens of A. A token of B is pinned as the token of A that
// covers its first character.

/** @typedef {"a" | "b" | "delta"} PanelId */
/** @typedef {Record<PanelId, Place>} Marked */

const NOWHERE = { row: null, col: null };

/**
 * @param {Context} context
 * @param {() => Models | null} currentComparison  what is shown
 * @param {() => void} light  called when the highlight changes
 */
export function pointing(context, currentComparison, light) {
  const { store, t } = context;
  /** @type {{panelId: PanelId, place: Place} | null} */
  let over = null;

  /** @returns {Marked} */
  function marked() {
    const comparison = currentComparison();
    if (!comparison) return { a: NOWHERE, b: NOWHERE, delta: NOWHERE };
    if (over) return everywhere(comparison, over.panelId, over.place);
    const { query, key } = highlightOf(store.get(), store.hovered());
    return everywhere(comparison, "a", { row: query, col: key });
  }

  /** @param {PanelId} panelId @param {Place | null} place */
  function onHover(panelId, place) {
    over = place && { panelId, place };
    const comparison = currentComparison();
    const placeInA = place && comparison && everywhere(comparison, panelId, place).a;
    const sides = blockAt(store.get());
    store.hover(placeInA && { query: ref(sides.query, placeInA.row), key: ref(sides.key, placeInA.col) });
    light();
  }

  /** @param {PanelId} panelId @param {Place} place @param {"click" | "key" | "list"} trigger */
  function onPick(panelId, place, trigger) {
    const comparison = currentComparison();
    if (!comparison) return;
    const cell = { row: place.row ?? marked()[panelId].row, col: place.col };
    const { row: query, col: key } = everywhere(comparison, panelId, cell).a;
    const { link } = store.get();
    const again = trigger === "click" && query !== null && link.query === query && link.key === key;
    // A token of B may have no partner in A, or share it with its neighbours.
    over = panelId === "b" && !again ? { panelId, place: cell } : null;
    if (again) store.go({ query: null, key: null });
    else if (query !== null && (key !== null || cell.col === null)) store.go({ query, key }, trigger === "key" ? "moved" : "pinned");
    light();
    const { row, col } = cell;
    if (again || row === null || col === null) return;
    const [rows, cols] = axesOf(comparison, panelId);
    const names = { query: plainStep(rows.steps[row]), key: plainStep(cols.steps[col]) };
    context.announce(t("query {query}, key {key}: {weight}", { ...names, weight: cellNumbers(context, comparison, panelId, { row, col }).join(", ") }));
  }

  const stop = context.keys.listen(({ key }) => {
    if (key !== "Escape" || !over) return;
    const pinned = store.get().link.query !== null;
    over = null;
    light();
    if (!pinned) context.announce(t("Unpinned."));
  });

  return {
    marked,
    stop,
    /** Forget the hovered cell, because the drawing has changed. */
    forget: () => (over = null),
    /** @param {Change} change  of the list */
    pick: (change) => onPick("delta", change, "list"),
    /** The pointing of one picture. @param {PanelId} panelId */
    of: (panelId) => ({
      /** @param {Place | null} place */
      onHover: (place) => onHover(panelId, place),
      /** @param {Place} place @param {"click" | "key"} trigger */
      onPick: (place, trigger) => onPick(panelId, place, trigger),
      picked: () => ({ row: marked()[panelId].row ?? 0, col: marked()[panelId].col ?? 0 }),
      /** @param {{row: number, col: number}} cell */
      tip(cell) {
        const comparison = currentComparison();
        if (!comparison) return [];
        const [rows, cols] = axesOf(comparison, panelId);
        return [
          el("span", { className: "as-query" }, step(rows.steps[cell.row])),
          " ",
          el("span", { className: "as-key" }, step(cols.steps[cell.col])),
          ...cellNumbers(context, comparison, panelId, cell).map((words) => el("b", {}, words)),
        ];
      },
    }),
  };
}

/** @param {string} side @param {number | null} index @returns {import("../core/store/store.js").Ref | null} */
const ref = (side, index) => (index === null ? null : { side, index });

/**
 * The axes of a picture: Δ has the equal tokens, as A names them.
 * @param {Models} comparison
 * @param {PanelId} panelId
 * @returns {[Pick<Axis, "steps">, Pick<Axis, "steps">]}
 */
export function axesOf({ a, b, rows, cols }, panelId) {
  if (panelId !== "delta") return panelId === "a" ? [a.rows, a.cols] : [b.rows, b.cols];
  return [{ steps: rows.map(({ a: index }) => a.rows.steps[index]) }, { steps: cols.map(({ a: index }) => a.cols.steps[index]) }];
}

/**
 * A place of one picture in all three.
 * @param {Models} comparison
 * @param {PanelId} panelId
 * @param {Place} place
 * @returns {Marked}
 */
export function everywhere({ a, b, rows, cols }, panelId, place) {
  const row = along(a.rows, b.rows, rows, panelId, place.row);
  const col = along(a.cols, b.cols, cols, panelId, place.col);
  const placeIn = (/** @type {PanelId} */ panelId) => ({ row: row[panelId]?.first ?? null, col: col[panelId]?.first ?? null, tall: count(row[panelId]), wide: count(col[panelId]) });
  return { a: placeIn("a"), b: placeIn("b"), delta: placeIn("delta") };
}

/** @param {Stretch | null} stretch */
const count = (stretch) => (stretch ? stretch.last - stretch.first + 1 : 1);

/**
 * @param {Axis} a
 * @param {Axis} b
 * @param {Models["rows"]} equal
 * @param {PanelId} panelId
 * @param {number | null} tokenIndex
 * @returns {Record<PanelId, Stretch | null>}
 */
function along(a, b, equal, panelId, tokenIndex) {
  if (tokenIndex === null) return { a: null, b: null, delta: null };
  const single = (/** @type {number | undefined} */ index) => (index === undefined || index < 0 ? null : { first: index, last: index });
  if (panelId === "delta") return { a: single(equal[tokenIndex]?.a), b: single(equal[tokenIndex]?.b), delta: single(tokenIndex) };
  const delta = single(equal.findIndex((pair) => pair[panelId] === tokenIndex));
  return panelId === "a" ? { a: single(tokenIndex), b: counterpart(a, tokenIndex, b), delta } : { a: counterpart(b, tokenIndex, a), b: single(tokenIndex), delta };
}

/**
 * The numbers of a cell: A, B and B − A where the tokens are equal, else its own.
 * @param {Context} context
 * @param {Models} comparison
 * @param {PanelId} panelId
 * @param {{row: number, col: number}} cell
 */
function cellNumbers({ t }, comparison, panelId, cell) {
  const { a, b, delta } = everywhere(comparison, panelId, cell);
  /** @param {import("../core/wire/safetensors.js").Matrix} matrix @param {Place} place @param {string} [sign]  of what is above zero */
  const number = (matrix, { row, col }, sign = "") => {
    const value = matrix.values[(row ?? 0) * matrix.cols + (col ?? 0)];
    return Number.isNaN(value) ? t("masked") : (value > 0 ? sign : "") + four(value);
  };
  const ownNumbers = { a: [`A ${number(comparison.a.matrix, a)}`], b: [`B ${number(comparison.b.matrix, b)}`], delta: [] };
  if (!comparison.delta || delta.row === null || delta.col === null) return ownNumbers[panelId];
  const why = comparison.delta.cover[delta.row * comparison.cols.length + delta.col];
  return [...ownNumbers.a, ...ownNumbers.b, `Δ ${why === COVER.open ? number(comparison.delta.matrix, delta, "+") : t("masked")}`];
}

const PANEL_IDS = /** @type {PanelId[]} */ (["a", "b", "delta"]);

/** @param {Context} context @param {ReturnType<typeof pointing>} points */
export function panels(context, points) {
  const { t, theme } = context;
  const labels = {
    a: t("Attention weights of A. Arrow keys move the cell, Escape unpins."),
    b: t("Attention weights of B. Arrow keys move the cell, Escape unpins."),
    delta: t("B minus A. Arrow keys move the cell, Escape unpins."),
  };
  const all = PANEL_IDS.map((panelId) => {
    const title = h("h3", {});
    const matrix = createMatrix(context, { ...points.of(panelId), label: labels[panelId] });
    const key = legend(context);
    return { panelId, title, matrix, key, element: h("section", { className: `trio-${panelId}` }, title, matrix.element, key.element) };
  });
  const element = h("div", { className: "trio" }, ...all.map((panel) => panel.element));
  let limit = FAINT;
  /** @type {Models | null} */
  let drawn = null;
  const visible = () => all.filter(({ panelId }) => panelId !== "delta" || drawn?.delta);

  return {
    element,

    /** @param {Models} comparison */
    draw(comparison) {
      drawn = comparison;
      limit = Math.max(comparison.delta ? reach(comparison.delta.matrix) : 0, FAINT);
      const sizes = [comparison.a, comparison.b].flatMap(({ rows, cols }) => [rows.steps.length, cols.steps.length]);
      const [across, room] = layout(context, Math.max(...sizes), comparison.delta && fits(context, Math.max(...sizes)) ? 3 : 2);
      element.dataset.across = String(across);
      element.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
      for (const { panelId, element: section } of all) section.hidden = panelId === "delta" && !comparison.delta;
      for (const { panelId, title, matrix, key } of visible()) {
        /** @type {import("../core/draw/matrix-canvas.js").Shade} */
        const shade = panelId === "delta" ? { stops: diverging(theme()), range: [-limit, limit] } : { stops: sequential(theme()), range: [0, 1] };
        const [rows, cols] = axesOf(comparison, panelId);
        const numbers = panelId === "delta" && comparison.delta ? comparison.delta : { matrix: comparison[panelId === "b" ? "b" : "a"].matrix };
        const headingText = heading(context, panelId, limit);
        render(title, el("b", {}, { a: "A", b: "B", delta: "Δ" }[panelId]), ` ${headingText}`);
        title.title = headingText;
        key.show({ shade, covers: new Set("cover" in numbers ? numbers.cover : numbers.matrix.values.some(Number.isNaN) ? [1] : []) });
        matrix.draw({ ...numbers, shade, rows: rows.steps, cols: cols.steps, titles: { rows: t("query (looks)"), cols: t("key (looked at)") }, ...room });
      }
    },

    /** @param {Marked} marked */
    mark: (marked) => all.forEach(({ panelId, matrix }) => matrix.mark(marked[panelId])),

    destroy: () => all.forEach(({ matrix }) => matrix.destroy()),

    /** The pictures side by side, each below its title. */
    picture() {
      const parts = visible().map(({ panelId, matrix }) => ({ svg: matrix.drawing(), title: `${{ a: "A ", b: "B ", delta: "Δ = " }[panelId]}${heading(context, panelId, limit)}` }));
      return { svg: file(abreast(parts, theme()), theme()) };
    },
  };
}

/** The width of a cell and of what is beside the cells, below which B − A goes below the maps. */
const ROOM = { cell: 14, beside: 120 };

/** Whether three pictures fit side by side. @param {Context} context @param {number} cells  in a row */
const fits = (context, cells) => context.room().width / 3 >= ROOM.beside + ROOM.cell * cells;

/**
 * The model, and the place in it; of Δ, the limit of its scale.
 * @param {Context} context
 * @param {PanelId} panelId
 * @param {number} limit
 */
function heading({ store, t }, panelId, limit) {
  const page = store.get();
  if (panelId === "delta") return `B − A, ±${two(limit)}`;
  const [model, place] = panelId === "a" ? [page.model, page.link] : [modelB(page), placeB(page)];
  if (!model || !place) return "";
  return t("{place}, head {n} · {model}", { model: modelLabel(t, model), place: placeName(place.block, place.layer, t), n: place.head + 1 });
}
