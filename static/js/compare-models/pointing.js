/**
 * Highlight the same characters in both models' maps: those of the hovered cell, else of the pinned
 * one, else of a first row. The link pins tokens of A. A token of B is pinned as the token of A that
 * covers its first character.
 */

import { blockAt } from "../core/wire/attentions.js";
import { COVER } from "../core/compute/aggregate-attention.js";
import { plainStep } from "../core/wire/tokens.js";
import { four } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { step } from "../core/draw/token.js";
import { lit } from "../core/store/highlight.js";
import { counterpart } from "./model-comparison.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Models, Axis } from "./model-comparison.js" */
/** @import { Place } from "../core/draw/geometry.js" */
/** @import { Change } from "../core/compute/token-diff.js" */
/** @import { Stretch } from "./span-alignment.js" */
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
