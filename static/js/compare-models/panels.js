/** Two models' maps side by side, each with its own tokens, and B − A where tokens are equal. */

import { COVER } from "../core/compute/aggregate-attention.js";
import { reach } from "../core/compute/token-diff.js";
import { diverging, sequential } from "../core/draw/scale.js";
import { abreast } from "../core/draw/export-picture.js";
import { file } from "../core/draw/svg.js";
import { step } from "../core/draw/token.js";
import { FAINT, layout } from "../core/figure/comparison.js";
import { legend } from "../core/figure/figure-frame.js";
import { createMatrix } from "../core/figure/matrix.js";
import { lit } from "../core/store/highlight.js";
import { called, placeName } from "../core/store/model-part-names.js";
import { blockAt } from "../core/wire/attentions.js";
import { plainStep } from "../core/wire/tokens.js";
import { h } from "../lib/dom.js";
import { four, two } from "../lib/numbers.js";
import { el, render } from "../lib/render.js";
import { counterpart, modelB, placeB } from "./model-comparison.js";

/** @import { Axis, Models, Stretch } from "./model-comparison.js" */
/** @import { Change } from "../core/compute/token-diff.js" */
/** @import { Context } from "../core/figure/types.js" */
/** @import { Place } from "../core/draw/geometry.js" */

// Highlight the same characters in both models' maps: those of the hovered cell, else of the pinned
// one, else of a first row. The link pins tokens of A. A token of B is pinned as the token of A that
// covers its first character.

/** @typedef {"a" | "b" | "delta"} Which */
/** @typedef {Record<Which, Place>} Marked */

const NOWHERE = { row: null, col: null };

/**
 * @param {Context} context
 * @param {() => Models | null} found  what is shown
 * @param {() => void} light  called when the highlight changes
 */
export function pointing(context, found, light) {
  const { store, t } = context;
  /** @type {{which: Which, place: Place} | null} */
  let over = null;

  /** @returns {Marked} */
  function marked() {
    const shown = found();
    if (!shown) return { a: NOWHERE, b: NOWHERE, delta: NOWHERE };
    if (over) return everywhere(shown, over.which, over.place);
    const { query, key } = lit(store.get(), store.hovered());
    return everywhere(shown, "a", { row: query, col: key });
  }

  /** @param {Which} which @param {Place | null} place */
  function onHover(which, place) {
    over = place && { which, place };
    const shown = found();
    const at = place && shown && everywhere(shown, which, place).a;
    const sides = blockAt(store.get());
    store.hover(at && { query: ref(sides.query, at.row), key: ref(sides.key, at.col) });
    light();
  }

  /** @param {Which} which @param {Place} place @param {"click" | "key" | "list"} how */
  function onPick(which, place, how) {
    const shown = found();
    if (!shown) return;
    const cell = { row: place.row ?? marked()[which].row, col: place.col };
    const { row: query, col: key } = everywhere(shown, which, cell).a;
    const { link } = store.get();
    const again = how === "click" && query !== null && link.query === query && link.key === key;
    // A token of B may have no partner in A, or share it with its neighbours.
    over = which === "b" && !again ? { which, place: cell } : null;
    if (again) store.go({ query: null, key: null });
    else if (query !== null && (key !== null || cell.col === null)) store.go({ query, key }, how === "key" ? "moved" : "pinned");
    light();
    const { row, col } = cell;
    if (again || row === null || col === null) return;
    const [rows, cols] = axesOf(shown, which);
    const names = { query: plainStep(rows.steps[row]), key: plainStep(cols.steps[col]) };
    context.announce(t("query {query}, key {key}: {weight}", { ...names, weight: said(context, shown, which, { row, col }).join(", ") }));
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
    /** The pointing of one picture. @param {Which} which */
    of: (which) => ({
      /** @param {Place | null} place */
      onHover: (place) => onHover(which, place),
      /** @param {Place} place @param {"click" | "key"} how */
      onPick: (place, how) => onPick(which, place, how),
      picked: () => ({ row: marked()[which].row ?? 0, col: marked()[which].col ?? 0 }),
      /** @param {{row: number, col: number}} cell */
      tip(cell) {
        const shown = found();
        if (!shown) return [];
        const [rows, cols] = axesOf(shown, which);
        return [
          el("span", { className: "as-query" }, step(rows.steps[cell.row])),
          " ",
          el("span", { className: "as-key" }, step(cols.steps[cell.col])),
          ...said(context, shown, which, cell).map((words) => el("b", {}, words)),
        ];
      },
    }),
  };
}

/** @param {string} side @param {number | null} index @returns {import("../core/store/store.js").Ref | null} */
const ref = (side, index) => (index === null ? null : { side, index });

/**
 * The axes of a picture: Δ has the equal tokens, as A names them.
 * @param {Models} shown
 * @param {Which} which
 * @returns {[Pick<Axis, "steps">, Pick<Axis, "steps">]}
 */
export function axesOf({ a, b, rows, cols }, which) {
  if (which !== "delta") return which === "a" ? [a.rows, a.cols] : [b.rows, b.cols];
  return [{ steps: rows.map(({ a: at }) => a.rows.steps[at]) }, { steps: cols.map(({ a: at }) => a.cols.steps[at]) }];
}

/**
 * A place of one picture in all three.
 * @param {Models} shown
 * @param {Which} which
 * @param {Place} place
 * @returns {Marked}
 */
export function everywhere({ a, b, rows, cols }, which, place) {
  const row = along(a.rows, b.rows, rows, which, place.row);
  const col = along(a.cols, b.cols, cols, which, place.col);
  const at = (/** @type {Which} */ one) => ({ row: row[one]?.first ?? null, col: col[one]?.first ?? null, tall: count(row[one]), wide: count(col[one]) });
  return { a: at("a"), b: at("b"), delta: at("delta") };
}

/** @param {Stretch | null} stretch */
const count = (stretch) => (stretch ? stretch.last - stretch.first + 1 : 1);

/**
 * @param {Axis} a
 * @param {Axis} b
 * @param {Models["rows"]} equal
 * @param {Which} which
 * @param {number | null} at
 * @returns {Record<Which, Stretch | null>}
 */
function along(a, b, equal, which, at) {
  if (at === null) return { a: null, b: null, delta: null };
  const one = (/** @type {number | undefined} */ index) => (index === undefined || index < 0 ? null : { first: index, last: index });
  if (which === "delta") return { a: one(equal[at]?.a), b: one(equal[at]?.b), delta: one(at) };
  const delta = one(equal.findIndex((pair) => pair[which] === at));
  return which === "a" ? { a: one(at), b: counterpart(a, at, b), delta } : { a: counterpart(b, at, a), b: one(at), delta };
}

/**
 * The numbers of a cell: A, B and B − A where the tokens are equal, else its own.
 * @param {Context} context
 * @param {Models} shown
 * @param {Which} which
 * @param {{row: number, col: number}} cell
 */
function said({ t }, shown, which, cell) {
  const { a, b, delta } = everywhere(shown, which, cell);
  /** @param {import("../core/wire/wire.js").Matrix} matrix @param {Place} at @param {string} [sign]  of what is above zero */
  const number = (matrix, { row, col }, sign = "") => {
    const value = matrix.values[(row ?? 0) * matrix.cols + (col ?? 0)];
    return Number.isNaN(value) ? t("masked") : (value > 0 ? sign : "") + four(value);
  };
  const own = { a: [`A ${number(shown.a.matrix, a)}`], b: [`B ${number(shown.b.matrix, b)}`], delta: [] };
  if (!shown.delta || delta.row === null || delta.col === null) return own[which];
  const why = shown.delta.cover[delta.row * shown.cols.length + delta.col];
  return [...own.a, ...own.b, `Δ ${why === COVER.open ? number(shown.delta.matrix, delta, "+") : t("masked")}`];
}

const WHICH = /** @type {Which[]} */ (["a", "b", "delta"]);

/** @param {Context} context @param {ReturnType<typeof pointing>} points */
export function panels(context, points) {
  const { t, theme } = context;
  const labels = {
    a: t("Attention weights of A. Arrow keys move the cell, Escape unpins."),
    b: t("Attention weights of B. Arrow keys move the cell, Escape unpins."),
    delta: t("B minus A. Arrow keys move the cell, Escape unpins."),
  };
  const all = WHICH.map((which) => {
    const title = h("h3", {});
    const matrix = createMatrix(context, { ...points.of(which), label: labels[which] });
    const key = legend(context);
    return { which, title, matrix, key, element: h("section", { className: `trio-${which}` }, title, matrix.element, key.element) };
  });
  const element = h("div", { className: "trio" }, ...all.map((one) => one.element));
  let most = FAINT;
  /** @type {Models | null} */
  let drawn = null;
  const visible = () => all.filter(({ which }) => which !== "delta" || drawn?.delta);

  return {
    element,

    /** @param {Models} shown */
    draw(shown) {
      drawn = shown;
      most = Math.max(shown.delta ? reach(shown.delta.matrix) : 0, FAINT);
      const sizes = [shown.a, shown.b].flatMap(({ rows, cols }) => [rows.steps.length, cols.steps.length]);
      const [across, room] = layout(context, Math.max(...sizes), shown.delta && fits(context, Math.max(...sizes)) ? 3 : 2);
      element.dataset.across = String(across);
      element.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
      for (const { which, element: section } of all) section.hidden = which === "delta" && !shown.delta;
      for (const { which, title, matrix, key } of visible()) {
        /** @type {import("../core/draw/paint.js").Shade} */
        const shade = which === "delta" ? { stops: diverging(theme()), range: [-most, most] } : { stops: sequential(theme()), range: [0, 1] };
        const [rows, cols] = axesOf(shown, which);
        const numbers = which === "delta" && shown.delta ? shown.delta : { matrix: shown[which === "b" ? "b" : "a"].matrix };
        const says = heading(context, which, most);
        render(title, el("b", {}, { a: "A", b: "B", delta: "Δ" }[which]), ` ${says}`);
        title.title = says;
        key.show({ shade, covers: new Set("cover" in numbers ? numbers.cover : numbers.matrix.values.some(Number.isNaN) ? [1] : []) });
        matrix.draw({ ...numbers, shade, rows: rows.steps, cols: cols.steps, titles: { rows: t("query (looks)"), cols: t("key (looked at)") }, ...room });
      }
    },

    /** @param {Marked} marked */
    mark: (marked) => all.forEach(({ which, matrix }) => matrix.mark(marked[which])),

    destroy: () => all.forEach(({ matrix }) => matrix.destroy()),

    /** The pictures side by side, each below its title. */
    picture() {
      const parts = visible().map(({ which, matrix }) => ({ svg: matrix.drawing(), title: `${{ a: "A ", b: "B ", delta: "Δ = " }[which]}${heading(context, which, most)}` }));
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
 * @param {Which} which
 * @param {number} most
 */
function heading({ store, t }, which, most) {
  const page = store.get();
  if (which === "delta") return `B − A, ±${two(most)}`;
  const [model, at] = which === "a" ? [page.model, page.link] : [modelB(page), placeB(page)];
  if (!model || !at) return "";
  return t("{place}, head {n} · {model}", { model: called(t, model), place: placeName(at.block, at.layer, t), n: at.head + 1 });
}
